// The verb `check`: everything that can be found wrong in a model directory without running the model, and with -o a
// copy in which everything that needs no decision is corrected, written by the code of `convert`.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "checkpoint/calibration.h"
#include "checkpoint/folder_kind.h"
#include "checkpoint/manifest.h"
#include "checkpoint/tensor_table.h"
#include "cli/findings.h"
#include "cli/model_conversion.h"
#include "cli/statistics.h"
#include "cli/verbs.h"
#include "config/config_keys.h"
#include "config/config_writer.h"
#include "config/extraction_config.h"
#include "config/labels.h"
#include "config/model_config.h"
#include "deberta/checkpoint.h"
#include "deberta/config.h"
#include "deberta/error.h"
#include "deberta/library.h"
#include "deberta/tokenizer.h"
#include "heads/forms.h"
#include "heads/head_facts.h"
#include "hub/module_list.h"
#include "pipeline/entity_model.h"
#include "pipeline/sentence_modules.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/note.h"
#include "program/progress_printer.h"

namespace deberta::cli {
namespace {

std::string counted(size_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

void check_manifest(const std::string& path, const CheckVerb& options, Findings& findings) {
  constexpr uint64_t kMegabyte = 1000000;
  if (!is_regular_file(fmt::format("{}/{}", path, kManifestName))) return;
  program::ProgressPrinter progress(options.progress, true, {.items = "MB", .tokens = ""});
  uint64_t done = 0;
  const ManifestReport report = verify_manifest(path, [&](uint64_t bytes) {
    program::check_interrupted();
    progress.update((done += bytes) / kMegabyte, 0, std::nullopt);
  });
  progress.clear();
  for (const Problem& problem : report.errors) findings.add(Severity::kError, Fix::kNo, problem);
  for (const Problem& problem : report.warnings) findings.add(Severity::kWarning, Fix::kNo, problem);
}

// Keys whose absence means one thing to the original and another to transformers.
struct AmbiguousKey {
  using Condition = bool (*)(const ModelConfig&, const HeadFacts&);
  std::string_view name, alias;
  Condition matters;
  std::string_view meaning;
};
constexpr AmbiguousKey kAmbiguousKeys[] = {
    {"model_type", "", [](const ModelConfig&, const HeadFacts&) { return true; },
     "other programs need it to know the version"},
    {"pos_att_type", "", [](const ModelConfig&, const HeadFacts&) { return true; },
     "the original uses c2p, transformers uses no terms"},
    {"pooler_hidden_act", "pooling.hidden_act",
     [](const ModelConfig& c, const HeadFacts& head) {
       return head.is_per_sequence() && c.hidden_act != Activation::kGelu;
     },
     "the original uses hidden_act, transformers uses gelu"},
    {"architectures", "", [](const ModelConfig&, const HeadFacts&) { return true; },
     "transformers uses it to find the head"},
};

void check_keys(const std::string& path, const ModelConfig& config, const HeadFacts& head, Findings& findings) {
  if (config.extraction) return;  // only transformers reads its encoder_config
  const Json raw = raw_document(config);
  for (const AmbiguousKey& key : kAmbiguousKeys) {
    const auto is_missing = [&](std::string_view name) { return find_config_value(raw, name) == nullptr; };
    if (is_missing(key.name) && (key.alias.empty() || is_missing(key.alias)) && key.matters(config, head))
      findings.warning(path + "/config.json", fmt::format("{}: missing: {}", key.name, key.meaning), Fix::kYes);
  }
  for (const std::string& message : parse_labels(raw).warnings)
    findings.warning(path + "/config.json", message, Fix::kYes);
  std::vector<std::string> labels = config.labels;
  std::sort(labels.begin(), labels.end());
  if (const auto at = std::adjacent_find(labels.begin(), labels.end()); at != labels.end())
    findings.warning(path + "/config.json", fmt::format("id2label: two labels are called {}", *at));
}

std::string config_path(const std::string& path, const ModelConfig& config) {
  return fmt::format("{}/{}", path, config_file_of(config));
}

// Without buckets, the relative-position table determines max_relative_positions.
void check_relative_positions(const std::string& path, const Checkpoint& checkpoint, ModelConfig& config,
                              Findings& findings) {
  const TensorView* table = checkpoint.find("encoder.rel_embeddings.weight");
  if (table == nullptr || !config.relative_attention || config.position_buckets > 0) return;
  if (table->shape.size() != 2 || table->shape[0] < 2 || table->shape[0] % 2 != 0) return;
  const int64_t rows = table->shape[0] / 2;
  if (rows == config.max_relative_positions) return;
  findings.error(config_path(path, config),
                 fmt::format("max_relative_positions: expected {}, half the rows of {}, got {}", rows, table->name,
                             config.max_relative_positions),
                 Fix::kYes);
  config.max_relative_positions = rows;
  ConfigDocument document(config);
  document.set("max_relative_positions", rows);
  config.raw = document.json().dump(0, JsonForm::kPython);
}

void check_form(const Checkpoint& checkpoint, Findings& findings) {
  for (const std::string& path : checkpoint.paths()) {
    if (path.ends_with(".bin"))
      findings.warning(path, "a pickle, which other programs execute when they read it; safetensors is plain data",
                       Fix::kYes);
  }
  const std::string buffer = "embeddings.position_ids";
  if (checkpoint.find(buffer) != nullptr)
    findings.warning(checkpoint.paths().front(),
                     fmt::format("tensor {}: an unused buffer", checkpoint.stored_name(buffer)), Fix::kYes);
}

// `config` is corrected where only the tensors show the right value.
void check_tensors(const std::string& path, std::optional<ModelConfig>& config, const CheckVerb& options,
                   Findings& findings) {
  const Checkpoint checkpoint = Checkpoint::open(path, program::open_options(options.model));
  check_form(checkpoint, findings);
  if (config) {
    const HeadFacts& head = facts_of(config->extraction ? entity_head(*config->extraction) : detect_head(checkpoint));
    config->layout = find_layout(*config, checkpoint);
    check_keys(path, *config, head, findings);
    check_relative_positions(path, checkpoint, *config, findings);
    const TensorReport report = compare_tensors(checkpoint, *config, head, path);
    for (const Problem& problem : report.errors) findings.add(Severity::kError, Fix::kNo, problem);
    for (const Problem& problem : report.warnings) findings.add(Severity::kWarning, Fix::kYes, problem);
    for (const Problem& problem : report.unread) findings.add(Severity::kWarning, Fix::kNo, problem);
  }
  for (const TensorView& tensor : checkpoint.tensors()) {
    program::check_interrupted();
    const Statistics s = statistics_of(tensor);
    if (s.not_finite > 0)
      findings.error(path + ": " + tensor.name, fmt::format("{} values are NaN or infinite", s.not_finite));
  }
}

void check_tokenizer(const std::string& path, const Tokenizer& tokenizer, const std::optional<ModelConfig>& config,
                     Findings& findings) {
  if (!config) return;
  if (tokenizer.size() > static_cast<size_t>(config->vocab_size)) {
    findings.error(path,
                   fmt::format("the tokenizer has {} tokens, more than vocab_size {}; texts with the extra tokens fail",
                               tokenizer.size(), config->vocab_size));
  }
  if (tokenizer.special().pad != config->pad_token_id) {
    findings.warning(config_path(path, *config), fmt::format("pad_token_id: expected {} as in the tokenizer, got {}",
                                                             tokenizer.special().pad, config->pad_token_id));
  }
  if (!config->extraction && tokenizer.special().mask < 0) findings.warning(path, "the tokenizer has no mask token");
}

void check_calibration(const std::string& path, std::optional<ModelConfig> config, const CheckVerb& options) {
  if (!config || !is_regular_file(fmt::format("{}/{}", path, kCalibrationName))) return;
  const Checkpoint checkpoint = Checkpoint::open(path, program::open_options(options.model));
  read_calibration(calibration_path(checkpoint), checkpoint, *config);
}

// For sentence-transformers: modules.json and the files that it names.
void check_modules(const std::string& root, const std::optional<ModelConfig>& config, const CheckVerb& options,
                   Findings& findings) {
  if (!config) return;
  const SentenceModules modules =
      load_sentence_modules(root, config->hidden_size, program::open_options(options.model));
  if (!modules.refusal.empty())
    findings.warning(root + "/modules.json",
                     "embed cannot pool as this file says: " + modules.refusal + "; choose another way with --pooling");
}

// Checks the files of the model. A GLiNER model's configuration is read with its tokenizer, which says where its marks
// are: a mistake in either is told once.
void check_model(const std::string& path, std::optional<ModelConfig>& config, const CheckVerb& options,
                 Findings& findings) {
  std::optional<Tokenizer> tokenizer;
  const bool is_extractor = is_extraction_folder(path);
  findings.run([&] {
    if (!is_extractor) {
      config = load_model_config(path + "/config.json");
      return;
    }
    FolderParts parts = open_folder_parts(path);
    config = std::move(parts.config);
    tokenizer.emplace(std::move(parts.tokenizer));
  });
  findings.run([&] { check_tensors(path, config, options, findings); });
  if (!is_extractor) findings.run([&] { tokenizer.emplace(Tokenizer::load(path)); });
  if (tokenizer) findings.run([&] { check_tokenizer(path, *tokenizer, config, findings); });
}

// Runs all checks and returns the corrected configuration; nullopt when there is none to correct.
std::optional<ModelConfig> find_all(const std::string& path, const CheckVerb& options, Findings& findings) {
  // On labels and attention terms the check says more than the parser's warnings.
  set_warning_sink(
      [](void* to, std::string_view message) {
        for (const std::string_view known : {"label2id", "id2label", "pos_att_type is missing"})
          if (message.find(known) != std::string_view::npos) return;
        const size_t colon = std::min(message.find(": "), message.size());  // a warning begins with the file
        const size_t rest = std::min(colon + 2, message.size());
        static_cast<Findings*>(to)->warning(std::string(message.substr(0, colon)), std::string(message.substr(rest)));
      },
      &findings);
  std::optional<ModelConfig> config;
  findings.run([&] { check_folder_kind(path, FolderUse::kWeights); });
  if (findings.errors() > 0) {  // mistakes in the files of another kind of folder do not matter
    set_warning_sink(nullptr);
    return std::nullopt;
  }
  findings.run([&] { check_folder_kind(path, FolderUse::kTokenizer); });
  findings.run([&] { check_manifest(path, options, findings); });
  check_model(path, config, options, findings);
  findings.run([&] { check_calibration(path, config, options); });
  findings.run([&] { check_modules(program::model_root(options.model.name), config, options, findings); });
  set_warning_sink(nullptr);
  return config;
}

int fix(const std::string& path, const std::optional<ModelConfig>& config, const CheckVerb& options,
        const Findings& findings) {
  const std::string& target = options.output_dir;
  if (findings.lasting_errors() > 0 || !config) {
    program::note(fmt::format("{}: not written; {} a decision", target,
                              counted(findings.lasting_errors(), "error needs", "errors need")));
    return 1;
  }
  convert_model({.source = path,
                 .target = target,
                 .config = config,
                 .adapter = {},
                 .form = {},
                 .open = program::open_options(options.model),
                 .progress = options.progress});
  return options.strict && findings.lasting_warnings() > 0 ? 1 : 0;
}

}  // namespace

int run(const CheckVerb& options) {
  const std::string path = transformer_folder(program::model_root(options.model.name));
  if (!options.output_dir.empty()) check_target(options.output_dir, path);
  Findings findings;
  const std::optional<ModelConfig> config = find_all(path, options, findings);
  program::print_table(options.output, {"severity", "where", "message", "fix"}, findings.answers());
  program::note(
      fmt::format("{}: {}, {}; -o NEW_FOLDER repairs {} of them", path, counted(findings.errors(), "error", "errors"),
                  counted(findings.warnings(), "warning", "warnings"),
                  findings.errors() + findings.warnings() - findings.lasting_errors() - findings.lasting_warnings()));
  if (!options.output_dir.empty()) return fix(path, config, options, findings);
  return findings.errors() > 0 || (options.strict && findings.warnings() > 0) ? 1 : 0;
}

}  // namespace deberta::cli

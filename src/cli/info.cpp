// The verb `info`: the program, the processor, the kernels and, with -m, what a model is; or the sizes of models.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "cli/calibration.h"
#include "cli/sizes.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "deberta/find_model.h"
#include "deberta/library.h"
#include "heads/head_facts.h"
#include "hub/model_card.h"
#include "kernels/choice.h"
#include "measure/kernel_facts.h"
#include "pipeline/entity_model.h"
#include "program/answers.h"
#include "program/model_options.h"

namespace deberta::cli {
namespace {

// Facts in order, printed as two columns or one JSON object.
class Facts {
 public:
  void add(const std::string& name, Json value) { object_.emplace_back(name, std::move(value)); }
  std::vector<program::Answer> answers() const {
    program::Answer answer{object_, {}};
    for (const auto& [name, value] : object_) {
      if (is_table(value)) {
        for (const Json& row : value.as_array()) answer.lines.push_back({name, describe_row(row)});
      } else {
        answer.lines.push_back({name, value.is_string() ? value.as_string() : value.dump()});
      }
    }
    return {answer};
  }

 private:
  // A list of objects: one line each.
  static bool is_table(const Json& value) {
    return value.is_array() && !value.as_array().empty() && value.as_array().front().is_object();
  }
  static std::string describe_row(const Json& row) {
    std::string text;
    for (const auto& [key, value] : row.as_object()) {
      text += (text.empty() ? "" : "  ") + (value.is_string() ? value.as_string() : value.dump());
    }
    return text;
  }

  JsonObject object_;
};

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

void add_kernels(const InfoVerb& options, Facts& facts) {
  JsonArray levels;
  for (const KernelLevel level : available_levels()) levels.push_back(to_string(level));
  facts.add("kernels_available", std::move(levels));
  facts.add("kernels_chosen", measure::chosen_kernels(options.kernels));
  const KernelSet set = select_kernels(options.kernels);
  const auto gains = [&](Precision precision) { return gains_speed(set.levels, automatic_choice().peaks, precision); };
  facts.add("faster_than_fp32", JsonObject{{"bf16", gains(Precision::kBf16)}, {"int8", gains(Precision::kInt8)}});
  facts.add("multipliers", measure::multipliers(compare_multipliers(usable_levels())));
}

std::string calibration_of(const Checkpoint& checkpoint, const ModelConfig& config) {
  if (!has_calibration(checkpoint)) return "none";
  try {
    return describe(read_calibration(calibration_path(checkpoint), checkpoint, config));
  } catch (const Error& error) {
    return std::string("refused: ") + error.what();
  }
}

// What -m can name besides directories.
void add_models_found(Facts& facts) {
  JsonArray models;
  for (const FoundModel& model : list_models(find_places(current_environment())))
    models.push_back(JsonObject{{"name", model.name}, {"path", model.path}});
  facts.add("models_found", std::move(models));
}

// What stands on the encoder of a GLiNER model.
void add_extraction(const ExtractionConfig& extraction, Facts& facts) {
  facts.add("span_mode", to_string(extraction.span_mode));
  if (extraction.has_spans()) facts.add("max_width", extraction.max_width);
  facts.add("max_len", extraction.max_len);
  facts.add("subtoken_pooling", to_string(extraction.subtoken_pooling));
  facts.add("num_rnn_layers", extraction.num_rnn_layers);
}

void add_model(const std::string& path, const InfoVerb& options, Facts& facts) {
  const auto [config, tokenizer] = open_folder_parts(path);
  const Checkpoint checkpoint = Checkpoint::open(path, program::open_options(options.model));
  const Model model = Model::load(checkpoint, config, {.kernels = options.kernels});
  uint64_t parameters = 0;
  for (const TensorView& tensor : checkpoint.tensors()) parameters += tensor.count();
  facts.add("model", path);
  const ModelCard card = read_model_card(path);
  if (!card.license.empty()) facts.add("license", card.license);
  if (!card.terms.empty()) facts.add("terms", card.terms);
  if (!card.limits.empty()) facts.add("limits", card.limits);
  facts.add("model_type", to_string(config.layout));
  facts.add("head", to_string(model.head()));
  const HeadFacts& head = facts_of(model.head());
  if (config.classifier_pooling != ClassifierPooling::kFirst && head.is_per_sequence())
    facts.add("classifier_pooling", to_string(config.classifier_pooling));
  if (head.predicts_words()) facts.add("mask_decoder", model.has_mask_decoder());
  if (config.extraction) add_extraction(*config.extraction, facts);
  facts.add("layers", config.num_hidden_layers);
  facts.add("hidden_size", config.hidden_size);
  facts.add("heads", config.num_attention_heads);
  facts.add("intermediate_size", config.intermediate_size);
  facts.add("vocab_size", config.vocab_size);
  facts.add("tokenizer_size", static_cast<uint64_t>(tokenizer.size()));
  facts.add("max_position_embeddings", config.max_position_embeddings);
  facts.add("position_buckets", config.position_buckets);
  facts.add("parameters", parameters);
  facts.add("file_bytes", checkpoint.size_bytes());
  facts.add("packed_bytes", model.memory_bytes());
  if (model.labels() > 0 && !config.extraction) facts.add("labels", model.labels());
  if (!config.labels.empty()) {
    JsonArray labels(config.labels.begin(), config.labels.end());
    facts.add("label_names", std::move(labels));
  }
  facts.add("calibration", calibration_of(checkpoint, model.config()));
  if (config.problem_type != ProblemType::kUnset) facts.add("problem_type", to_string(config.problem_type));
}

}  // namespace

int run(const InfoVerb& options) {
  if (!options.sizes.empty()) {
    print_sizes(options);
    return 0;
  }
  if (options.length.is_given()) throw Error(ErrorCode::kUsage, "--length", "expected --sizes as well");
  Facts facts;
  facts.add("version", version());
  facts.add("compiler", compiler());
  facts.add("processor", measure::describe_processor());
  facts.add("processors", static_cast<uint64_t>(usable_processors()));
  add_kernels(options, facts);
  add_models_found(facts);
  if (!options.model.name.empty()) add_model(program::weights_path(options.model.name), options, facts);
  program::print_table(options.output, {"name", "value"}, facts.answers());
  return 0;
}

}  // namespace deberta::cli

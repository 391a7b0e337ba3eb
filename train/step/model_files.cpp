// Converts the weights to the layout of their config.json, and plans weights, configuration and tokenizer files.
#include "train/step/model_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/descriptor.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/sha256.h"
#include "checkpoint/conversion.h"
#include "checkpoint/model_writer.h"
#include "config/config_writer.h"
#include "config/extraction_config.h"
#include "deberta/checkpoint.h"
#include "deberta/error.h"
#include "deberta/tokenizer.h"
#include "pipeline/entity_model.h"
#include "text/hf_json/json_fields.h"
#include "text/tokenizer_settings.h"
#include "train/model/parameters.h"
#include "train/model/trained_computation.h"
#include "train/report/reports.h"

namespace deberta::train {
namespace {

constexpr const char* kWhere = "the model in training";

// Under the names that files have: the encoder's begin with "deberta.".
Checkpoint to_checkpoint(Model& model, const std::vector<TensorView>& more = {}) {
  std::vector<TensorView> views = to_views(model);
  views.insert(views.end(), more.begin(), more.end());
  for (TensorView& view : views) {
    if (view.name.starts_with("embeddings.") || view.name.starts_with("encoder.")) view.name = "deberta." + view.name;
  }
  return Checkpoint::from_memory(views, kWhere);
}

// In training the projections are apart, as in the second layout.
ModelConfig config_in_memory(const Model& model) {
  ModelConfig config = model.form.config;
  config.layout = Layout::kV2;
  return config;
}

Conversion plan(Model& model, const Checkpoint& checkpoint) {
  return plan_conversion(checkpoint, config_in_memory(model),
                         {.dtype = std::nullopt, .layout = model.form.config.layout}, kWhere);
}

constexpr const char* kTokenizerSettings = "tokenizer_config.json";

// tokenizer_config.json, the folder's own or that of the rules, with the length of training; nothing where it need not
// change.
std::optional<std::string> settings_with_length(const std::string& tokenizer_folder, const ModelFilesRules& rules) {
  constexpr size_t kUsual = EncodeOptions{}.max_tokens;
  const std::optional<size_t> tokens = rules.trained_tokens;
  if (!tokens || *tokens > kMostStatedTokens) return std::nullopt;
  if (*tokens <= read_text_limits(tokenizer_folder).length_for(kUsual).value_or(kUsual)) return std::nullopt;
  const std::string path = tokenizer_folder + "/" + kTokenizerSettings;
  const auto changed = std::ranges::find(rules.tokenizer_files, kTokenizerSettings, &NamedText::name);
  Json settings = JsonObject{};
  if (changed != rules.tokenizer_files.end())
    settings = parse_python_json(changed->text, path, kSettingsLimits, JsonWarnings::kSilent);
  else if (is_regular_file(path))
    settings = load_python_json(path, kSettingsLimits, JsonWarnings::kSilent);
  if (!settings.is_object()) return std::nullopt;  // its reader refuses it
  JsonObject& members = settings.as_object();
  const auto length = std::ranges::find(members, "model_max_length", &JsonMember::first);
  if (length == members.end())
    members.emplace_back("model_max_length", static_cast<uint64_t>(*tokens));
  else
    length->second = static_cast<uint64_t>(*tokens);
  return settings.dump(2, JsonForm::kPython) + "\n";
}

}  // namespace

Pipeline to_pipeline(Model& model, const RunTokenizer& of_run, const Workplace& workplace) {
  ModelOptions options = workplace.model_options();
  ModelConfig config = config_in_memory(model);
  Tokenizer tokenizer = of_run.load();
  EntityMarks marks;
  if (config.extraction) {  // as open_pipeline() opens its files
    marks = marks_in(tokenizer, *config.extraction, of_run.folder);
    options.distance = DistanceRule::kHf;
  }
  deberta::Model computed = is_for_training_alone(model.form)
                                ? compute_by_training(model, workplace.compute)
                                : deberta::Model::load(to_checkpoint(model), config, options);
  return {std::move(config), std::move(tokenizer), std::move(computed), {}, marks};
}

void add_model_files(ManifestWriter& files, Model& model, const std::string& tokenizer_folder,
                     const ModelFilesRules& rules) {
  const Checkpoint checkpoint = to_checkpoint(model, rules.tensors);
  ModelFilesOptions options{.subfolder = rules.subfolder, .leaves_out = report_names(), .is_new_model = true};
  std::vector<NamedText> changed = rules.tokenizer_files;
  if (auto settings = settings_with_length(tokenizer_folder, rules)) {
    std::erase_if(changed, [](const NamedText& file) { return file.name == kTokenizerSettings; });
    changed.push_back({kTokenizerSettings, std::move(*settings)});
  }
  // By this file the library finds the tokenizer of a GLiNER model.
  const bool has_settings = is_regular_file(tokenizer_folder + "/" + kTokenizerSettings) ||
                            std::ranges::find(changed, kTokenizerSettings, &NamedText::name) != changed.end();
  if (model.form.config.extraction && !has_settings)
    changed.push_back({kTokenizerSettings, "{\"tokenizer_class\": \"DebertaV2Tokenizer\"}\n"});
  for (const NamedText& file : changed) {
    files.add_text(rules.subfolder + file.name, file.text);
    options.leaves_out.push_back(file.name);
  }
  deberta::write_model_files(files, plan(model, checkpoint), tokenizer_folder, options);
}

uint64_t size_of_files(Model& model) {
  uint64_t size_bytes = 0;
  for (const TensorView& view : to_views(model)) size_bytes += view.bytes.size();
  return size_bytes;
}

void write_model_files_into(const std::string& folder, Model& model, const std::string& tokenizer_folder,
                            const ModelFilesRules& rules) {
  std::error_code problem;
  std::filesystem::create_directory(folder, problem);
  if (problem) throw Error(ErrorCode::kFileWrite, folder, problem.message());
  StagedFolder staged(folder + "/model");
  ManifestWriter files(staged);
  add_model_files(files, model, tokenizer_folder, rules);
  files.finish();
  const std::string last(config_file_of(model.form.config));
  std::vector<std::string> names;
  for (const ManifestFile& file : files.written()) {
    if (file.name != last) names.push_back(file.name);
  }
  names.emplace_back(kManifestName);
  names.push_back(last);
  for (const std::string& name : names) {
    const std::string target = folder + "/" + name;
    if (std::rename((staged.path() + "/" + name).c_str(), target.c_str()) != 0)
      throw Error(ErrorCode::kFileWrite, target, system_message());
  }
  sync_folder(folder);
}

std::string hash_of_config(const ModelConfig& config) {
  Sha256 hash;
  hash.update(to_bytes(config.raw));
  if (config.extraction) hash.update(to_bytes(config.extraction->raw));
  return hash.finish();
}

}  // namespace deberta::train

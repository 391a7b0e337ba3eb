// modules.json names Python classes; the supported ones are recognised by the last part of their names, and none is
// ever looked up.
#include "pipeline/sentence_modules.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/file_names.h"
#include "base/json.h"
#include "base/log.h"
#include "config/score_activation.h"
#include "deberta/error.h"
#include "hub/module_list.h"
#include "pipeline/sentence_layers.h"
#include "pipeline/sentence_settings.h"

namespace deberta {
namespace {

constexpr int64_t kMaxTokens = 1 << 20;

constexpr std::string_view kPackage = "sentence_transformers.";

// ---- pooling

struct PoolingRow {
  std::string_view key;   // in files before version 5
  std::string_view name;  // in pooling_mode
  Pooling pooling;
};
// The keys concatenate their vectors in this order, whatever the order in the file; pooling_mode in its own.
constexpr std::array kPoolings = {
    PoolingRow{"pooling_mode_cls_token", "cls", Pooling::kCls},
    PoolingRow{"pooling_mode_max_tokens", "max", Pooling::kMax},
    PoolingRow{"pooling_mode_mean_tokens", "mean", Pooling::kMean},
    PoolingRow{"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", Pooling::kMeanSqrt},
    PoolingRow{"pooling_mode_weightedmean_tokens", "weightedmean", Pooling::kWeightedMean},
    PoolingRow{"pooling_mode_lasttoken", "lasttoken", Pooling::kLast},
};

Pooling find_pooling(const Json& name, const SentenceSettings& settings) {
  for (const PoolingRow& row : kPoolings) {
    if (name.is_string() && name.as_string() == row.name) return row.pooling;
  }
  settings.refuse("pooling_mode", "cls, max, mean, mean_sqrt_len_tokens, weightedmean, lasttoken or a list of them");
}

std::vector<Pooling> poolings_of(const SentenceSettings& settings) {
  std::vector<Pooling> poolings;
  if (const Json* mode = settings.find("pooling_mode")) {
    if (!mode->is_array()) return {find_pooling(*mode, settings)};
    for (const Json& name : mode->as_array()) poolings.push_back(find_pooling(name, settings));
    if (poolings.empty()) settings.refuse("pooling_mode", "at least one pooling");
    return poolings;
  }
  for (const PoolingRow& row : kPoolings) {
    if (settings.is_true(row.key)) poolings.push_back(row.pooling);
  }
  if (poolings.empty()) poolings.push_back(Pooling::kMean);
  return poolings;
}

void read_pooling(const std::string& folder, int64_t columns, SentenceModules& result) {
  const SentenceSettings settings(folder + "/config.json");
  for (const char* key : {"embedding_dimension", "word_embedding_dimension"}) {
    const Json* width = settings.find(key);  // not used in any computation
    if (width != nullptr && width->whole_number().value_or(columns) != columns)
      warn(fmt::format("{}: {}: expected {}, the hidden_size, got {}", settings.path(), key, columns,
                       width->describe()));
  }
  result.poolings = poolings_of(settings);
  result.pools_prompt = settings.is_true("include_prompt", true);
}

// ---- the transformer

constexpr std::array<std::string_view, 7> kLengthFiles = {
    "sentence_bert_config.json",      "sentence_roberta_config.json", "sentence_distilbert_config.json",
    "sentence_camembert_config.json", "sentence_albert_config.json",  "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json"};

// Keys of version 6 that take the values of the tokens from elsewhere, or read the text differently.
void check_transformer(const SentenceSettings& settings, SentenceModules& result) {
  struct Row {
    std::string_view key, expected;
  };
  for (const Row& row :
       {Row{"transformer_task", "feature-extraction"}, Row{"module_output_name", "token_embeddings"}}) {
    const auto value = settings.text(row.key);
    if (value && *value != row.expected)
      refuse_module(result,
                    fmt::format("{}: {} {}: only {} is supported", settings.path(), row.key, *value, row.expected));
  }
  const Json* modality = settings.find("modality_config");
  const Json* text = modality == nullptr ? nullptr : modality->find("text");
  const Json* output = text == nullptr ? nullptr : text->find("method_output_name");
  if (output != nullptr && !(output->is_string() && output->as_string() == "last_hidden_state"))
    refuse_module(result, fmt::format("{}: method_output_name {}: only last_hidden_state is supported", settings.path(),
                                      output->describe()));
  for (const char* key : {"processing_kwargs", "query_length", "document_length", "query_expansion"}) {
    if (settings.is_true(key))
      refuse_module(result,
                    fmt::format("{}: {} changes how texts are read, which is not supported", settings.path(), key));
  }
}

// A limit beyond any text (such as 10^30) is no limit.
void read_length(const SentenceSettings& settings, SentenceModules& result) {
  const Json* value = settings.find("max_seq_length");
  if (value == nullptr) return;
  if (value->is_number() && value->as_number() > static_cast<double>(kMaxTokens)) return;
  result.max_tokens = static_cast<size_t>(settings.number("max_seq_length", 3, kMaxTokens).value_or(0));
}

void read_transformer(const std::string& folder, bool makes_vectors, SentenceModules& result) {
  for (const std::string_view name : kLengthFiles) {
    const std::string path = fmt::format("{}/{}", folder, name);
    if (!is_regular_file(path)) continue;
    const SentenceSettings settings(path);
    if (makes_vectors) check_transformer(settings, result);
    return read_length(settings, result);
  }
}

// ---- all of them

void read_module(const std::string& path, const ModuleEntry& module, int64_t hidden_size, const OpenOptions& options,
                 SentenceModules& result) {
  const std::string folder = module_folder(path, module);
  const auto columns = [&] { return static_cast<int64_t>(columns_after(result, static_cast<size_t>(hidden_size))); };
  const auto is = [&](std::string_view kind) { return module.kind == kind; };
  if (!result.refusal.empty()) return;  // what the vectors look like from here on is unknown
  if (!module.type.starts_with(kPackage)) {
    refuse_module(result, fmt::format("module {} is the model's own code, which is never run", module.type));
  } else if (is("Transformer") || is("Dropout")) {
    return;
  } else if (is("Pooling") && result.poolings.empty()) {
    read_pooling(folder, hidden_size, result);
  } else if (is("Pooling")) {
    refuse_module(result, "a second Pooling module is not supported");
  } else if (!is("Dense") && !is("Normalize") && !is("LayerNorm")) {
    refuse_module(result,
                  fmt::format("module {}: expected Transformer, Pooling, Dense, LayerNorm or Normalize", module.kind));
  } else if (result.poolings.empty()) {
    refuse_module(result, fmt::format("module {} before Pooling is not supported", module.kind));
  } else if (is("Dense")) {
    read_dense(folder, columns(), options, result);
  } else if (is("LayerNorm")) {
    read_layer_norm(folder, columns(), options, result);
  } else {
    read_normalize(folder, result);
  }
}

// config_sentence_transformers.json, if there is one.
std::optional<SentenceSettings> find_settings(const std::string& path) {
  const std::string where = path + "/config_sentence_transformers.json";
  return is_regular_file(where) ? std::optional<SentenceSettings>(where) : std::nullopt;
}

// The class of the model that the library saved; before version 5 it wrote no name.
std::string class_of(const SentenceSettings& settings) {
  return settings.text("model_type").value_or("SentenceTransformer");
}

// A model that was trained with a prompt before each text. Two names are the library's own, perhaps with no prompt.
void read_prompt(const SentenceSettings& settings, SentenceModules& result) {
  const auto name = settings.text("default_prompt_name");
  if (!name) return;
  const Json* prompts = settings.find("prompts");
  const Json* prompt = prompts == nullptr ? nullptr : prompts->find(*name);
  const bool is_own = *name == "query" || *name == "document";
  if (is_own && (prompt == nullptr || prompt->is_null())) return;
  if (prompt == nullptr || !prompt->is_string())
    settings.refuse("default_prompt_name", "the name of a text in prompts");
  result.prompt = prompt->as_string();
  if (!result.prompt.empty() && !result.pools_prompt)
    refuse_module(result, "include_prompt false: leaving the prompt out of the pooling is not supported");
}

void warn_of_similarity(const SentenceSettings& settings) {
  const auto name = settings.text("similarity_fn_name");
  if (name && *name != "cosine")
    warn(fmt::format("{}: similarity_fn_name {}: ignored, similarities are cosines", settings.path(), *name));
}

void read_settings(const SentenceSettings& settings, SentenceModules& result) {
  read_prompt(settings, result);
  warn_of_similarity(settings);
  const auto columns = settings.number("truncate_dim", 1, kMaxColumns);
  if (!columns) return;
  SentenceLayer layer;
  layer.kind = SentenceLayer::Kind::kTruncate;
  layer.outputs = static_cast<size_t>(*columns);
  result.layers.push_back(std::move(layer));
}

}  // namespace

SentenceModules load_sentence_modules(const std::string& path, int64_t hidden_size, const OpenOptions& options) {
  SentenceModules result;
  const std::vector<ModuleEntry> modules = load_module_list(path);
  const std::optional<SentenceSettings> settings = find_settings(path);
  const std::string name = settings && !modules.empty() ? class_of(*settings) : "SentenceTransformer";
  const bool makes_vectors = name != "CrossEncoder";  // a CrossEncoder's folder says nothing about vectors
  if (makes_vectors && name != "SentenceTransformer")
    refuse_module(result, fmt::format("{}: model_type {} is not supported", settings->path(), name));
  if (makes_vectors) {
    for (const ModuleEntry& module : modules) read_module(path, module, hidden_size, options, result);
  }
  read_transformer(transformer_folder(path), makes_vectors && !modules.empty(), result);
  if (settings && makes_vectors && !modules.empty()) read_settings(*settings, result);
  return result;
}

void read_cross_encoder(const std::string& path, ModelConfig& config) {
  if (load_module_list(path).empty()) return;  // the library then reads only config.json
  const std::optional<SentenceSettings> settings = find_settings(path);
  if (!settings || class_of(*settings) != "CrossEncoder") return;
  const std::optional<std::string> name = settings->text("activation_fn");
  if (!name) return;
  if (const auto activation = find_score_activation(*name)) {
    config.sentence_transformers_activation = *activation;
  } else {
    warn(
        fmt::format("{}: activation_fn {} is not a torch class; that of config.json is used", settings->path(), *name));
  }
}

}  // namespace deberta

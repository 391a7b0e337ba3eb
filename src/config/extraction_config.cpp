// The keys of the file, and those by which a model of another family is known.
#include "config/extraction_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/file.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr std::array<std::pair<std::string_view, SpanMode>, 3> kSpanModes = {
    {{"markerV0", SpanMode::kMarkerV0}, {"marker", SpanMode::kMarker}, {"token_level", SpanMode::kTokenLevel}}};
constexpr std::array<std::pair<std::string_view, SubtokenPooling>, 4> kSubtokenPoolings = {
    {{"first", SubtokenPooling::kFirst},
     {"last", SubtokenPooling::kLast},
     {"mean", SubtokenPooling::kMean},
     {"max", SubtokenPooling::kMax}}};

// A whole number of the file, and the values that the library could run with.
struct NumberKey {
  std::string_view name;
  int64_t ExtractionConfig::*field;
  int64_t low, high;
};
constexpr std::array kNumberKeys = {
    NumberKey{"hidden_size", &ExtractionConfig::hidden_size, 1, 65536},
    NumberKey{"max_width", &ExtractionConfig::max_width, 1, 4096},
    NumberKey{"max_len", &ExtractionConfig::max_len, 1, 1048576},
    NumberKey{"num_rnn_layers", &ExtractionConfig::num_rnn_layers, 0, 64},
    NumberKey{"class_token_index", &ExtractionConfig::class_token_index, -1, 16777215},
    NumberKey{"vocab_size", &ExtractionConfig::vocab_size, -1, 16777216},
};

struct TextKey {
  std::string_view name;
  std::string ExtractionConfig::*field;
};
constexpr std::array kTextKeys = {
    TextKey{"ent_token", &ExtractionConfig::ent_token},
    TextKey{"sep_token", &ExtractionConfig::sep_token},
    TextKey{"model_name", &ExtractionConfig::model_name},
};

// A key that only models of another family set.
struct ForeignKey {
  std::string_view name, what;
};
constexpr std::array kForeignKeys = {
    ForeignKey{"labels_encoder", "a bi-encoder, with a second model for the labels"},
    ForeignKey{"labels_encoder_config", "a bi-encoder, with a second model for the labels"},
    ForeignKey{"labels_decoder", "a model that writes labels with a decoder"},
    ForeignKey{"labels_decoder_config", "a model that writes labels with a decoder"},
    ForeignKey{"relations_layer", "a model that also extracts relations"},
    ForeignKey{"triples_layer", "a model that also extracts relations"},
    ForeignKey{"fuse_layers", "a model that fuses the layers of its encoder"},
    ForeignKey{"post_fusion_schema", "a model that fuses labels and words behind the encoder"},
    ForeignKey{"span_encoder_config", "a model with a second encoder before its spans"},
    ForeignKey{"precomputed_prompts_mode", "a model with the vectors of its labels in the weights"},
    ForeignKey{"id_to_classes", "a model with the vectors of its labels in the weights"},
    ForeignKey{"represent_spans", "a model that represents spans behind words"},
};
// The words of model_type that name another family: gliner_bi_encoder_span.
constexpr std::array<std::string_view, 4> kForeignTypes = {"bi_encoder", "decoder", "relex", "streaming"};

struct ExtractionParse {
  const Json& document;
  const std::string& where;
  ExtractionConfig config = {};
  std::vector<Problem> problems = {}, foreign = {};

  // What the file says; null where it leaves a key at its default.
  const Json* find(std::string_view key) const {
    const Json* value = document.find(key);
    return value != nullptr && !value->is_null() ? value : nullptr;
  }
  void refuse(std::string_view key, const std::string& expected, const Json& value) {
    problems.push_back({where, fmt::format("{}: expected {}, got {}", key, expected, value.describe())});
  }
};

void read_number(ExtractionParse& parse, const NumberKey& key) {
  const Json* value = parse.find(key.name);
  if (value == nullptr) return;
  const std::optional<int64_t> number = value->whole_number();
  if (!number || *number < key.low || *number > key.high)
    return parse.refuse(key.name, fmt::format("an integer from {} to {}", key.low, key.high), *value);
  parse.config.*key.field = *number;
}

void read_text(ExtractionParse& parse, const TextKey& key) {
  const Json* value = parse.find(key.name);
  if (value == nullptr) return;
  if (!value->is_string()) return parse.refuse(key.name, "a text", *value);
  parse.config.*key.field = value->as_string();
}

template <class Meaning, size_t kCount>
void read_word(ExtractionParse& parse, std::string_view key,
               const std::array<std::pair<std::string_view, Meaning>, kCount>& words, Meaning& meaning) {
  const Json* value = parse.find(key);
  if (value == nullptr) return;
  std::vector<std::string_view> known;
  for (const auto& [word, means] : words) {
    if (value->is_string() && value->as_string() == word) {
      meaning = means;
      return;
    }
    known.push_back(word);
  }
  parse.refuse(key, fmt::format("one of {}", fmt::join(known, ", ")), *value);
}

void read_flag(ExtractionParse& parse, std::string_view key, bool& flag) {
  const Json* value = parse.find(key);
  if (value == nullptr) return;
  if (!value->is_bool()) return parse.refuse(key, "true or false", *value);
  flag = value->as_bool();
}

// Halves of it are the two directions.
void check_directions(ExtractionParse& parse) {
  if (parse.config.num_rnn_layers == 0 || parse.config.hidden_size % 2 == 0) return;
  parse.problems.push_back({parse.where, fmt::format("hidden_size: expected an even number with num_rnn_layers {}, got "
                                                     "{}",
                                                     parse.config.num_rnn_layers, parse.config.hidden_size)});
}

void find_foreign(ExtractionParse& parse) {
  const auto refuse = [&](std::string_view key, std::string_view what) {
    parse.foreign.push_back({parse.where, fmt::format("{}: {} is not computed by this version", key, what)});
  };
  for (const ForeignKey& key : kForeignKeys) {
    const Json* value = parse.find(key.name);
    if (value != nullptr && value->is_truthy()) refuse(key.name, key.what);
  }
  const Json* type = parse.find("model_type");
  const auto names = [&](std::string_view word) { return type->as_string().find(word) != std::string::npos; };
  if (type != nullptr && type->is_string() && std::ranges::any_of(kForeignTypes, names))
    refuse("model_type", fmt::format("{}", quote_json(type->as_string())));
  const Json* splitter = parse.find("words_splitter_type");
  if (splitter != nullptr && !(splitter->is_string() && splitter->as_string() == "whitespace"))
    refuse("words_splitter_type", fmt::format("words of {}, other than whitespace,", splitter->describe()));
}

}  // namespace

std::string_view to_string(SpanMode mode) {
  return std::ranges::find(kSpanModes, mode, [](const auto& row) { return row.second; })->first;
}

std::string_view to_string(SubtokenPooling pooling) {
  return std::ranges::find(kSubtokenPoolings, pooling, [](const auto& row) { return row.second; })->first;
}

ExtractionFile parse_extraction_config(const Json& document, const std::string& where) {
  if (!document.is_object())
    throw Error(ErrorCode::kConfig, where, fmt::format("expected an object, got {}", document.describe()));
  ExtractionParse parse{.document = document, .where = where};
  find_foreign(parse);
  if (!parse.foreign.empty()) throw Error(ErrorCode::kUnsupported, std::move(parse.foreign));
  for (const NumberKey& key : kNumberKeys) read_number(parse, key);
  for (const TextKey& key : kTextKeys) read_text(parse, key);
  read_word(parse, "span_mode", kSpanModes, parse.config.span_mode);
  read_word(parse, "subtoken_pooling", kSubtokenPoolings, parse.config.subtoken_pooling);
  read_flag(parse, "embed_ent_token", parse.config.embed_ent_token);
  const Json* encoder = parse.find("encoder_config");
  if (encoder != nullptr && !encoder->is_object()) parse.refuse("encoder_config", "an object", *encoder);
  check_directions(parse);
  if (!parse.problems.empty()) throw Error(ErrorCode::kConfig, std::move(parse.problems));
  parse.config.raw = document.dump(0, JsonForm::kPython);
  return {std::move(parse.config), encoder == nullptr ? std::nullopt : std::optional(*encoder)};
}

ExtractionFile load_extraction_config(const std::string& folder) {
  const std::string path = fmt::format("{}/{}", folder, kExtractionFile);
  return parse_extraction_config(load_python_json(path), path);
}

JsonObject extraction_document(const ExtractionConfig& config) {
  JsonObject members;
  if (const Json read = raw_document(config); read.is_object()) members = read.as_object();
  const auto set = [&](std::string_view key, Json value) {
    const auto at = std::ranges::find(members, key, &JsonMember::first);
    if (at == members.end())
      members.emplace_back(std::string(key), std::move(value));
    else
      at->second = std::move(value);
  };
  for (const NumberKey& key : kNumberKeys) set(key.name, config.*key.field);
  for (const TextKey& key : kTextKeys) set(key.name, config.*key.field);
  set("span_mode", to_string(config.span_mode));
  set("subtoken_pooling", to_string(config.subtoken_pooling));
  set("embed_ent_token", config.embed_ent_token);
  return members;
}

std::string_view config_file_of(const ModelConfig& config) {
  return config.extraction ? kExtractionFile : "config.json";
}

Json raw_document(const ExtractionConfig& config) {
  return config.raw.empty() ? Json() : parse_python_json(config.raw, kExtractionFile);
}

DistanceRule distance_rule(const ModelConfig& config, DistanceRule requested) {
  return config.extraction ? DistanceRule::kHf : requested;
}

bool is_extraction_folder(const std::string& folder) {
  return is_regular_file(fmt::format("{}/{}", folder, kExtractionFile));
}

}  // namespace deberta

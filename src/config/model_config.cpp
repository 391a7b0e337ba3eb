// config.json to ModelConfig: plain keys by the table (config_keys.h), then the keys with a form of their own, the
// defaults that depend on other keys, and the rules between keys. Every problem is collected before anything is thrown.
#include "config/model_config.h"

#include <fmt/format.h>

#include <cctype>
#include <limits>
#include <optional>
#include <utility>

#include "base/log.h"
#include "config/config_keys.h"
#include "config/labels.h"
#include "deberta/error.h"

namespace deberta {
namespace {

// What all steps of one parse share.
struct Parse {
  const Json& document;  // the object that holds the model's keys
  std::string where;
  ModelConfig config;
  std::vector<Problem> problems;
  size_t unsupported = 0;  // how many of the problems are right values that this version does not compute

  void refuse(std::string_view key, const std::string& expected, const Json& got) {
    refuse(key, fmt::format("expected {}, got {}", expected, got.describe()));
  }
  void refuse(std::string_view key, const std::string& message) {
    problems.push_back({where, fmt::format("{}: {}", key, message)});
  }
  bool has(std::string_view name) const {
    const Json* value = find_config_value(document, name);
    return value != nullptr && !value->is_null();
  }
};

// Reads one name of a key. Gives the value when it was there and right.
const Json* read_name(Parse& parse, const ConfigKey& key, std::string_view name) {
  const Json* value = name.empty() ? nullptr : find_config_value(parse.document, name);
  if (value == nullptr || (value->is_null() && key.is_nullable)) return nullptr;
  if (read_config_value(key, *value, parse.config)) return value;
  parse.refuse(name, describe_expected(key), *value);
  return nullptr;
}

void read_key(Parse& parse, const ConfigKey& key) {
  const Json* under_alias = read_name(parse, key, key.alias);
  const Json* under_name = read_name(parse, key, key.name);  // last: the name wins over its alias
  if (under_name != nullptr && under_alias != nullptr && under_name->dump() != under_alias->dump()) {
    parse.refuse(key.name, fmt::format("expected the same value as {}, got {} and {}", key.alias,
                                       under_name->describe(), under_alias->describe()));
  }
}

void read_plain_keys(Parse& parse) {
  if (const Json* pooling = parse.document.find("pooling"); pooling != nullptr && !pooling->is_object()) {
    parse.refuse("pooling", "an object", *pooling);
  }
  for (const ConfigKey& key : config_keys()) read_key(parse, key);
  if (parse.document.find("vocab_size") == nullptr)
    parse.refuse("vocab_size", "expected an integer, got nothing; the key is required");
}

void read_model_type(Parse& parse) {
  const Json* value = parse.document.find("model_type");
  if (value == nullptr) return;  // an original file; fused v1 tensors are recognised by their names
  const std::string_view type = value->is_string() ? std::string_view(value->as_string()) : std::string_view();
  if (type == "deberta") {
    parse.config.layout = Layout::kV1;
  } else if (type == "deberta-v2") {
    parse.config.layout = Layout::kV2;
  } else {
    parse.refuse("model_type", "\"deberta\" or \"deberta-v2\"", *value);
  }
}

// "P2C | c2p" to its names in lower case.
std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names(1);
  for (const char c : text) {
    if (c == '|') {
      names.emplace_back();
    } else if (c != ' ') {
      names.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return names;
}

// The names of a key that is "a|b" or ["a", "b"]; nothing (and a problem) when it is neither. null: no names.
std::optional<std::vector<std::string>> read_names(Parse& parse, std::string_view key, const Json& value) {
  if (value.is_string()) return split_names(value.as_string());
  std::vector<std::string> names;
  if (value.is_null()) return names;
  if (!value.is_array()) {
    parse.refuse(key, "names joined by \"|\" or a list of names", value);
    return std::nullopt;
  }
  for (const Json& item : value.as_array()) {
    if (!item.is_string()) {
      parse.refuse(key, "a list of names", item);
      return std::nullopt;
    }
    for (std::string& name : split_names(item.as_string())) names.push_back(std::move(name));
  }
  return names;
}

void read_pos_att_type(Parse& parse) {
  const Json* value = parse.document.find("pos_att_type");
  if (value == nullptr) return;  // the original's default, c2p
  const auto names = read_names(parse, "pos_att_type", *value);
  if (!names) return;
  parse.config.has_c2p = parse.config.has_p2c = false;
  for (const std::string& name : *names) {
    if (name == "c2p") {
      parse.config.has_c2p = true;
    } else if (name == "p2c") {
      parse.config.has_p2c = true;
    } else if (name == "p2p") {
      ++parse.unsupported;
      parse.refuse("pos_att_type",
                   "p2p is not supported: the original code fails on it and no published model uses it");
    } else if (name != "none" && !name.empty()) {
      parse.refuse("pos_att_type", fmt::format("expected c2p, p2c or none, got {}", quote_json(name)));
    }
  }
}

void read_norm_rel_ebd(Parse& parse) {
  const Json* value = parse.document.find("norm_rel_ebd");
  if (value == nullptr) return;
  if (!value->is_string()) return parse.refuse("norm_rel_ebd", "\"none\" or \"layer_norm\"", *value);
  for (const std::string& name : split_names(value->as_string())) {
    if (name == "layer_norm") {
      parse.config.has_rel_layer_norm = true;
    } else if (name != "none") {
      parse.refuse("norm_rel_ebd", "\"none\" or \"layer_norm\"", *value);
    }
  }
}

// Defaults that are the value of another key.
void fill_defaults(Parse& parse) {
  ModelConfig& c = parse.config;
  if (!parse.has("attention_head_size")) c.attention_head_size = c.hidden_size / c.num_attention_heads;
  if (!parse.has("embedding_size")) c.embedding_size = c.hidden_size;
  if (c.max_relative_positions < 1 || !parse.has("max_relative_positions"))
    c.max_relative_positions = c.max_position_embeddings;
  if (!parse.has("pooler_hidden_size") && !parse.has("pooling.hidden_size")) c.pooler_hidden_size = c.hidden_size;
  if (!parse.has("cls_dropout") && !parse.has("cls_drop_out")) c.cls_dropout = c.hidden_dropout_prob;
  const bool has_pooler_act = parse.has("pooler_hidden_act") || parse.has("pooling.hidden_act");
  // The original pools with hidden_act when the file has no pooling block; a file with model_type was written for
  // transformers, which takes gelu.
  const bool is_original = !parse.has("model_type") && !parse.has("pooling");
  if (!has_pooler_act && is_original) c.pooler_hidden_act = c.hidden_act;
}

// Rules between keys; run only when each key by itself is right.
void check_together(Parse& parse) {
  const ModelConfig& c = parse.config;
  if (!parse.has("attention_head_size") && c.hidden_size % c.num_attention_heads != 0) {
    parse.refuse("hidden_size", fmt::format("expected a multiple of num_attention_heads {}, got {}",
                                            c.num_attention_heads, c.hidden_size));
  } else if (c.attention_head_size * c.num_attention_heads != c.hidden_size) {
    parse.refuse("attention_head_size", fmt::format("expected hidden_size / num_attention_heads = {} / {}, got {}",
                                                    c.hidden_size, c.num_attention_heads, c.attention_head_size));
  }
  if (c.conv_kernel_size > 0 && c.conv_kernel_size % 2 == 0) {
    parse.refuse("conv_kernel_size",
                 fmt::format("expected 0 or an odd integer to 99, got {} (integer)", c.conv_kernel_size));
  }
  if (c.hidden_size % c.conv_groups != 0) {
    parse.refuse("conv_groups",
                 fmt::format("expected a divisor of hidden_size {}, got {}", c.hidden_size, c.conv_groups));
  }
  if (c.pad_token_id >= c.vocab_size) {
    parse.refuse("pad_token_id",
                 fmt::format("expected an id below vocab_size {}, got {}", c.vocab_size, c.pad_token_id));
  }
}

void read_problem_type(Parse& parse) {
  const Json* value = parse.document.find("problem_type");
  if (value == nullptr || value->is_null()) return;
  for (const ProblemType type : {ProblemType::kRegression, ProblemType::kSingleLabel, ProblemType::kMultiLabel}) {
    if (value->is_string() && value->as_string() == to_string(type)) {
      parse.config.problem_type = type;
      return;
    }
  }
  parse.refuse("problem_type", "\"regression\", \"single_label_classification\" or \"multi_label_classification\"",
               *value);
}

void read_architectures(Parse& parse) {
  const Json* value = parse.document.find("architectures");
  if (value == nullptr || value->is_null()) return;
  if (!value->is_array()) return parse.refuse("architectures", "a list of strings", *value);
  for (const Json& item : value->as_array()) {
    if (!item.is_string()) return parse.refuse("architectures", "a list of strings", item);
    parse.config.architectures.push_back(item.as_string());
  }
}

// sentence-transformers names a Python class; only these three are known, and none is ever looked up.
void read_sentence_transformers_activation(Parse& parse) {
  const Json* value = nullptr;
  for (const std::string_view name :
       {"activation_fn", "sentence_transformers.activation_fn", "sbert_ce_default_activation_function"}) {
    if (value == nullptr) value = find_config_value(parse.document, name);
  }
  if (value == nullptr || value->is_null()) return;
  const std::string_view path = value->is_string() ? std::string_view(value->as_string()) : std::string_view();
  for (const std::string_view known :
       {"torch.nn.modules.linear.Identity", "torch.nn.modules.activation.Sigmoid", "torch.nn.modules.activation.Tanh",
        "torch.nn.Identity", "torch.nn.Sigmoid", "torch.nn.Tanh", "Identity", "Sigmoid", "Tanh"}) {
    if (path == known) {
      parse.config.sentence_transformers_activation = known.substr(known.rfind('.') + 1);
      return;
    }
  }
  warn(fmt::format("{}: activation_fn: expected Identity, Sigmoid or Tanh, got {}; the default is used", parse.where,
                   value->describe()));
}

void read_labels(Parse& parse) {
  const LabelNames names = parse_labels(parse.document);
  for (const std::string& message : names.problems) parse.problems.push_back({parse.where, message});
  for (const std::string& message : names.warnings) warn(fmt::format("{}: {}", parse.where, message));
  parse.config.labels = names.labels;
}

}  // namespace

std::string_view to_string(Layout layout) {
  return layout == Layout::kV1 ? "deberta" : "deberta-v2";
}

std::string_view to_string(ProblemType type) {
  switch (type) {
    case ProblemType::kUnset:
      return "";
    case ProblemType::kRegression:
      return "regression";
    case ProblemType::kSingleLabel:
      return "single_label_classification";
    case ProblemType::kMultiLabel:
      return "multi_label_classification";
  }
  return {};
}

ModelConfig parse_model_config(const Json& document, const std::string& where) {
  if (!document.is_object())
    throw Error(ErrorCode::kConfig, where, fmt::format("expected an object, got {}", document.describe()));
  // Configurations of replaced-token training hold two models; the one that is kept is the discriminator.
  const Json* nested = document.find("vocab_size") == nullptr ? document.find("discriminator") : nullptr;
  const bool is_nested = nested != nullptr && nested->is_object();
  Parse parse{.document = is_nested ? *nested : document,
              .where = is_nested ? where + ": discriminator" : where,
              .config = {},
              .problems = {}};
  read_plain_keys(parse);
  read_model_type(parse);
  read_pos_att_type(parse);
  read_norm_rel_ebd(parse);
  read_problem_type(parse);
  read_architectures(parse);
  read_labels(parse);
  fill_defaults(parse);
  if (parse.problems.size() == parse.unsupported) check_together(parse);
  if (!parse.problems.empty()) {
    const bool is_unsupported = parse.problems.size() == parse.unsupported;
    throw Error(is_unsupported ? ErrorCode::kUnsupported : ErrorCode::kConfig, std::move(parse.problems));
  }
  read_sentence_transformers_activation(parse);
  parse.config.raw = document.dump();
  return parse.config;
}

ModelConfig load_model_config(const std::string& path) {
  return parse_model_config(load_json(path), path);
}

Json raw_document(const ModelConfig& config) {
  if (config.raw.empty()) return {};
  JsonLimits limits;
  limits.max_bytes = std::numeric_limits<size_t>::max();  // it was a document of the usual limits before it was written
  return parse_json(config.raw, "config.json", limits);
}

}  // namespace deberta

// config.json to ModelConfig: plain keys by the table (config_keys.h), then the keys with a form of their own, the
// defaults that depend on other keys, and the rules between keys. Every problem is collected before anything is thrown.
#include "config/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/log.h"
#include "config/aggregation.h"
#include "config/config_keys.h"
#include "config/labels.h"
#include "config/score_activation.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr std::string_view kPooledEnding = "-pooled";
constexpr std::array kPoolings = {ClassifierPooling::kFirst, ClassifierPooling::kMean, ClassifierPooling::kMax,
                                  ClassifierPooling::kAttention};

// What all steps of one parse share.
struct Parse {
  const Json& document;  // the object that holds the model's keys
  std::string where;
  ConfigRules rules;
  ModelConfig config;
  std::vector<Problem> problems;

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
  bool is_hf() const { return rules == ConfigRules::kHf; }
  // DeBERTa v1 of transformers, which reads fewer keys than the original.
  bool is_hf_v1() const { return is_hf() && config.layout == Layout::kV1; }
};

struct KeyProblem {
  const ConfigKey* key;
  std::string name, message;
};

// Reads one name of a key. Returns the value if it was there and valid.
const Json* read_name(Parse& parse, const ConfigKey& key, std::string_view name, std::vector<KeyProblem>& problems) {
  const Json* value = name.empty() ? nullptr : find_config_value(parse.document, name);
  if (value == nullptr) return nullptr;
  if (read_config_value(key, *value, parse.rules, parse.config)) return value;
  const bool is_pooler = key.name == "pooler_hidden_act";
  if (is_pooler) parse.config.pooler_hidden_act = Activation::kOther;  // the tensors tell whether the model pools
  if (!is_pooler)
    problems.push_back(
        {&key, std::string(name), fmt::format("expected {}, got {}", describe_expected(key), value->describe())});
  return nullptr;
}

void read_key(Parse& parse, const ConfigKey& key, std::vector<KeyProblem>& problems) {
  const Json* under_alias = parse.is_hf() ? nullptr : read_name(parse, key, key.alias, problems);
  const Json* under_name = read_name(parse, key, key.name, problems);  // last: the name wins over its alias
  if (under_name != nullptr && under_alias != nullptr &&
      under_name->dump(0, JsonForm::kPython) != under_alias->dump(0, JsonForm::kPython)) {
    problems.push_back({&key, std::string(key.name),
                        fmt::format("expected the same value as {}, got {} and {}", key.alias, under_name->describe(),
                                    under_alias->describe())});
  }
}

// Wrong values are problems only in keys that the model reads, which is known once all of them are read.
void read_plain_keys(Parse& parse) {
  if (const Json* pooling = parse.document.find("pooling");
      !parse.is_hf() && pooling != nullptr && !pooling->is_object()) {
    parse.refuse("pooling", "an object", *pooling);
  }
  std::vector<KeyProblem> problems;
  for (const ConfigKey& key : config_keys()) read_key(parse, key, problems);
  for (const KeyProblem& problem : problems) {
    if (problem.key->is_used == nullptr || problem.key->is_used(parse.config, parse.rules))
      parse.refuse(problem.name, problem.message);
  }
  if (parse.config.vocab_size == 0 && parse.document.find("vocab_size") == nullptr)
    parse.refuse("vocab_size", "expected an integer, got nothing; the key is required");
}

// DeBERTa v1 adds it to a tensor, which takes integers of 64 bits; v2 makes it a float first.
void check_epsilon(Parse& parse) {
  const double end = parse.config.layout == Layout::kV1 ? 0x1p64 : std::numeric_limits<double>::infinity();
  const Json* value = parse.document.find("layer_norm_eps");
  if (value != nullptr && value->is_big_integer() && value->as_number() >= end)
    parse.refuse("layer_norm_eps",
                 fmt::format("expected a float, or an integer below {}, got {}", end, value->describe()));
}

void read_model_type(Parse& parse) {
  const Json* value = parse.document.find("model_type");
  if (value == nullptr || value->is_null()) return;  // an original file; fused v1 tensors are recognised by their names
  std::string_view type = value->is_string() ? std::string_view(value->as_string()) : std::string_view();
  if (type.ends_with(kPooledEnding)) type.remove_suffix(kPooledEnding.size());
  if (type == "deberta") {
    parse.config.layout = Layout::kV1;
  } else if (type == "deberta-v2") {
    parse.config.layout = Layout::kV2;
  } else {
    parse.refuse("model_type", "\"deberta\" or \"deberta-v2\"", *value);
  }
}

// What transformers assumes for missing keys, where it differs from the original. For a file without model_type it is
// unknown whose defaults are meant: the two keys that no tensor would contradict are not guessed then, nor under the
// original's rules for version 2, whose files were written for other defaults.
void set_defaults_of_the_rules(Parse& parse) {
  ModelConfig& c = parse.config;
  c.max_relative_positions = -1;  // max_position_embeddings, once that is read
  const bool has_type = parse.has("model_type");
  if (parse.is_hf() && has_type && c.layout == Layout::kV1) c.vocab_size = 50265;
  if (parse.is_hf() && has_type && c.layout == Layout::kV2) {
    c.vocab_size = 128100;
    c.hidden_size = 1536;
    c.num_hidden_layers = c.num_attention_heads = 24;
    c.intermediate_size = 6144;
  }
  const bool is_doubtful = parse.is_hf() ? !has_type : has_type && c.layout == Layout::kV2;
  if (!is_doubtful) return;
  for (const std::string_view key : {"num_hidden_layers", "num_attention_heads"}) {
    if (parse.document.find(key) == nullptr)
      parse.refuse(
          key, "expected an integer, got nothing; the original defaults to 12 and transformers to 24; write the key");
  }
}

// "P2C | c2p" to its names in lower case.
std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('|', begin), text.size());
    names.push_back(lower_case(strip(text.substr(begin, end - begin))));
    begin = end + 1;
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

void read_original_pos_att_type(Parse& parse, const Json& value) {
  const auto names = read_names(parse, "pos_att_type", value);
  if (!names) return;
  parse.config.has_c2p = parse.config.has_p2c = parse.config.has_p2p = false;
  for (const std::string& name : *names) {
    if (name == "c2p") {
      parse.config.has_c2p = true;
    } else if (name == "p2c") {
      parse.config.has_p2c = true;
    } else if (name == "p2p") {
      parse.config.has_p2p = true;
    } else if (name != "none" && !name.empty()) {
      parse.refuse("pos_att_type", fmt::format("expected c2p, p2c, p2p or none, got {}", quote_json(name)));
    }
  }
}

// transformers looks for the two names in a list (or an object) exactly as written; only a text is split, after it is
// stripped and lower-cased. DeBERTa v1 counts whatever is in it.
void read_hf_pos_att_type(Parse& parse, const Json& value) {
  std::vector<std::string> names;
  if (value.is_string()) {
    names = split_names(value.as_string());
  } else if (value.is_array()) {
    for (const Json& item : value.as_array()) names.push_back(item.is_string() ? item.as_string() : std::string());
  } else if (value.is_object()) {
    for (const JsonMember& member : value.as_object()) names.push_back(member.first);
  } else if (!value.is_null()) {
    return parse.refuse("pos_att_type", "names joined by \"|\" or a list of names", value);
  }
  const auto has = [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  parse.config.has_c2p = has("c2p");
  parse.config.has_p2c = has("p2c");
  parse.config.other_terms = static_cast<int64_t>(names.size()) - (has("c2p") ? 1 : 0) - (has("p2c") ? 1 : 0);
}

void read_pos_att_type(Parse& parse) {
  const Json* value = parse.document.find("pos_att_type");
  if (parse.is_hf()) return read_hf_pos_att_type(parse, value == nullptr ? Json() : *value);
  if (value != nullptr) return read_original_pos_att_type(parse, *value);
  // The original's default is c2p.
  if (parse.has("model_type"))
    warn(parse.where + ": pos_att_type is missing: c2p, as the original takes it; transformers takes no terms");
}

void read_norm_rel_ebd(Parse& parse) {
  const Json* value = parse.document.find("norm_rel_ebd");
  if (value == nullptr || parse.is_hf_v1()) return;
  if (!value->is_string()) return parse.refuse("norm_rel_ebd", "\"none\" or \"layer_norm\"", *value);
  for (const std::string& name : split_names(value->as_string())) {
    if (name == "layer_norm") {
      parse.config.has_rel_layer_norm = true;
    } else if (name != "none" && !parse.is_hf()) {
      parse.refuse("norm_rel_ebd", "\"none\" or \"layer_norm\"", *value);
    }
  }
}

// Keys that one version of transformers' classes does not read.
void forget_unread_keys(Parse& parse) {
  if (!parse.is_hf()) return;
  ModelConfig& c = parse.config;
  if (c.layout == Layout::kV2) c.talking_head = false;
  if (c.layout == Layout::kV2) return;
  c.position_buckets = -1;
  c.conv_kernel_size = 0;
  c.share_att_key = false;
  c.attention_head_size = c.hidden_size / c.num_attention_heads;
}

// Defaults that are taken from another key.
void fill_defaults(Parse& parse) {
  ModelConfig& c = parse.config;
  if (!parse.has("attention_head_size")) c.attention_head_size = c.hidden_size / c.num_attention_heads;
  if (!parse.has("embedding_size")) c.embedding_size = c.hidden_size;
  if (c.convolves_input && !parse.has("conv_groups")) c.conv_groups = c.hidden_size;
  if (c.max_relative_positions < 1 || !parse.has("max_relative_positions"))
    c.max_relative_positions = c.max_position_embeddings;
  if (!parse.has("pooler_hidden_size") && !parse.has("pooling.hidden_size")) c.pooler_hidden_size = c.hidden_size;
  if (!parse.has("cls_dropout") && !parse.has("cls_drop_out")) c.cls_dropout = c.hidden_dropout_prob;
  const bool has_pooler_act = parse.has("pooler_hidden_act") || parse.has("pooling.hidden_act");
  // The original pools with hidden_act when the file has no pooling block; a file with model_type was written for
  // transformers, which uses gelu.
  const bool is_original = !parse.has("model_type") && !parse.has("pooling") && !parse.is_hf();
  if (!has_pooler_act && is_original) c.pooler_hidden_act = c.hidden_act;
}

// DeBERTa v2 of transformers puts distances into buckets only if they have a bound; without one each has its own row,
// as many rows as there would be buckets. Without a layer it fails.
void follow_hf_v2_at_zero(Parse& parse) {
  ModelConfig& c = parse.config;
  if (!parse.is_hf() || c.layout != Layout::kV2) return;
  if (c.num_hidden_layers == 0)
    parse.refuse("num_hidden_layers",
                 "expected an integer from 1 to 256, got 0; version 2 of transformers fails with 0");
  if (c.max_position_embeddings != 0) return;
  const bool has_bound = !c.relative_attention || c.max_relative_positions > 0;
  if (c.position_biased_input || (!has_bound && c.position_buckets < 1))
    return parse.refuse("max_position_embeddings", "expected an integer from 1, got 0");
  c.max_position_embeddings = has_bound ? 1 : c.position_buckets;  // nothing reads it
  if (has_bound) return;
  c.max_relative_positions = c.position_buckets;
  c.position_buckets = -1;
}

// Rules between keys; run only when each key by itself is right.
void check_together(Parse& parse) {
  const ModelConfig& c = parse.config;
  const bool has_head_size = parse.has("attention_head_size") && !parse.is_hf_v1();
  if (!has_head_size && c.hidden_size % c.num_attention_heads != 0) {
    parse.refuse("hidden_size", fmt::format("expected a multiple of num_attention_heads {}, got {}",
                                            c.num_attention_heads, c.hidden_size));
  } else if (c.attention_head_size * c.num_attention_heads != c.hidden_size) {
    parse.refuse("attention_head_size", fmt::format("expected hidden_size / num_attention_heads = {} / {}, got {}",
                                                    c.hidden_size, c.num_attention_heads, c.attention_head_size));
  }
  if (c.conv_kernel_size > 0 && c.conv_kernel_size % 2 == 0) {
    parse.refuse("conv_kernel_size",
                 fmt::format("expected 0 or an odd integer up to 99, got {} (integer)", c.conv_kernel_size));
  }
  if (c.conv_kernel_size > 0 && c.hidden_size % c.conv_groups != 0) {
    parse.refuse("conv_groups",
                 fmt::format("expected a divisor of hidden_size {}, got {}", c.hidden_size, c.conv_groups));
  }
  if (c.pad_token_id >= c.vocab_size) {
    parse.refuse("pad_token_id",
                 fmt::format("expected an id below vocab_size {}, got {}", c.vocab_size, c.pad_token_id));
  }
}

void read_classifier_pooling(Parse& parse) {
  const Json* value = parse.document.find("classifier_pooling");
  const bool is_given = value != nullptr && !value->is_null();
  if (is_given) {
    const auto entry = std::ranges::find_if(kPoolings, [&](ClassifierPooling pooling) {
      return value->is_string() && value->as_string() == to_string(pooling);
    });
    if (entry == kPoolings.end())
      return parse.refuse("classifier_pooling", R"("first", "mean", "max" or "attention")", *value);
    parse.config.classifier_pooling = *entry;
  }
  const Json* type = parse.document.find("model_type");
  const bool is_named = type != nullptr && type->is_string() && type->as_string().ends_with(kPooledEnding);
  if (is_named && parse.config.classifier_pooling == ClassifierPooling::kFirst)
    parse.refuse("classifier_pooling",
                 fmt::format(R"(expected "mean", "max" or "attention" beside model_type {}, got {})",
                             quote_json(type->as_string()), is_given ? value->describe() : "nothing"));
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

// The names in a list; a text is a list of one. Other values name nothing: the tensors tell the head.
void read_architectures(Parse& parse) {
  const Json* value = parse.document.find("architectures");
  if (value == nullptr) return;
  const auto add = [&](const Json& item) {
    if (item.is_string()) parse.config.architectures.push_back(item.as_string());
  };
  if (!value->is_array()) return add(*value);
  for (const Json& item : value->as_array()) add(item);
}

// In order of precedence: the key of version 4 and later, then that of older ones.
void read_sentence_transformers_activation(Parse& parse) {
  const Json* value = nullptr;
  for (const std::string_view name :
       {"sentence_transformers.activation_fn", "sbert_ce_default_activation_function", "activation_fn"}) {
    if (value == nullptr) value = find_config_value(parse.document, name);
  }
  if (value == nullptr || value->is_null()) return;
  if (const auto activation = value->is_string() ? find_score_activation(value->as_string()) : std::nullopt) {
    parse.config.sentence_transformers_activation = *activation;
    return;
  }
  warn(fmt::format("{}: activation_fn: expected a torch class, got {}; the default is used", parse.where,
                   value->describe()));
}

// How pieces become entities: at the top, or where pipelines keep the settings of a task.
void read_aggregation(Parse& parse) {
  const Json* value = parse.document.find("aggregation_strategy");
  const Json* tasks = parse.document.find("task_specific_params");
  for (const char* task : {"token-classification", "ner"}) {
    const Json* settings = tasks != nullptr && tasks->is_object() ? tasks->find(task) : nullptr;
    if (value == nullptr && settings != nullptr && settings->is_object())
      value = settings->find("aggregation_strategy");
  }
  if (value == nullptr || value->is_null()) return;
  if (value->is_string()) parse.config.aggregation = aggregation_named(value->as_string());
  if (parse.config.aggregation) return;
  std::string known;
  for (const auto& [name, aggregation] : kAggregations) known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  warn(fmt::format("{}: aggregation_strategy: expected {}, got {}; the default is used", parse.where, known,
                   value->describe()));
}

void read_labels(Parse& parse) {
  const LabelNames names = parse_labels(parse.document);
  for (const std::string& message : names.problems) parse.problems.push_back({parse.where, message});
  for (const std::string& message : names.warnings) warn(fmt::format("{}: {}", parse.where, message));
  parse.config.labels = names.labels;
  parse.config.num_labels = names.count;
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

double ModelConfig::attention_scale() const {
  return 1 / std::sqrt(static_cast<double>(attention_head_size * attention_terms()));
}

std::string_view to_string(ClassifierPooling pooling) {
  switch (pooling) {
    case ClassifierPooling::kFirst:
      return "first";
    case ClassifierPooling::kMean:
      return "mean";
    case ClassifierPooling::kMax:
      return "max";
    case ClassifierPooling::kAttention:
      return "attention";
  }
  return {};
}

std::string model_type_of(const ModelConfig& config, bool pools) {
  const bool is_own = pools && config.classifier_pooling != ClassifierPooling::kFirst;
  return fmt::format("{}{}", to_string(config.layout), is_own ? kPooledEnding : "");
}

ModelConfig parse_model_config(const Json& document, const std::string& where, ConfigRules rules) {
  if (!document.is_object())
    throw Error(ErrorCode::kConfig, where, fmt::format("expected an object, got {}", document.describe()));
  // Configurations of replaced-token training hold two models; the one that is kept is the discriminator.
  const Json* nested = document.find("vocab_size") == nullptr ? document.find("discriminator") : nullptr;
  const bool is_nested = nested != nullptr && nested->is_object();
  Parse parse{.document = is_nested ? *nested : document,
              .where = is_nested ? where + ": discriminator" : where,
              .rules = rules,
              .config = {},
              .problems = {}};
  read_model_type(parse);
  set_defaults_of_the_rules(parse);
  read_plain_keys(parse);
  check_epsilon(parse);
  read_pos_att_type(parse);
  read_norm_rel_ebd(parse);
  read_classifier_pooling(parse);
  read_problem_type(parse);
  read_architectures(parse);
  read_labels(parse);
  fill_defaults(parse);
  follow_hf_v2_at_zero(parse);
  forget_unread_keys(parse);
  if (parse.problems.empty()) check_together(parse);
  if (!parse.problems.empty()) throw Error(ErrorCode::kConfig, std::move(parse.problems));
  read_sentence_transformers_activation(parse);
  read_aggregation(parse);
  parse.config.raw = document.dump(0, JsonForm::kPython);
  return parse.config;
}

ModelConfig load_model_config(const std::string& path, ConfigRules rules) {
  return parse_model_config(load_python_json(path), path, rules);
}

Json raw_document(const ModelConfig& config) {
  if (config.raw.empty()) return {};
  JsonLimits limits;
  limits.max_bytes = std::numeric_limits<size_t>::max();  // it was within the usual limits before it was written
  return parse_python_json(config.raw, "config.json", limits);
}

}  // namespace deberta

// gliner_config.json as the library would write it, with the ids of the marks.
#include "train/finetune/extraction_start.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "config/extraction_config.h"
#include "config/model_config.h"
#include "deberta/error.h"
#include "pipeline/entity_model.h"

namespace deberta::train {
namespace {

constexpr double kUsualDropout = 0.4;  // the library's

// A choice that the model has already made.
template <class Value, class Text>
void check_choice(const std::optional<Value>& choice, Value of_model, const char* argument, const Text& text) {
  if (!choice || *choice == of_model) return;
  throw Error(ErrorCode::kUsage, {{.message = "expected " + text(of_model) +
                                              ", as the GLiNER model to begin with has it, got " + text(*choice),
                                   .argument = argument}});
}

ExtractionStart start_of_extractor(const std::string& folder, const ExtractionChoices& choices) {
  ExtractionStart start{.config = load_extraction_config(folder).extraction, .is_new = false};
  const auto number = [](int64_t value) { return std::to_string(value); };
  check_choice(choices.span_mode, start.config.span_mode, "span_mode",
               [](SpanMode mode) { return std::string(to_string(mode)); });
  check_choice(choices.max_width, start.config.max_width, "max_width", number);
  check_choice(choices.rnn_layers, start.config.num_rnn_layers, "rnn_layers", number);
  if (!is_regular_file(folder + "/tokenizer_config.json"))
    throw Error(ErrorCode::kFileNotFound, folder,
                "expected a tokenizer beside a GLiNER model that is trained, got none; put that of " +
                    start.config.model_name + " there, with the tokens " + start.config.ent_token + " and " +
                    start.config.sep_token);
  const Tokenizer tokenizer = Tokenizer::load(folder, TokenizerKind::kFast);
  for (const std::string& mark : {start.config.ent_token, start.config.sep_token}) {
    if (!tokenizer.id_of(mark))
      throw Error(ErrorCode::kTokenizerFile, folder,
                  "expected the token " + mark + " of a GLiNER model that is trained, got none");
  }
  return start;
}

void set(std::string_view key, Json value, JsonObject& members) {
  const auto at = std::ranges::find(members, key, &JsonMember::first);
  if (at == members.end())
    members.emplace_back(std::string(key), std::move(value));
  else
    at->second = std::move(value);
}

// What the library's own trainer would read.
void add_training_keys(JsonObject& members) {
  for (const auto& [key, value] : JsonObject{{"name", "gliner"},
                                             {"fine_tune", true},
                                             {"post_fusion_schema", ""},
                                             {"words_splitter_type", "whitespace"},
                                             {"fuse_layers", false},
                                             {"max_types", 25},
                                             {"max_neg_type_ratio", 1}})
    set(key, value, members);
}

double dropout_of(const JsonObject& members) {
  const auto at = std::ranges::find(members, "dropout", &JsonMember::first);
  return at != members.end() && at->second.is_number() ? at->second.as_number() : kUsualDropout;
}

}  // namespace

ExtractionStart extraction_start(const std::string& folder, const std::string& model_name,
                                 const ExtractionChoices& choices) {
  if (is_extraction_folder(folder)) return start_of_extractor(folder, choices);
  ExtractionStart start;
  ExtractionConfig& config = start.config;
  config.span_mode = choices.span_mode.value_or(config.span_mode);
  config.max_width = choices.max_width.value_or(config.max_width);
  config.num_rnn_layers = choices.rnn_layers.value_or(config.num_rnn_layers);
  config.hidden_size = load_model_config(folder + "/config.json").hidden_size;
  config.model_name = model_name;
  const Tokenizer tokenizer = Tokenizer::load(folder, TokenizerKind::kFast);
  for (const std::string& mark : {config.ent_token, config.sep_token}) {
    if (!tokenizer.id_of(mark)) start.new_marks.push_back(mark);
  }
  return start;
}

void set_extraction(const ExtractionStart& start, const Tokenizer& tokenizer, std::optional<double> dropout,
                    ModelConfig& config) {
  JsonObject members = extraction_document(start.config);
  if (start.is_new) add_training_keys(members);
  const EntityMarks marks = marks_in(tokenizer, start.config, "tokenizer");
  config.cls_dropout = dropout.value_or(dropout_of(members));
  set("model_type", start.config.has_spans() ? "gliner_uni_encoder_span" : "gliner_uni_encoder_token", members);
  set("dropout", config.cls_dropout, members);
  set("class_token_index", int64_t{marks.label}, members);
  set("vocab_size", config.vocab_size, members);
  config.extraction = parse_extraction_config(std::move(members), std::string(kExtractionFile)).extraction;
}

}  // namespace deberta::train

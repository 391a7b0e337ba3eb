// Each task reads its options as the program's verb of that name does; that both answer the same is for the tests to
// say (tests/python/src).
#include "python/src/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/refuse_argument.h"
#include "config/aggregation.h"
#include "deberta/error.h"
#include "decode/pooling.h"
#include "pipeline/answer_json.h"
#include "pipeline/entity_labels.h"

namespace deberta::python {
namespace {

// ---- how texts become sequences

// The length and the stride that the folder states take the place of defaults.
void follow_limits(const TextLimits& limits, const Parameters& parameters, EncodingRules& rules) {
  const bool is_free = parameters.find("max_tokens") == nullptr;
  if (is_free && !limits.too_small.empty())
    throw Error(ErrorCode::kTokenizerFile, "tokenizer_config.json",
                fmt::format("model_max_length: expected a length that leaves room for a text, got {}; correct it or "
                            "give max_tokens",
                            limits.too_small));
  if (!limits.max_tokens) return;
  constexpr size_t kSmallestWindow = 8;
  const auto length = limits.length_for(rules.encode.max_tokens);
  if (is_free && length)
    rules.encode.max_tokens = std::max(*length, parameters.least("max_tokens"));  // what the row allows
  const size_t stride = std::max(*limits.max_tokens, kSmallestWindow) / 4;
  if (parameters.has("stride") && parameters.find("stride") == nullptr) rules.stride = std::min(rules.stride, stride);
}

void read_truncate(const TextLimits& limits, const Parameters& parameters, EncodingRules& rules) {
  const std::string word = parameters.text("truncate");
  if (word == "error") rules.long_text = LongText::kRefuse;
  if (word == "window") rules.long_text = LongText::kWindow;
  const bool follows = parameters.find("truncate") == nullptr && word == "right" && limits.cuts_left;
  rules.encode.truncate = word == "left" || follows ? Truncate::kLeft : Truncate::kRight;
}

EncodingRules rules_of(const OpenedModel& model, const Parameters& parameters, const TextLimits& limits) {
  EncodingRules rules;
  rules.encode.max_tokens = *parameters.whole("max_tokens");
  rules.batch_tokens = model.batch_tokens;
  if (parameters.has("stride")) rules.stride = *parameters.whole("stride");
  follow_limits(limits, parameters, rules);
  if (parameters.has("truncate")) read_truncate(limits, parameters, rules);
  constexpr size_t kSpecial = 2;  // [CLS] and [SEP]
  const size_t room = rules.encode.max_tokens - std::min(rules.encode.max_tokens, kSpecial);
  if (parameters.has("stride") && parameters.find("stride") == nullptr && rules.stride >= room) rules.stride = room / 4;
  return rules;
}

EncodingRules rules_of(const OpenedModel& model, const Parameters& parameters) {
  return rules_of(model, parameters, model.limits);
}

// ---- from results to objects

// Whether an empty item took part in the answer.
template <class Result>
bool has_empty_item(const TextInput&, const Result&) {
  return false;
}
bool has_empty_item(const TextInput& input, const ChoiceAnswer&) {
  return std::ranges::any_of(input.items, is_white);
}
// As by the verb: of the documents that are shown.
bool has_empty_item(const TextInput& input, const RankAnswer& answer) {
  return std::ranges::any_of(answer.documents, [&](const auto& shown) { return is_white(input.items[shown.index]); });
}

// `run` answers inputs, `to_object(input, result)` makes the object of one of them.
template <class Run, class ToObject>
AnswerTexts with_marks(Run run, ToObject to_object) {
  return [=](std::span<const TextInput> inputs) {
    const auto results = run(inputs);
    std::vector<JsonObject> objects;
    for (size_t i = 0; i < results.size(); ++i) {
      JsonObject& object = objects.emplace_back(to_object(inputs[i], results[i]));
      const bool is_empty = is_of_empty_text(inputs[i], results[i].tokens) || has_empty_item(inputs[i], results[i]);
      add_marks({results[i].cut_tokens, is_empty}, object);
    }
    return objects;
  };
}

// ---- the tasks

SequenceOptions sequence_options(const OpenedModel& model, const Parameters& parameters) {
  SequenceOptions options;
  options.rules = rules_of(model, parameters);
  options.top_k = *parameters.whole("top_k");
  options.function = parameters.choice<ScoreFunction>("function");
  options.window_scores = *parameters.choice<WindowScores>("window_scores");
  options.benign_labels = parameters.texts("benign_labels");
  if (options.window_scores != WindowScores::kMean && options.rules.long_text != LongText::kWindow)
    refuse_argument("window_scores",
                    "expected truncate=\"window\" as well, since texts are not read in windows otherwise");
  if (!options.benign_labels.empty() && options.window_scores != WindowScores::kMax)
    refuse_argument("benign_labels", "expected window_scores=\"max\" as well");
  return options;
}

AnswerTexts classify_task(const OpenedModel& model, const Parameters& parameters) {
  const SequenceOptions options = sequence_options(model, parameters);
  return with_marks([&model, options](auto inputs) { return classify(model.pipeline, inputs, options); },
                    [](const TextInput&, const SequenceAnswer& answer) { return to_json(answer); });
}

AnswerTexts nli_task(const OpenedModel& model, const Parameters& parameters) {
  EntailmentOptions options;
  options.rules = rules_of(model, parameters);
  options.label_map = parameters.texts("label_map");
  options.function = parameters.choice<ScoreFunction>("function").value_or(ScoreFunction::kSoftmax);
  return with_marks([&model, options](auto inputs) { return nli(model.pipeline, inputs, options); },
                    [](const TextInput&, const EntailmentAnswer& answer) { return to_json(answer); });
}

// As they stand, with the spaces around them and without letters too: the answer has them.
std::vector<std::string> candidates(const Parameters& parameters) {
  std::vector<std::string> labels = parameters.texts("labels");
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto before = labels.begin() + static_cast<ptrdiff_t>(i);
    if (std::find(labels.begin(), before, labels[i]) != before)
      refuse_argument("labels", fmt::format("expected different labels, got {} twice", quote_json(labels[i])));
  }
  return labels;
}

AnswerTexts zero_shot_task(const OpenedModel& model, const Parameters& parameters) {
  ZeroShotOptions options;
  options.rules = rules_of(model, parameters);
  options.labels = candidates(parameters);
  options.hypothesis_template = parameters.text("hypothesis_template");
  options.is_multi_label = parameters.flag("multi_label");
  options.label_map = parameters.texts("label_map");
  return with_marks(
      [&model, options](auto inputs) { return zero_shot(model.pipeline, inputs, options); },
      [](const TextInput& input, const ZeroShotAnswer& answer) { return to_json(answer, std::string(input.text)); });
}

AnswerTexts ner_task(const OpenedModel& model, const Parameters& parameters) {
  TokenOptions options;
  options.rules = rules_of(model, parameters);
  options.entities = {.aggregation = aggregation_named(parameters.text("aggregation")),
                      .ignored = parameters.texts("ignore_labels")};
  const OffsetUnit unit = *parameters.choice<OffsetUnit>("offsets");
  const bool is_grouped = aggregation_of(model.pipeline.config, options.entities) != Aggregation::kNone;
  return with_marks([&model, options](auto inputs) { return ner(model.pipeline, inputs, options); },
                    [unit, is_grouped](const TextInput& input, const TokenAnswer& answer) {
                      return to_json(answer, std::string(input.text), unit, is_grouped);
                    });
}

// A number for all labels, or an object of numbers by label.
void read_threshold(const Parameters& parameters, ExtractOptions& options) {
  const Json* value = parameters.find("threshold");
  if (value == nullptr) return;
  const auto read = [](const Json& number) {
    if (number.is_number() && number.as_number() >= 0 && number.as_number() <= 1) return number.as_number();
    refuse_argument("threshold",
                    fmt::format("expected a number in 0..1, or one for each label, got {}", number.describe()));
  };
  if (!value->is_object()) {
    options.threshold = read(*value);
    return;
  }
  for (const auto& [label, number] : value->as_object()) {
    if (std::ranges::find(options.labels, label, &EntityLabel::name) == options.labels.end())
      refuse_argument("threshold", fmt::format("expected one of the labels, got {}", quote_json(label)));
    options.thresholds.push_back({label, read(number)});
  }
}

// As rows of the program have them; what is wrong is an error of the argument.
std::vector<EntityLabel> entity_labels(const Json& value) {
  try {
    return read_entity_labels(value, "");
  } catch (const Error& error) {
    constexpr std::string_view kPlace = "labels: ";
    const std::string_view message = error.message();
    const size_t begin = message.starts_with(kPlace) ? kPlace.size() : 0;
    throw Error(error.code(), {{.message = std::string(message.substr(begin)), .argument = "labels"}});
  }
}

AnswerTexts extract_task(const OpenedModel& model, const Parameters& parameters) {
  ExtractOptions options;
  options.rules = rules_of(model, parameters);
  const Json* labels = parameters.find("labels");
  if (labels == nullptr) refuse_argument("labels", "expected labels, got none");
  options.labels = entity_labels(*labels);
  options.is_nested = parameters.flag("nested");
  options.is_multi_label = parameters.flag("multi_label");
  options.joins_neighbours = parameters.flag("join");
  read_threshold(parameters, options);
  const OffsetUnit unit = *parameters.choice<OffsetUnit>("offsets");
  return with_marks([&model, options](auto inputs) { return extract(model.pipeline, inputs, options); },
                    [unit](const TextInput& input, const TokenAnswer& answer) {
                      return to_json(answer, std::string(input.text), unit, true);
                    });
}

AnswerTexts qa_task(const OpenedModel& model, const Parameters& parameters) {
  QuestionOptions options;
  options.rules = rules_of(model, parameters);
  options.top_k = *parameters.whole("top_k");
  options.max_answer_tokens = *parameters.whole("max_answer_tokens");
  options.max_question_tokens = *parameters.whole("max_question_tokens");
  options.aligns_to_words = parameters.text("align") == "words";
  const bool has_threshold = parameters.find("no_answer_threshold") != nullptr;
  const Json* allows = parameters.find("allow_no_answer");
  if (has_threshold && allows != nullptr && !allows->as_bool())
    refuse_argument("no_answer_threshold", "expected none with allow_no_answer=False");
  options.allows_none = parameters.flag("allow_no_answer") || has_threshold;
  if (has_threshold) options.null_threshold = static_cast<float>(*parameters.number("no_answer_threshold"));
  options.as_transformers = model.as_transformers;
  if (model.as_transformers && parameters.find("stride") == nullptr)
    options.rules.stride = transformers_stride(options.rules.encode.max_tokens);
  const OffsetUnit unit = *parameters.choice<OffsetUnit>("offsets");
  return with_marks([&model, options](auto inputs) { return qa(model.pipeline, inputs, options); },
                    [unit, has_all = options.top_k > 1](const TextInput& input, const QuestionAnswer& answer) {
                      return to_json(answer, std::string(input.pair.value_or("")), unit, has_all);
                    });
}

AnswerTexts choose_task(const OpenedModel& model, const Parameters& parameters) {
  const ChoiceOptions options{rules_of(model, parameters), *parameters.choice<ChoiceForm>("form")};
  return with_marks([&model, options](auto inputs) { return choose(model.pipeline, inputs, options); },
                    [](const TextInput& input, const ChoiceAnswer& answer) { return to_json(answer, input.items); });
}

AnswerTexts rerank_task(const OpenedModel& model, const Parameters& parameters) {
  RankOptions options;
  options.rules = rules_of(model, parameters);
  if (const auto most = parameters.whole("max_second_tokens")) options.rules.encode.max_second_tokens = *most;
  options.top_n = *parameters.whole("top_n");
  options.function = parameters.choice<ScoreFunction>("function");
  return with_marks([&model, options](auto inputs) { return rerank(model.pipeline, inputs, options); },
                    [has_texts = parameters.flag("return_text")](const TextInput& input, const RankAnswer& answer) {
                      return to_json(answer, std::string(input.text), input.items, has_texts);
                    });
}

AnswerTexts fill_task(const OpenedModel& model, const Parameters& parameters) {
  FillOptions options;
  options.rules = rules_of(model, parameters);
  options.rules.encode.parse_mask = true;
  const std::vector<std::string> targets = parameters.texts("targets");
  if (parameters.find("targets") != nullptr && targets.empty()) refuse_argument("targets", "expected words, got none");
  options.targets = target_ids(model.pipeline.tokenizer, targets, model.as_transformers);
  const size_t top_k = *parameters.whole("top_k");
  if (top_k > 0 || !options.targets.empty()) options.top_k = top_k > 0 ? top_k : options.targets.size();
  return with_marks([&model, options](auto inputs) { return fill(model.pipeline, inputs, options); },
                    [](const TextInput&, const FillAnswer& answer) { return to_json(answer); });
}

AnswerTexts score_task(const OpenedModel& model, const Parameters& parameters) {
  const EncodingRules rules = rules_of(model, parameters);
  const OffsetUnit unit = *parameters.choice<OffsetUnit>("offsets");
  return with_marks(
      [&model, rules](auto inputs) { return score_text(model.pipeline, inputs, rules); },
      [&model, unit, has_tokens = parameters.flag("tokens")](const TextInput& input, const TextScoreAnswer& answer) {
        JsonObject object = to_json(answer);
        if (has_tokens) {
          const std::string text(input.text);
          object.emplace_back("tokens", to_json(answer.pieces, text, unit, model.pipeline.tokenizer));
        }
        return object;
      });
}

AnswerTexts detect_task(const OpenedModel& model, const Parameters& parameters) {
  const EncodingRules rules = rules_of(model, parameters);
  const OffsetUnit unit = *parameters.choice<OffsetUnit>("offsets");
  return with_marks(
      [&model, rules](auto inputs) { return detect(model.pipeline, inputs, rules); },
      [unit, threshold = *parameters.number("threshold")](const TextInput& input, const ReplacedAnswer& answer) {
        return to_json(answer, std::string(input.text), unit, threshold);
      });
}

EmbeddingOptions embedding_options(const OpenedModel& model, const Parameters& parameters) {
  EmbeddingOptions options;
  const SentenceModules& sentence = model.pipeline.sentence;
  const bool has_length = parameters.find("max_tokens") != nullptr;
  const bool is_of_folder = !has_length && sentence.max_tokens == 0;
  options.rules = rules_of(model, parameters, is_of_folder ? model.limits : TextLimits());
  if (!has_length && !is_of_folder) options.rules.encode.max_tokens = sentence.max_tokens;
  const std::string pooling = parameters.text("pooling");
  options.pools = pooling != "none";
  if (pooling == "cls") options.pooling = Pooling::kCls;
  if (pooling == "mean") options.pooling = Pooling::kMean;
  if (pooling == "max") options.pooling = Pooling::kMax;
  if (pooling == "auto") options.rules.prompt = sentence.prompt;
  options.layer = parameters.find("layer") != nullptr ? parameters.find("layer")->as_integer() : -1;
  options.normalizes = parameters.flag("normalize");
  return options;
}

// The verb `embed` of pairs: its parameters, another answer.
AnswerTexts similarity_task(const OpenedModel& model, const Parameters& parameters) {
  if (parameters.find("dimensions") != nullptr) refuse_argument("dimensions", "expected none for a similarity");
  const SimilarityOptions options{embedding_options(model, parameters)};
  if (!options.embedding.pools)
    refuse_argument("pooling", "expected auto, cls, mean or max for a similarity, got none");
  return with_marks([&model, options](auto inputs) { return similarity(model.pipeline, inputs, options); },
                    [](const TextInput&, const SimilarityAnswer& answer) { return to_json(answer); });
}

struct Task {
  std::string_view name;
  std::string_view parameters;  // whose rows of the table it has
  AnswerTexts (*make)(const OpenedModel&, const Parameters&);
};
constexpr std::array kTasks = {
    Task{"classify", "classify", classify_task},
    Task{"nli", "nli", nli_task},
    Task{"zero-shot", "zero-shot", zero_shot_task},
    Task{"ner", "ner", ner_task},
    Task{"extract", "extract", extract_task},
    Task{"qa", "qa", qa_task},
    Task{"choose", "choose", choose_task},
    Task{"rerank", "rerank", rerank_task},
    Task{"fill", "fill", fill_task},
    Task{"score", "score", score_task},
    Task{"detect", "detect", detect_task},
    Task{"similarity", "embed", similarity_task},
};

}  // namespace

AnswerTexts answering(const OpenedModel& model, std::string_view task, JsonObject parameters) {
  const auto row = std::ranges::find(kTasks, task, &Task::name);
  if (row == kTasks.end()) refuse_argument("task", fmt::format("no such task: {}", task));
  return row->make(model, Parameters(row->parameters, std::move(parameters)));
}

SequenceOptions score_options(const OpenedModel& model, JsonObject given) {
  const Parameters parameters("classify", std::move(given));
  if (parameters.find("top_k") != nullptr)
    refuse_argument("top_k", "expected none for scores, which are of all classes");
  SequenceOptions options = sequence_options(model, parameters);
  if (options.window_scores == WindowScores::kEach)
    refuse_argument("window_scores", "expected mean or max for scores, which are of whole texts, got each");
  return options;
}

VectorRules vector_rules(const OpenedModel& model, JsonObject given, const std::optional<std::string>& prompt) {
  const Parameters parameters("embed", std::move(given));
  VectorRules rules{.options = embedding_options(model, parameters)};
  if (prompt) rules.options.rules.prompt = *prompt;
  rules.columns = embedding_columns(model.pipeline, rules.options);
  const std::optional<size_t> dimensions = parameters.whole("dimensions");
  if (!dimensions) return rules;
  if (*dimensions > rules.columns)
    refuse_argument("dimensions", fmt::format("expected at most {}, the model's, got {}", rules.columns, *dimensions));
  rules.columns = *dimensions;
  rules.is_cut = true;
  rules.normalizes = std::exchange(rules.options.normalizes, false);  // what is left, not the whole
  return rules;
}

void VectorRules::apply(EmbeddingAnswer& answer, size_t model_columns) const {
  if (!is_cut) return;
  std::vector<float> kept;
  for (size_t at = 0; at < answer.vectors.size(); at += model_columns) {
    const auto begin = answer.vectors.begin() + static_cast<ptrdiff_t>(at);
    kept.insert(kept.end(), begin, begin + static_cast<ptrdiff_t>(columns));
    if (normalizes) normalize(std::span(kept).last(columns));
  }
  answer.vectors = std::move(kept);
}

}  // namespace deberta::python

// Pairs of texts scored and texts classified, as the clients of vLLM request them, and those of infinity.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <span>

#include "serve/answering.h"
#include "serve/api_error.h"
#include "serve/fields.h"

namespace deberta::serve::vllm {
namespace {

constexpr size_t kFrameBytes = 512;      // of an answer, around its items
constexpr size_t kItemBytes = 100;       // an item, beside its label and its classes
constexpr size_t kHeldItemBytes = 600;   // memory of an item as JSON values
constexpr size_t kHeldNumberBytes = 40;  // memory of a number as a JSON value
constexpr int64_t kFewestTokens = 3;     // with which a text has a token of its own

// Without the activation that a client asks for the numbers would be others, and no one would notice.
void refuse_old_names(Body& body) {
  for (const std::string_view name : {"activation", "softmax"}) {
    if (body.find(name) != nullptr)
      body.refuse(name, fmt::format("expected {}, which has replaced it", field::kUseActivation.name));
  }
}

// A text that is too long is refused, unless the request says where it is cut.
EncodingRules rules_of_vllm(const ServedModel& model, Body& body) {
  EncodingRules rules = rules_of(model, body, LongText::kRefuse);
  const std::optional<int64_t> tokens =
      body.whole(field::kTruncatePromptTokens, static_cast<int64_t>(model.max_input_length));
  const std::optional<std::string> side = body.word(field::kTruncationSide);
  if (tokens) {
    if (*tokens != -1 && *tokens < kFewestTokens)
      body.refuse(field::kTruncatePromptTokens.name,
                  fmt::format("expected -1 or at least {}, got {}", kFewestTokens, *tokens));
    if (*tokens > 0) rules.encode.max_tokens = static_cast<size_t>(*tokens);
    if (rules.long_text == LongText::kRefuse) rules.encode.truncate = Truncate::kRight;
    rules.long_text = LongText::kCut;
  }
  if (side && rules.long_text == LongText::kCut)
    rules.encode.truncate = *side == "left" ? Truncate::kLeft : Truncate::kRight;
  return rules;
}

JsonObject usage_of_vllm(uint64_t tokens) {
  JsonObject usage = usage_json(tokens);
  usage.emplace_back("completion_tokens", int64_t{0});
  usage.emplace_back("prompt_tokens_details", Json());
  return usage;
}

// What surrounds the items of an answer, in the order of the server that `prefix` names in its ids.
Json answer_json(std::string_view prefix, std::string_view object, const std::string& model, JsonArray items,
                 JsonObject usage) {
  return JsonObject{{"id", fmt::format("{}-{}", prefix, new_id())},
                    {"object", object},
                    {"created", int64_t{std::time(nullptr)}},
                    {"model", model},
                    {"data", std::move(items)},
                    {"usage", std::move(usage)}};
}

Answering sized(Answering reply, size_t items, size_t bytes_of_item, size_t held_bytes_of_item) {
  reply.answer_bytes = kFrameBytes + items * bytes_of_item;
  reply.held_bytes = kFrameBytes + items * held_bytes_of_item;
  return reply;
}

// ---- pairs

// The fields of the first and the second texts, by the names that versions of vLLM have for them.
struct PairFields {
  std::string_view first, second;
};
constexpr std::array kPairFields = {PairFields{"text_1", "text_2"}, PairFields{"queries", "documents"},
                                    PairFields{"queries", "items"}, PairFields{"data_1", "data_2"}};
constexpr std::array<std::string_view, 7> kTextFields = {"text_1", "text_2", "queries", "documents",
                                                         "items",  "data_1", "data_2"};

PairFields pair_fields_of(Body& body) {
  std::vector<std::string_view> there;
  for (const std::string_view name : kTextFields) {
    if (body.find(name) != nullptr) there.push_back(name);
  }
  if (there.empty()) body.refuse_missing(kPairFields.front().first);
  for (const PairFields& names : kPairFields) {
    if (there.size() == 1 && there.front() == names.first) body.refuse_missing(names.second);
    if (there.size() == 1 && there.front() == names.second) body.refuse_missing(names.first);
    if (there.size() == 2 && there[0] == names.first && there[1] == names.second) return names;
  }
  body.refuse(there.back(),
              fmt::format("expected one pair of fields, such as text_1 and text_2, got {}", fmt::join(there, ", ")));
}

// The texts of a field: one, or a list of them.
struct FieldTexts {
  std::vector<std::string> all;
  std::string pointer;
  bool is_list = false;

  std::string pointer_of(size_t i) const { return is_list ? fmt::format("{}/{}", pointer, i) : pointer; }
};

FieldTexts texts_at(const ServedModel& model, Body& body, std::string_view name) {
  const Json& value = *body.find(name);
  FieldTexts texts{{}, body.pointer_of(name), value.is_array()};
  if (value.is_string())
    texts.all.push_back(value.as_string());
  else if (texts.is_list)
    texts.all = listed_texts(model, value, texts.pointer);
  else
    body.refuse(name, fmt::format("expected a string or an array of strings, got {}", value.describe()));
  return texts;
}

// One first text with each of the second ones, or as many first as second texts, each with its own.
struct Pairs {
  FieldTexts first, second;

  bool is_one_with_all() const { return first.all.size() == 1; }
  size_t size() const { return second.all.size(); }
  const std::string& first_of(size_t i) const { return first.all[is_one_with_all() ? 0 : i]; }

  std::vector<TextInput> views() const {
    const std::span<const std::string> seconds(second.all);
    if (is_one_with_all()) return {TextInput{.text = first.all.front(), .items = seconds}};
    std::vector<TextInput> views;
    for (size_t i = 0; i < size(); ++i)
      views.push_back(TextInput{.text = first.all[i], .items = seconds.subspan(i, 1)});
    return views;
  }

  std::vector<PlacedText> placed() const {
    std::vector<PlacedText> placed;
    for (size_t i = 0; i < size(); ++i)
      placed.push_back({first_of(i), first.pointer_of(is_one_with_all() ? 0 : i), second.all[i], second.pointer_of(i)});
    return placed;
  }

  size_t characters() const {
    size_t bytes = 0;
    for (const FieldTexts* texts : {&first, &second})
      for (const std::string& text : texts->all) bytes += text.size();
    return bytes;
  }
};

Pairs pairs_of(const ServedModel& model, Body& body) {
  const PairFields names = pair_fields_of(body);
  Pairs pairs{texts_at(model, body, names.first), texts_at(model, body, names.second)};
  const size_t first = pairs.first.all.size(), second = pairs.second.all.size();
  if (first != 1 && first != second)
    body.refuse(names.first, fmt::format("expected one text, or as many as {} has, which is {}, got {}", names.second,
                                         second, first));
  return pairs;
}

// In the order of the pairs: answers have the best first.
Json scores_json(const std::vector<RankAnswer>& answers, const std::string& model) {
  std::vector<float> scores;
  uint64_t tokens = 0;
  for (const RankAnswer& answer : answers) {
    const size_t begin = scores.size();
    scores.resize(begin + answer.documents.size());
    for (const RankedDocument& document : answer.documents) scores[begin + document.index] = document.score;
    tokens += answer.tokens;
  }
  JsonArray items;
  for (size_t i = 0; i < scores.size(); ++i)
    items.push_back(JsonObject{{"index", uint64_t{i}}, {"object", "score"}, {"score", scores[i]}});
  return answer_json("score", "list", model, std::move(items), usage_of_vllm(tokens));
}

// ---- classes

Inputs inputs_of(const ServedModel& model, Body& body) {
  const Json* value = body.find("input");
  if (value == nullptr) body.refuse_missing("input");
  const std::string pointer = body.pointer_of("input");
  Inputs inputs;
  if (value->is_string())
    inputs.add(value->as_string(), pointer);
  else
    inputs.add_all(model, *value, pointer);
  return inputs;
}

uint64_t tokens_of(const std::vector<SequenceAnswer>& answers) {
  uint64_t tokens = 0;
  for (const SequenceAnswer& answer : answers) tokens += answer.tokens;
  return tokens;
}

Json classes_of_vllm(const std::vector<SequenceAnswer>& answers, const std::string& model) {
  JsonArray items;
  for (const SequenceAnswer& answer : answers)
    items.push_back(JsonObject{{"index", uint64_t{items.size()}},
                               {"label", answer.labels.front().label},
                               {"probs", vector_json(answer.scores)},
                               {"num_classes", uint64_t{answer.scores.size()}}});
  return answer_json("classify", "list", model, std::move(items), usage_of_vllm(tokens_of(answers)));
}

Json classes_of_infinity(const std::vector<SequenceAnswer>& answers, const std::string& model) {
  JsonArray items;
  for (const SequenceAnswer& answer : answers) items.push_back(scored_labels_json(answer.labels));
  return answer_json("infinity", "classify", model, std::move(items), usage_json(tokens_of(answers)));
}

using ClassesJson = Json (*)(const std::vector<SequenceAnswer>& answers, const std::string& model);

Answering classified(const ServedModel& model, Body& body, const SequenceOptions& options, ClassesJson to_json) {
  const Inputs inputs = inputs_of(model, body);
  return counted(answering(places_of(model, options.rules, body, inputs).plan([&] {
                   return plan_classify(model.pipeline, inputs.views(), options);
                 }),
                           [to_json, name = model.name](const std::vector<SequenceAnswer>& answers) {
                             return to_json(answers, name);
                           }),
                 inputs);
}

size_t classes_of(const ServedModel& model) {
  return static_cast<size_t>(std::max<int64_t>(1, model.pipeline.model.labels()));
}

// As its server, it cuts what is too long.
Answering classify_as_infinity(const ServedModel& model, Body& body) {
  SequenceOptions options;
  options.rules = rules_of(model, body, LongText::kCut);
  use_windows(model, body, options);
  options.top_k = classes_of(model);
  if (body.flag(field::kRawScores)) options.function = ScoreFunction::kNone;
  Answering reply = classified(model, body, options, classes_of_infinity);
  const size_t items = reply.items;
  return sized(std::move(reply), items, kItemBytes + options.top_k * kLabelBytes,
               kHeldItemBytes + options.top_k * kHeldLabelBytes);
}

}  // namespace

Answering score(const ServedModel& model, Body& body) {
  const Pairs pairs = pairs_of(model, body);
  body.text(field::kModel);
  body.text(field::kUser);
  refuse_old_names(body);
  RankOptions options;
  options.rules = rules_of_vllm(model, body);
  if (!body.flag(field::kUseActivation)) options.function = ScoreFunction::kNone;
  const Places places(model.pipeline.tokenizer, options.rules, &body, [&pairs] { return pairs.placed(); });
  Answering reply =
      answering(places.plan([&] { return plan_rerank(model.pipeline, pairs.views(), options); }),
                [name = model.name](const std::vector<RankAnswer>& answers) { return scores_json(answers, name); });
  reply.items = pairs.size();
  reply.characters = pairs.characters();
  return sized(std::move(reply), pairs.size(), kItemBytes, kHeldItemBytes);
}

Answering classify(const ServedModel& model, Body& body) {
  body.text(field::kModel);
  if (body.find(field::kRawScores.name) != nullptr) return classify_as_infinity(model, body);
  body.text(field::kUser);
  refuse_old_names(body);
  if (!body.flag(field::kAddSpecialTokens))
    body.refuse(field::kAddSpecialTokens.name, "expected true: the model reads every text with its special tokens");
  SequenceOptions options;
  options.rules = rules_of_vllm(model, body);
  if (!body.find(field::kTruncatePromptTokens.name) && !body.find(field::kTruncationSide.name))
    use_windows(model, body, options);
  options.top_k = 1;
  if (!body.flag(field::kUseActivation)) options.function = ScoreFunction::kNone;
  Answering reply = classified(model, body, options, classes_of_vllm);
  const size_t items = reply.items, classes = classes_of(model);
  return sized(std::move(reply), items, kItemBytes + kLabelBytes + classes * kNumberBytes,
               kHeldItemBytes + classes * kHeldNumberBytes);
}

}  // namespace deberta::serve::vllm

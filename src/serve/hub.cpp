// The tasks of the Hugging Face hub: `inputs` and `parameters` with the names of its schemas. With `pipeline` in
// `parameters.shape`, answers have the form of the transformers pipelines where the two differ.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <memory>

#include "base/ascii.h"
#include "config/aggregation.h"
#include "heads/head_facts.h"
#include "pipeline/answer_json.h"
#include "serve/answering.h"
#include "serve/api_error.h"
#include "serve/extraction.h"
#include "serve/fields.h"

namespace deberta::serve::hub {
namespace {

constexpr std::array<int, 3> kListsOfLabels = {1, 1, 5};  // the first version of huggingface_hub that reads them

// The body's `parameters`, which may be absent.
class Parameters {
 public:
  explicit Parameters(Body& body)
      : parameters_(body.object("parameters")), empty_(kEmpty, body.pointer_of("parameters")) {}
  Body& get() { return parameters_ ? *parameters_ : empty_; }
  bool is_pipeline(bool by_default = false) {
    const std::optional<std::string> shape = get().word(field::kShape);
    return shape ? *shape == "pipeline" : by_default;
  }

 private:
  static const Json kEmpty;
  std::optional<Body> parameters_;
  Body empty_;
};
const Json Parameters::kEmpty = JsonObject();

const Json& inputs_of(Body& body) {
  const Json* value = body.find("inputs");
  if (value == nullptr) body.refuse_missing("inputs");
  return *value;
}

// A text, or a list of them; `is_list` says which.
Inputs texts_of_inputs(const ServedModel& model, Body& body, bool& is_list) {
  const Json& value = inputs_of(body);
  Inputs inputs;
  is_list = !value.is_string();
  if (!is_list) {
    inputs.add(value.as_string(), body.pointer_of("inputs"));
  } else {
    inputs.add_all(model, value, body.pointer_of("inputs"));
  }
  return inputs;
}

Json labels_json(const std::vector<LabelScore>& labels) {
  JsonArray all;
  for (const LabelScore& label : labels) all.push_back(JsonObject{{"label", label.label}, {"score", label.score}});
  return all;
}

// ---- text-classification

void add_pair(Body pair, Inputs& inputs) {
  const std::optional<std::string> text = pair.text("text"), second = pair.text("text_pair");
  if (!text) pair.refuse_missing("text");
  if (second)
    inputs.add(*text, pair.pointer_of("text"), *second, pair.pointer_of("text_pair"));
  else
    inputs.add(*text, pair.pointer_of("text"));
}

Answering classification(const ServedModel& model, Body& body) {
  const Json& value = inputs_of(body);
  const std::string pointer = body.pointer_of("inputs");
  Inputs inputs;
  const bool is_list = value.is_array();
  const auto add = [&](const Json& input, const std::string& at) {
    if (input.is_string()) return inputs.add(input.as_string(), at);
    if (!input.is_object())
      Body::refuse_at(at, fmt::format("expected a string or an object with a text, got {}", input.describe()));
    add_pair(body.part(input, at), inputs);
  };
  if (!is_list) add(value, pointer);
  if (is_list) check_count(model, value.as_array().size(), pointer);
  for (size_t i = 0; is_list && i < value.as_array().size(); ++i)
    add(value.as_array()[i], fmt::format("{}/{}", pointer, i));
  Parameters parameters(body);
  SequenceOptions options;
  options.rules = rules_of(model, parameters.get(), LongText::kCut);
  read_windows(model, parameters.get(), options);
  const auto labels = static_cast<size_t>(std::max<int64_t>(1, model.pipeline.model.labels()));
  options.top_k = static_cast<size_t>(parameters.get().whole(field::kTopLabels).value_or(static_cast<int64_t>(labels)));
  options.function = parameters.get().choice<ScoreFunction>(field::kFunctionToApply);
  const bool is_pipeline = parameters.is_pipeline();
  const OffsetUnit unit = offsets_of(parameters.get());
  Answering reply =
      counted(answering(places_of(model, options.rules, parameters.get(), inputs).plan([&] {
                return plan_classify(model.pipeline, inputs.views(), options);
              }),
                        [=, texts = inputs.texts()](const std::vector<SequenceAnswer>& answers) -> Json {
                          JsonArray all;
                          for (size_t i = 0; i < answers.size(); ++i)
                            all.push_back(sequence_json(answers[i], texts[i], unit, labels_json));
                          return one_or_list(std::move(all),
                                             is_list || !is_pipeline);  // the hub's clients take the first element
                        }),
              inputs);
  const size_t lists = options.window_scores == WindowScores::kEach ? reply.plan->sequences.size() : 0;
  const size_t scores = (inputs.size() + lists) * std::min(options.top_k, labels);
  reply.answer_bytes = scores * kLabelBytes;
  reply.held_bytes = scores * kHeldLabelBytes;
  return reply;
}

// ---- lists of items, one of a text

// From the answers to texts to a response that lists their `items`, each as `to_json` says; the answers are kept until
// it is written.
template <class Answer, class Item, class ToJson>
auto items_of_texts(const Inputs& inputs, OffsetUnit unit, bool is_list, std::vector<Item> Answer::*items,
                    ToJson to_json) {
  const auto texts = std::make_shared<const std::vector<std::string>>(inputs.texts());
  return [=](std::vector<Answer> made) {
    std::vector<size_t> counts;
    std::vector<OffsetUnits> units;
    for (const Answer& answer : made) {
      units.emplace_back(unit, (*texts)[counts.size()]);
      counts.push_back((answer.*items).size());
    }
    return lists_response(
        lists_of_texts(counts, is_list),
        [=, answers = std::make_shared<const std::vector<Answer>>(std::move(made)),
         units = std::make_shared<const std::vector<OffsetUnits>>(std::move(units))](size_t text, size_t item) -> Json {
          return to_json(((*answers)[text].*items)[item], (*texts)[text], (*units)[text]);
        });
  };
}

// ---- token-classification

// `by_default`: the grouping without an aggregation_strategy; none: that of the program.
Answering grouped_entities(const ServedModel& model, Body& body, std::optional<Aggregation> by_default) {
  bool is_list = false;
  const Inputs inputs = texts_of_inputs(model, body, is_list);
  Parameters parameters(body);
  Body& fields = parameters.get();
  TokenOptions options;
  options.rules = rules_of(model, LongText::kCut);
  options.rules.long_text = LongText::kWindow;
  options.rules.stride = static_cast<size_t>(
      fields.whole(field::kStride, static_cast<int64_t>(model.max_input_length) / 2)
          .value_or(static_cast<int64_t>(std::min(options.rules.stride, model.max_input_length / 4))));
  const auto strategy = fields.word(field::kAggregationStrategy);
  options.entities.aggregation = strategy ? aggregation_named(*strategy) : by_default;
  if (const auto ignored = fields.texts(field::kIgnoreLabels)) options.entities.ignored = *ignored;
  const OffsetUnit unit = offsets_of(fields);
  const bool is_grouped = aggregation_of(model.pipeline.config, options.entities) != Aggregation::kNone;
  const bool is_pipeline = parameters.is_pipeline();
  const auto entity_json = [=](const Entity& entity, const std::string& text, const OffsetUnits& units) {
    JsonObject object = to_json(entity, text, units, is_grouped);
    if (!is_pipeline) std::erase_if(object, [](const JsonMember& member) { return member.first == "index"; });
    return object;
  };
  Answering reply = counted(responding(places_of(model, options.rules, fields, inputs).plan([&] {
                              return plan_ner(model.pipeline, inputs.views(), options);
                            }),
                                       items_of_texts(inputs, unit, is_list, &TokenAnswer::entities, entity_json)),
                            inputs);
  reply.answer_bytes = reply.tokens * kTokenBytes + reply.characters;
  return reply;
}

// The clients of the hub expect runs of pieces.
Answering token_classification(const ServedModel& model, Body& body) {
  return grouped_entities(model, body, Aggregation::kSimple);
}

Answering entities(const ServedModel& model, Body& body) {
  return grouped_entities(model, body, std::nullopt);
}

// ---- entity-extraction: a task of our own, with models that find entities by labels of the request's own

Answering entity_extraction(const ServedModel& model, Body& body) {
  bool is_list = false;
  const Inputs inputs = texts_of_inputs(model, body, is_list);
  Parameters parameters(body);
  Body& fields = parameters.get();
  AskedLabels labels = labels_of(model, fields, field::kCandidateLabels.name, inputs.size());
  AskedEntities asked = asked_entities(inputs, std::move(labels), extract_options(model, fields, field::kFlatNer));
  const OffsetUnit unit = offsets_of(fields);
  parameters.is_pipeline();
  const auto entity_json = [](const Entity& entity, const std::string& text, const OffsetUnits& units) {
    return to_json(entity, text, units, true);
  };
  Answering reply = counted(responding(plan_entities(model, asked),
                                       items_of_texts(inputs, unit, is_list, &TokenAnswer::entities, entity_json)),
                            inputs);
  const EntityBounds bounds = bounds_of(*reply.plan, model, asked);
  return sized(std::move(reply), model, asked, bounds);
}

// ---- question-answering

Answering question_answering(const ServedModel& model, Body& body) {
  Body question_body = body.part(inputs_of(body), body.pointer_of("inputs"));
  const std::optional<std::string> question = question_body.text("question"), context = question_body.text("context");
  if (!question) question_body.refuse_missing("question");
  if (!context) question_body.refuse_missing("context");
  Parameters parameters(body);
  Body& fields = parameters.get();
  QuestionOptions options;
  options.rules.encode.most_tokens = model.most_tokens;
  const auto most = static_cast<int64_t>(model.max_input_length);
  options.rules.encode.max_tokens =
      static_cast<size_t>(std::min(fields.whole_or_default(field::kMaxSeqLen, most), most));
  options.rules.stride = static_cast<size_t>(fields.whole_or_default(field::kDocStride, most));
  options.top_k = static_cast<size_t>(fields.whole_or_default(field::kTopAnswers));
  options.max_answer_tokens = static_cast<size_t>(fields.whole_or_default(field::kMaxAnswerLen, most));
  options.max_question_tokens = static_cast<size_t>(fields.whole_or_default(field::kMaxQuestionLen, most));
  options.allows_none = fields.flag(field::kHandleImpossibleAnswer);
  options.aligns_to_words = fields.flag(field::kAlignToWords);
  const OffsetUnit unit = offsets_of(fields);
  parameters.is_pipeline();
  const TextInput input{.text = *question, .pair = *context};
  Inputs inputs;
  inputs.add(*question, question_body.pointer_of("question"));
  inputs.add(*context, question_body.pointer_of("context"));
  EncodingRules question_rules = options.rules;  // the question shares a sequence with the context
  question_rules.encode.max_tokens /= 2;
  question_rules.long_text = LongText::kRefuse;
  Answering reply = counted(answering(places_of(model, question_rules, fields, inputs).plan([&] {
                              return plan_qa(model.pipeline, {&input, 1}, options);
                            }),
                                      [context = *context, unit, is_list = options.top_k > 1](
                                          const std::vector<QuestionAnswer>& answers) -> Json {
                                        JsonObject best = to_json(answers.front(), context, unit, is_list);
                                        if (is_list) return std::move(best.back().second);
                                        return best;
                                      }),
                            inputs);
  reply.answer_bytes = options.top_k * (kTokenBytes + context->size());
  return reply;
}

// ---- fill-mask

// The bytes of an answer: each word that may stand for a mask comes with the whole text.
size_t fill_bytes(const Inputs& inputs, const SequencePlan& plan, const FillOptions& options, size_t vocabulary) {
  const size_t words = std::min(options.top_k, options.targets.empty() ? vocabulary : options.targets.size());
  const std::vector<TextInput> texts = inputs.views();
  size_t bytes = 0;
  for (size_t i = 0; i < texts.size(); ++i)
    bytes += plan.rows(i).size() * words * (kSequenceBytes + texts[i].text.size());
  return bytes;
}

Json filled_json(const FilledToken& token) {
  return JsonObject{{"score", token.score},
                    {"token", int64_t{token.token}},
                    {"token_str", token.token_str},
                    {"sequence", token.sequence}};
}

// The words of each mask; the masks of a text with several are a list of lists.
HttpResponse filled(std::vector<FillAnswer> answers, bool is_list) {
  std::vector<WrittenList> lists;
  std::vector<FillAnswer::Mask> masks;
  for (FillAnswer& answer : answers) {
    std::vector<size_t> counts;
    for (FillAnswer::Mask& mask : answer.masks) {
      counts.push_back(mask.tokens.size());
      masks.push_back(std::move(mask));
    }
    std::vector<WrittenList> of_text = lists_of_texts(counts, counts.size() > 1);
    if (!lists.empty()) of_text.front().begin.insert(0, ", ");
    std::ranges::move(of_text, std::back_inserter(lists));
  }
  if (is_list) {
    lists.front().begin.insert(0, "[");
    lists.back().end += "]";
  }
  return lists_response(std::move(lists),
                        [all = std::make_shared<const std::vector<FillAnswer::Mask>>(std::move(masks))](
                            size_t mask, size_t token) { return filled_json((*all)[mask].tokens[token]); });
}

Answering fill_mask(const ServedModel& model, Body& body) {
  bool is_list = false;
  const Inputs inputs = texts_of_inputs(model, body, is_list);
  Parameters parameters(body);
  FillOptions options;
  options.rules = rules_of(model, parameters.get(), LongText::kCut);
  options.top_k = static_cast<size_t>(parameters.get().whole_or_default(field::kTopTokens));
  if (const auto targets = parameters.get().texts(field::kTargets))
    options.targets = places_of(model, options.rules, parameters.get(), inputs).plan([&] {
      return target_ids(model.pipeline.tokenizer, *targets);
    });
  parameters.is_pipeline();
  Answering reply =
      counted(responding(places_of(model, options.rules, parameters.get(), inputs).plan([&] {
                return plan_fill(model.pipeline, inputs.views(), options);
              }),
                         [is_list](std::vector<FillAnswer> answers) { return filled(std::move(answers), is_list); }),
              inputs);
  reply.answer_bytes = fill_bytes(inputs, *reply.plan, options, model.pipeline.tokenizer.size());
  return reply;
}

// ---- zero-shot-classification

// Each text with each label in its sentence; where a sentence is too long, the longer of label and template is at
// fault.
std::vector<PlacedText> placed_hypotheses(const Inputs& inputs, Body& fields, const ZeroShotOptions& options) {
  const std::string& form = options.hypothesis_template;
  const std::string slot = "{}", labels = fields.pointer_of(field::kCandidateLabels.name);
  const bool is_list = fields.find(field::kCandidateLabels.name)->is_array();
  std::vector<PlacedText> placed;
  for (const PlacedText& text : inputs.placed()) {
    for (size_t i = 0; i < options.labels.size(); ++i) {
      const std::string& label = options.labels[i];
      const size_t at = std::min(form.find(slot), form.size());
      const std::string pair = form.substr(0, at) + label + form.substr(std::min(at + slot.size(), form.size()));
      placed.push_back({text.text, text.pointer, pair,
                        label.size() < form.size() ? fields.pointer_of(field::kHypothesisTemplate.name)
                        : is_list                  ? fmt::format("{}/{}", labels, i)
                                                   : labels});
    }
  }
  return placed;
}

// A list of labels, or one text with commas between them, as the transformers pipelines take it.
std::vector<std::string> candidate_labels_of(const ServedModel& model, Body& fields) {
  const std::string_view name = field::kCandidateLabels.name;
  const Json* value = fields.find(name);
  if (value == nullptr) fields.refuse_missing(name);
  if (!value->is_string()) return *fields.texts(field::kCandidateLabels);
  const std::string& text = value->as_string();
  check_most(model, 1 + static_cast<size_t>(std::ranges::count(text, ',')), fields.pointer_of(name));
  std::vector<std::string> labels;
  for (size_t at = 0, comma = 0; comma != text.npos; at = comma + 1) {
    comma = text.find(',', at);
    labels.emplace_back(strip(std::string_view(text).substr(at, comma == text.npos ? comma : comma - at)));
    if (labels.back().empty())
      fields.refuse(name, fmt::format("expected labels with commas between them, got {}", value->describe()));
  }
  return labels;
}

Answering zero_shot(const ServedModel& model, Body& body, bool is_pipeline_by_default) {
  bool is_list = false;
  const Inputs inputs = texts_of_inputs(model, body, is_list);
  Parameters parameters(body);
  Body& fields = parameters.get();
  std::vector<std::string> labels = candidate_labels_of(model, fields);
  check_count(model, labels.size() * inputs.size(), fields.pointer_of(field::kCandidateLabels.name));
  ZeroShotOptions options;
  options.rules = rules_of(model, fields, LongText::kCut);
  options.labels = std::move(labels);
  options.hypothesis_template = fields.text(field::kHypothesisTemplate).value_or(options.hypothesis_template);
  options.is_multi_label = fields.flag(field::kMultiLabel);
  const bool is_pipeline = parameters.is_pipeline(is_pipeline_by_default);
  EncodingRules rules = options.rules;  // only the text is cut
  rules.encode.pair_cut = PairCut::kFirst;
  const Places places(model.pipeline.tokenizer, rules, &fields,
                      [&] { return placed_hypotheses(inputs, fields, options); });
  return counted(
      answering(places.plan([&] { return plan_zero_shot(model.pipeline, inputs.views(), options); }),
                [=, texts = inputs.texts()](const std::vector<ZeroShotAnswer>& answers) -> Json {
                  JsonArray all;
                  for (size_t i = 0; i < answers.size(); ++i)
                    all.push_back(is_pipeline ? Json(to_json(answers[i], texts[i])) : labels_json(answers[i].labels));
                  return one_or_list(std::move(all), is_list);
                }),
      inputs);
}

Answering zero_shot_classification(const ServedModel& model, Body& body) {
  return zero_shot(model, body, false);
}
Answering zero_shot_for_old_clients(const ServedModel& model, Body& body) {
  return zero_shot(model, body, true);
}

// Whether a User-Agent, "...; hf_hub/0.36.2; python/3.11", is from before the version that reads lists of labels.
bool reads_pipeline_form(std::string_view user_agent) {
  constexpr std::string_view kName = "hf_hub/";
  const size_t at = user_agent.find(kName);
  if (at == user_agent.npos) return false;
  std::array<int, 3> version{};
  const char* from = user_agent.data() + at + kName.size();
  const char* const end = user_agent.data() + user_agent.size();
  for (int& part : version) {
    from = std::from_chars(from, end, part).ptr;
    if (from != end && *from == '.') ++from;
  }
  return version < kListsOfLabels;
}

// ---- feature-extraction: one vector for each text; in the pipelines' form one for each token

Answering feature_extraction(const ServedModel& model, Body& body) {
  Parameters parameters(body);
  bool is_list = false;
  if (!parameters.is_pipeline()) {
    Answering reply = tei::embed(model, body, LongText::kCut);
    return reply;
  }
  const Inputs inputs = texts_of_inputs(model, body, is_list);
  EmbeddingOptions options;
  options.rules = rules_of(model, parameters.get(), LongText::kCut);
  options.pools = false;
  const size_t columns = embedding_columns(model.pipeline, options);
  Answering reply = responding(places_of(model, options.rules, parameters.get(), inputs).plan([&] {
    return plan_embed(model.pipeline, inputs.views(), options);
  }),
                               [is_list, columns](std::vector<EmbeddingAnswer> answers) {
                                 const auto vectors = std::make_shared<const VectorTexts>(std::move(answers), columns);
                                 return parts_response(
                                     is_list ? "[" : "", vectors->rows(),
                                     [vectors](size_t i, std::string& out) { vectors->add_row(i, "[[", "]]", out); },
                                     is_list ? "]" : "");
                               });
  const size_t values = reply.tokens * columns;
  return counted(of_vectors(std::move(reply), values), inputs);
}

// ---- tasks that the hub does not have

Answering replaced_tokens(const ServedModel& model, Body& body) {
  bool is_list = false;
  const Inputs inputs = texts_of_inputs(model, body, is_list);
  Parameters parameters(body);
  const EncodingRules rules = rules_of(model, parameters.get(), LongText::kCut);
  const OffsetUnit unit = offsets_of(parameters.get());
  const double threshold = parameters.get().number(field::kThreshold);
  const auto piece_json = [threshold](const ReplacedToken& piece, const std::string&, const OffsetUnits& units) {
    return to_json(piece, units, threshold);
  };
  Answering reply = counted(responding(places_of(model, rules, parameters.get(), inputs).plan([&] {
                              return plan_detect(model.pipeline, inputs.views(), rules);
                            }),
                                       items_of_texts(inputs, unit, is_list, &ReplacedAnswer::pieces, piece_json)),
                            inputs);
  reply.answer_bytes = reply.tokens * kTokenBytes + reply.characters;
  return reply;
}

// The probability of a text, with each of its tokens masked in turn: as many sequences as it has tokens.
Answering text_scoring(const ServedModel& model, Body& body) {
  bool is_list = false;
  const Inputs inputs = texts_of_inputs(model, body, is_list);
  Parameters parameters(body);
  const EncodingRules rules = rules_of(model, parameters.get(), LongText::kCut);
  const OffsetUnit unit = offsets_of(parameters.get());
  const bool has_tokens = parameters.get().flag(field::kTokens);
  const auto answer_json = [=, &tokenizer = model.pipeline.tokenizer,
                            texts = inputs.texts()](const std::vector<TextScoreAnswer>& answers) -> Json {
    JsonArray all;
    for (size_t i = 0; i < answers.size(); ++i) {
      JsonObject score = to_json(answers[i]);
      if (has_tokens) score.emplace_back("tokens", to_json(answers[i].pieces, texts[i], unit, tokenizer));
      all.push_back(std::move(score));
    }
    return one_or_list(std::move(all), is_list);
  };
  Answering reply = counted(answering(places_of(model, rules, parameters.get(), inputs).plan([&] {
                              return plan_score(model.pipeline, inputs.views(), rules);
                            }),
                                      answer_json),
                            inputs);
  reply.answer_bytes = inputs.size() * kScoreBytes;
  if (has_tokens) reply.answer_bytes += reply.plan->sequences.size() * kTokenBytes + reply.characters;
  return reply;
}

Answering sentence_similarity(const ServedModel& model, Body& body) {
  return tei::similarity(model, body, LongText::kCut);
}

// The pointer of the part that makes a sequence too long: the first of context, question and choices that is too long
// with short texts in place of the parts after it.
std::string pointer_of_long_part(const Tokenizer& tokenizer, Body& choice_body, const TextInput& input,
                                 const ChoiceOptions& options) {
  const auto is_refused = [&](std::string_view question, const std::string& choice) {
    const std::vector<std::string> choices{choice, choice};
    TextInput row{.text = input.text, .items = choices};
    if (input.pair) row.pair = question;
    try {
      encode_input(tokenizer, row, options.sequence_rules());
      return false;
    } catch (const Error&) {
      return true;
    }
  };
  constexpr const char* kShort = "a";
  if (is_refused("", kShort)) return choice_body.pointer_of("context");
  if (is_refused(input.pair.value_or(""), kShort)) return choice_body.pointer_of("question");
  for (size_t i = 0; i < input.items.size(); ++i) {
    if (is_refused(input.pair.value_or(""), input.items[i]))
      return fmt::format("{}/{}", choice_body.pointer_of("choices"), i);
  }
  return choice_body.pointer_of("context");
}

Answering multiple_choice(const ServedModel& model, Body& body) {
  Body choice_body = body.part(inputs_of(body), body.pointer_of("inputs"));
  const std::optional<std::string> context = choice_body.text("context"), question = choice_body.text("question");
  if (!context) choice_body.refuse_missing("context");
  const std::vector<std::string> choices = required_texts(model, choice_body, "choices");
  Parameters parameters(body);
  ChoiceOptions options;
  options.rules = rules_of(model, parameters.get(), LongText::kCut);
  TextInput input{.text = *context, .items = choices};
  if (question) input.pair = *question;
  if (choices.size() < 2) choice_body.refuse("choices", fmt::format("expected at least two, got {}", choices.size()));
  Inputs inputs;
  inputs.add(*context, choice_body.pointer_of("context"), question.value_or(""), choice_body.pointer_of("question"));
  const auto plan = [&] {
    try {
      return plan_choose(model.pipeline, {&input, 1}, options);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kTextTooLong) throw;
      const std::string pointer = pointer_of_long_part(model.pipeline.tokenizer, choice_body, input, options);
      Body::refuse_at(pointer, error.message());
    }
  };
  return counted(answering(places_of(model, options.rules, parameters.get(), inputs).plan(plan),
                           [choices](const std::vector<ChoiceAnswer>& answers) -> Json {
                             return to_json(answers.front(), choices);
                           }),
                 inputs);
}

Answering text_ranking(const ServedModel& model, Body& body) {
  Body ranking_body = body.part(inputs_of(body), body.pointer_of("inputs"));
  Parameters parameters(body);
  const bool is_in_parameters = parameters.get().find("truncate") != nullptr;
  Body& rules_body = is_in_parameters ? parameters.get() : ranking_body;
  const bool has_documents = ranking_body.find("documents") != nullptr;
  return has_documents ? cohere::rerank(model, ranking_body, rules_body)
                       : tei::rerank(model, ranking_body, rules_body, LongText::kCut);
}

struct TaskRow {
  std::string_view name;
  Task answer;
};
constexpr std::array kTasks = {
    TaskRow{"text-classification", classification},
    TaskRow{"token-classification", token_classification},
    TaskRow{"entity-extraction", entity_extraction},
    TaskRow{"question-answering", question_answering},
    TaskRow{"fill-mask", fill_mask},
    TaskRow{"text-scoring", text_scoring},
    TaskRow{"replaced-token-detection", replaced_tokens},
    TaskRow{"feature-extraction", feature_extraction},
    TaskRow{"zero-shot-classification", zero_shot_classification},
    TaskRow{"sentence-similarity", sentence_similarity},
    TaskRow{"text-ranking", text_ranking},
    TaskRow{"multiple-choice", multiple_choice},
};

}  // namespace

Task find_task(const std::string& name, std::string_view user_agent) {
  for (const TaskRow& row : kTasks) {
    if (row.name == name && row.answer == zero_shot_classification && reads_pipeline_form(user_agent))
      return zero_shot_for_old_clients;
    if (row.name == name) return row.answer;
  }
  throw ApiError(ApiCode::kNotFound,
                 fmt::format("no task {}; there are {}", quote_json(name), fmt::join(task_names(), ", ")));
}

std::vector<std::string_view> task_names() {
  std::vector<std::string_view> names;
  for (const TaskRow& row : kTasks) names.push_back(row.name);
  return names;
}

std::string own_task(const ServedModel& model) {
  return std::string(facts_of(model.pipeline.model.head()).uses.front().task);
}

Task find_asked_task(const ServedModel& model, Body& body, std::string_view user_agent) {
  if (facts_of(model.pipeline.model.head()).is_per_sequence()) {
    std::optional<Body> parameters = body.object("parameters");
    if (parameters && parameters->find(field::kCandidateLabels.name) != nullptr)
      return find_task("zero-shot-classification", user_agent);
  }
  return find_task(own_task(model), user_agent);
}

Task find_own_task(const ServedModel& model, Body& body, std::string_view user_agent) {
  const Task task = find_asked_task(model, body, user_agent);
  return task == token_classification ? entities : task;
}

}  // namespace deberta::serve::hub

// The routes of text-embeddings-inference.
#include <fmt/format.h>

#include <algorithm>

#include "serve/answering.h"
#include "serve/api_error.h"
#include "serve/fields.h"

namespace deberta::serve::tei {
namespace {

// The field `inputs`: a text or a list of them.
Inputs texts_of_inputs(const ServedModel& model, Body& body) {
  Inputs inputs;
  const Json* value = body.find("inputs");
  if (value == nullptr) body.refuse_missing("inputs");
  if (value->is_string()) {
    inputs.add(value->as_string(), body.pointer_of("inputs"));
  } else {
    inputs.add_all(model, *value, body.pointer_of("inputs"));
  }
  return inputs;
}

// Without the prompt before the texts, the vectors would differ, and no one would notice.
void refuse_prompt(Body& body) {
  if (body.text("prompt_name"))
    body.refuse("prompt_name",
                "expected no name, since the model has no named prompts; put the prompt before the texts");
}

// Adds one text ["a"] or one pair ["a", "b"].
void add_text_or_pair(const Json& value, const std::string& pointer, Inputs& inputs) {
  std::vector<std::string> texts = serve::texts_of(value, pointer);
  if (texts.size() == 1) return inputs.add(std::move(texts[0]), pointer + "/0");
  if (texts.size() == 2) return inputs.add(std::move(texts[0]), pointer + "/0", std::move(texts[1]), pointer + "/1");
  throw ApiError(ApiCode::kValidation, fmt::format("{}: expected one text or a pair, got {}", pointer, texts.size()),
                 pointer);
}

}  // namespace

Answering predict(const ServedModel& model, Body& body) {
  const Json* value = body.find("inputs");
  if (value == nullptr) body.refuse_missing("inputs");
  const std::string pointer = body.pointer_of("inputs");
  Inputs inputs;
  bool is_batch = false;
  if (value->is_string()) {
    inputs.add(value->as_string(), pointer);
  } else if (value->is_array() && !value->as_array().empty() && value->as_array().front().is_array()) {
    is_batch = true;
    check_count(model, value->as_array().size(), pointer);
    for (size_t i = 0; i < value->as_array().size(); ++i)
      add_text_or_pair(value->as_array()[i], fmt::format("{}/{}", pointer, i), inputs);
  } else if (value->is_array() && value->as_array().empty()) {
    check_count(model, 0, pointer);
  } else {
    add_text_or_pair(*value, pointer, inputs);
  }
  SequenceOptions options;
  options.rules = rules_of(model, body, LongText::kRefuse);
  read_windows(model, body, options);
  const OffsetUnit unit = offsets_of(body);
  options.top_k = static_cast<size_t>(std::max<int64_t>(1, model.pipeline.model.labels()));
  if (body.flag(field::kRawScores)) options.function = ScoreFunction::kNone;
  Answering reply = answering(places_of(model, options.rules, body, inputs).plan([&] {
    return plan_classify(model.pipeline, inputs.views(), options);
  }),
                              [=, texts = inputs.texts()](const std::vector<SequenceAnswer>& answers) -> Json {
                                JsonArray all;
                                for (size_t i = 0; i < answers.size(); ++i)
                                  all.push_back(sequence_json(answers[i], texts[i], unit, scored_labels_json));
                                return one_or_list(std::move(all), is_batch);
                              });
  reply.answer_bytes = reply.plan->sequences.size() * options.top_k * kLabelBytes;
  reply.held_bytes = reply.plan->sequences.size() * options.top_k * kHeldLabelBytes;
  return counted(std::move(reply), inputs);
}

Answering rerank(const ServedModel& model, Body& body) {
  return rerank(model, body, body, LongText::kRefuse);
}

Answering rerank(const ServedModel& model, Body& body, Body& parameters, LongText long_text) {
  const std::optional<std::string> query = body.text("query");
  if (!query) body.refuse_missing("query");
  const std::vector<std::string> texts = required_texts(model, body, "texts");
  RankOptions options;
  options.rules = rules_of(model, parameters, long_text);
  const bool has_texts = body.flag(field::kReturnText);
  if (body.flag(field::kRawScores)) options.function = ScoreFunction::kNone;
  const TextInput input{.text = *query, .items = texts};
  const PlacedText placed_query{*query, body.pointer_of("query")};
  Answering reply =
      answering(places_of(model, options.rules, parameters, placed_query, texts, body.pointer_of("texts")).plan([&] {
        return plan_rerank(model.pipeline, {&input, 1}, options);
      }),
                [has_texts, documents = texts](const std::vector<RankAnswer>& answers) -> Json {
                  JsonArray all;
                  for (const RankedDocument& document : answers.front().documents) {
                    JsonObject result{{"index", uint64_t{document.index}}, {"score", document.score}};
                    if (has_texts) result.emplace_back("text", documents[document.index]);
                    all.push_back(std::move(result));
                  }
                  return all;
                });
  return counted(std::move(reply), *query, texts);
}

Answering embed(const ServedModel& model, Body& body) {
  return embed(model, body, LongText::kRefuse);
}

Answering embed(const ServedModel& model, Body& body, LongText long_text) {
  const Inputs inputs = texts_of_inputs(model, body);
  EmbeddingOptions options;
  options.rules = rules_of(model, body, long_text);
  const VectorCut cut(model, body, body.flag(field::kNormalize), options);
  refuse_prompt(body);
  const size_t columns = cut.columns(embedding_columns(model.pipeline, options));
  Answering reply = responding(places_of(model, options.rules, body, inputs).plan([&] {
    return plan_embed(model.pipeline, inputs.views(), options);
  }),
                               [cut, columns](std::vector<EmbeddingAnswer> answers) {
                                 for (EmbeddingAnswer& answer : answers) cut.apply(answer.vectors);
                                 const auto vectors = std::make_shared<const VectorTexts>(std::move(answers), columns);
                                 return parts_response(
                                     "[", vectors->rows(),
                                     [vectors](size_t i, std::string& out) { vectors->add_row(i, "", "", out); }, "]");
                               });
  return counted(of_vectors(std::move(reply), inputs.size() * columns), inputs);
}

Answering embed_all(const ServedModel& model, Body& body) {
  const Inputs inputs = texts_of_inputs(model, body);
  EmbeddingOptions options;
  options.rules = rules_of(model, body, LongText::kRefuse);
  options.pools = false;
  refuse_prompt(body);
  const size_t columns = embedding_columns(model.pipeline, options);
  Answering reply = responding(
      places_of(model, options.rules, body, inputs).plan([&] {
        return plan_embed(model.pipeline, inputs.views(), options);
      }),
      [columns](std::vector<EmbeddingAnswer> answers) {
        const auto vectors = std::make_shared<const VectorTexts>(std::move(answers), columns);
        return parts_response(
            "[", vectors->rows(), [vectors](size_t i, std::string& out) { vectors->add_row(i, "[", "]", out); }, "]");
      });
  const size_t values = reply.tokens * columns;
  return counted(of_vectors(std::move(reply), values), inputs);
}

Answering similarity(const ServedModel& model, Body& body) {
  return similarity(model, body, LongText::kRefuse);
}

Answering similarity(const ServedModel& model, Body& body, LongText long_text) {
  std::optional<Body> inputs = body.object("inputs");
  if (!inputs) body.refuse_missing("inputs");
  const std::optional<std::string> source = inputs->text("source_sentence");
  if (!source) inputs->refuse_missing("source_sentence");
  const std::vector<std::string> sentences = required_texts(model, *inputs, "sentences");
  SimilarityOptions options;
  std::optional<Body> parameters = body.object("parameters");
  options.embedding.rules = rules_of(model, parameters ? *parameters : body, long_text);
  const TextInput input{.text = *source, .items = sentences};
  Inputs placed;  // each is read by itself
  placed.add(*source, inputs->pointer_of("source_sentence"));
  placed.add_all(sentences, inputs->pointer_of("sentences"));
  Answering reply =
      answering(places_of(model, options.embedding.rules, parameters ? *parameters : body, placed).plan([&] {
        return plan_similarity(model.pipeline, {&input, 1}, options);
      }),
                [](const std::vector<SimilarityAnswer>& answers) { return vector_json(answers.front().cosines); });
  return counted(std::move(reply), *source, sentences);
}

namespace {

// Texts and their tokens, which an answer lists one by one.
struct TokenTexts {
  std::vector<std::string> texts;
  std::vector<Encoding> encodings;
  std::vector<OffsetUnits> units;
  std::vector<size_t> counts;  // tokens of each
};

Json token_json(const TokenTexts& all, const Tokenizer& tokenizer, size_t text, size_t i) {
  const Encoding& encoding = all.encodings[text];
  const bool is_special = encoding.is_special[i] != 0;
  const Offset bytes = encoding.bytes[i], offset = all.units[text].convert(encoding.chars[i], bytes);
  const std::string_view piece = is_special
                                     ? tokenizer.piece(encoding.ids[i])
                                     : std::string_view(all.texts[text]).substr(bytes.begin, bytes.end - bytes.begin);
  return JsonObject{{"id", int64_t{encoding.ids[i]}},
                    {"text", piece},
                    {"special", is_special},
                    {"start", is_special ? Json() : Json(int64_t{offset.begin})},
                    {"stop", is_special ? Json() : Json(int64_t{offset.end})}};
}

}  // namespace

Answering tokenize(const ServedModel& model, Body& body) {
  const Inputs inputs = texts_of_inputs(model, body);
  EncodeOptions options;
  options.most_tokens = model.most_tokens;
  options.add_special_tokens = body.flag(field::kAddSpecialTokens);
  refuse_prompt(body);
  const OffsetUnit unit = offsets_of(body);
  const Tokenizer& tokenizer = model.pipeline.tokenizer;
  auto texts = std::make_shared<TokenTexts>();
  size_t tokens = 0;
  EncodingRules rules;
  rules.encode = options;
  const Places places = places_of(model, rules, body, inputs);
  for (const TextInput& input : inputs.views()) {
    texts->units.emplace_back(unit, texts->texts.emplace_back(input.text));
    texts->encodings.push_back(places.plan([&] { return tokenizer.encode(input.text, options); }));
    texts->counts.push_back(texts->encodings.back().size());
    tokens += texts->counts.back();
    options.most_tokens -= std::min(options.most_tokens, texts->counts.back());
  }
  Answering reply;
  reply.answer_bytes = tokens * kTokenBytes + inputs.characters();
  reply.held_bytes = tokens * kEncodedBytes + inputs.characters();
  reply.respond = [texts, &tokenizer] {
    return lists_response(lists_of_texts(texts->counts, true), [texts, &tokenizer](size_t text, size_t i) {
      return token_json(*texts, tokenizer, text, i);
    });
  };
  return counted(std::move(reply), inputs);
}

namespace {

std::vector<int32_t> ids_of(const Json& value, const std::string& pointer, const Tokenizer& tokenizer) {
  std::vector<int32_t> ids;
  for (const Json& element : value.as_array()) {
    if (!element.is_integer() || element.as_integer() < 0 ||
        element.as_integer() >= static_cast<int64_t>(tokenizer.size()))
      Body::refuse_at(fmt::format("{}/{}", pointer, ids.size()),
                      fmt::format("expected a token id below {}, got {}", tokenizer.size(), element.describe()));
    ids.push_back(static_cast<int32_t>(element.as_integer()));
  }
  return ids;
}

}  // namespace

Answering decode(const ServedModel& model, Body& body) {
  const Json* value = body.find("ids");
  if (value == nullptr) body.refuse_missing("ids");
  if (!value->is_array()) body.refuse("ids", fmt::format("expected an array of token ids, got {}", value->describe()));
  const std::string pointer = body.pointer_of("ids");
  const JsonArray& all = value->as_array();
  const bool skips = body.flag(field::kSkipSpecialTokens);
  const Tokenizer& tokenizer = model.pipeline.tokenizer;
  JsonArray texts;
  if (!all.empty() && !all.front().is_array()) {  // the ids of one text
    texts.push_back(tokenizer.decode(ids_of(*value, pointer, tokenizer), skips));
  } else {
    check_count(model, all.size(), pointer);
    for (size_t i = 0; i < all.size(); ++i) {
      const std::string at = fmt::format("{}/{}", pointer, i);
      if (!all[i].is_array()) Body::refuse_at(at, fmt::format("expected an array, got {}", all[i].describe()));
      texts.push_back(tokenizer.decode(ids_of(all[i], at, tokenizer), skips));
    }
  }
  Answering reply;
  reply.items = texts.size();
  for (const Json& text : texts) reply.answer_bytes += text.as_string().size();
  reply.respond = [texts = std::move(texts)] { return json_response(texts); };
  return reply;
}

}  // namespace deberta::serve::tei

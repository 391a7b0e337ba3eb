// Keys as in docs/reference/output.md, in the order most useful to a reader.
#include "pipeline/answer_json.h"

#include <utility>

#include "base/ascii.h"

namespace deberta {
namespace {

JsonArray to_array(std::span<const float> values) {
  return JsonArray(values.begin(), values.end());
}

void add_span(JsonObject& object, const Offset& span) {
  object.emplace_back("start", int64_t{span.begin});
  object.emplace_back("end", int64_t{span.end});
}

}  // namespace

JsonArray to_json(const std::vector<LabelScore>& labels) {
  JsonArray listed;
  for (const LabelScore& entry : labels) listed.push_back(JsonObject{{"label", entry.label}, {"score", entry.score}});
  return listed;
}

JsonObject to_json(const SequenceAnswer& answer) {
  const LabelScore& best = answer.labels.front();
  JsonObject object{{"label", best.label}, {"score", best.score}, {"labels", to_json(answer.labels)}};
  if (answer.windows.empty()) return object;
  JsonArray windows;
  for (const WindowAnswer& window : answer.windows) {
    JsonObject part;
    add_span(part, window.chars);
    part.emplace_back("labels", to_json(window.labels));
    windows.push_back(std::move(part));
  }
  object.emplace_back("windows", std::move(windows));
  return object;
}

JsonObject to_json(const EntailmentAnswer& answer) {
  JsonObject object{{"label", answer.label}};
  for (const LabelScore& relation : answer.relations) object.emplace_back(relation.label, relation.score);
  return object;
}

JsonObject to_json(const ZeroShotAnswer& answer, const std::string& text) {
  JsonArray labels, scores;
  for (const LabelScore& label : answer.labels) {
    labels.push_back(label.label);
    scores.push_back(label.score);
  }
  return {{"sequence", text}, {"labels", std::move(labels)}, {"scores", std::move(scores)}};
}

JsonObject to_json(const Entity& entity, const std::string& text, const OffsetUnits& units, bool is_grouped) {
  JsonObject object{{is_grouped ? "entity_group" : "entity", entity.label},
                    {"score", entity.score},
                    {"word", text.substr(entity.bytes.begin, entity.bytes.end - entity.bytes.begin)}};
  add_span(object, units.convert(entity.chars, entity.bytes));
  if (!is_grouped) object.emplace_back("index", static_cast<uint64_t>(entity.first_token));
  return object;
}

JsonObject to_json(const TokenAnswer& answer, const std::string& text, OffsetUnit unit, bool is_grouped) {
  const OffsetUnits units(unit, text);
  JsonArray entities;
  for (const Entity& entity : answer.entities) entities.push_back(to_json(entity, text, units, is_grouped));
  return {{"entities", std::move(entities)}};
}

std::vector<SpanAnswer> spans_of(const QuestionAnswer& answer) {
  if (!answer.answers.empty()) return answer.answers;
  return {{{}, answer.null_score, answer.null_logit, {}, {}}};
}

JsonObject to_json(const QuestionAnswer& answer, const std::string& context, OffsetUnit unit, bool has_all) {
  const OffsetUnits units(unit, context);
  JsonArray objects;
  for (const SpanAnswer& span : spans_of(answer)) {
    JsonObject object{{"answer", span.text}, {"score", span.score}};
    add_span(object, units.convert(span.chars, span.bytes));
    objects.push_back(std::move(object));
  }
  JsonObject best = objects.front().as_object();
  if (has_all) best.emplace_back("answers", std::move(objects));
  return best;
}

JsonObject to_json(const ChoiceAnswer& answer, std::span<const std::string> choices) {
  return {{"index", uint64_t{answer.index}}, {"choice", choices[answer.index]}, {"scores", to_array(answer.scores)}};
}

JsonObject to_json(const RankAnswer& answer, const std::string& query, std::span<const std::string> documents,
                   bool has_texts) {
  JsonArray results;
  for (const RankedDocument& document : answer.documents) {
    JsonObject object{{"index", uint64_t{document.index}}, {"score", document.score}};
    if (has_texts) object.emplace_back("text", documents[document.index]);
    add_marks({document.cut_tokens, is_white(documents[document.index])}, object);
    results.push_back(std::move(object));
  }
  return {{"query", query}, {"results", std::move(results)}};
}

JsonObject to_json(const EmbeddingAnswer& answer, size_t columns, bool is_pooled) {
  JsonArray rows;
  for (size_t at = 0; at < answer.vectors.size(); at += columns)
    rows.push_back(to_array(std::span(answer.vectors).subspan(at, columns)));
  if (is_pooled) return {{"embedding", std::move(rows.front())}};
  return {{"token_embeddings", std::move(rows)}};
}

JsonObject to_json(const SimilarityAnswer& answer) {
  return {{"similarity", answer.cosines.front()}};
}

JsonObject to_json(const FillAnswer& answer) {
  JsonArray masks;
  for (const FillAnswer::Mask& mask : answer.masks) {
    JsonArray tokens;
    for (const FilledToken& token : mask.tokens) {
      tokens.push_back(JsonObject{{"token_str", token.token_str},
                                  {"token", int64_t{token.token}},
                                  {"piece", token.piece},
                                  {"score", token.score},
                                  {"logit", token.logit},
                                  {"sequence", token.sequence}});
    }
    masks.push_back(JsonObject{{"position", static_cast<uint64_t>(mask.position)}, {"tokens", std::move(tokens)}});
  }
  return {{"masks", std::move(masks)}};
}

JsonObject to_json(const TextScoreAnswer& answer) {
  return {{"perplexity", static_cast<float>(answer.perplexity)},
          {"word_perplexity", static_cast<float>(answer.word_perplexity)},
          {"log_probability", static_cast<float>(answer.log_probability)},
          {"pieces", uint64_t{answer.pieces.size()}}};
}

JsonArray to_json(std::span<const TextScoreAnswer::Token> pieces, const std::string& text, OffsetUnit unit,
                  const Tokenizer& tokenizer) {
  const OffsetUnits units(unit, text);
  JsonArray tokens;
  for (const TextScoreAnswer::Token& piece : pieces) {
    JsonObject object{{"piece", std::string(tokenizer.piece(piece.token))},
                      {"token", int64_t{piece.token}},
                      {"log_probability", piece.log_probability}};
    add_span(object, units.convert(piece.chars, piece.bytes));
    tokens.push_back(std::move(object));
  }
  return tokens;
}

JsonObject to_json(const ReplacedToken& piece, const OffsetUnits& units, double threshold) {
  JsonObject object{{"piece", piece.piece},
                    {"token", int64_t{piece.token}},
                    {"score", piece.score},
                    {"logit", piece.logit},
                    {"replaced", piece.score >= threshold}};
  add_span(object, units.convert(piece.chars, piece.bytes));
  return object;
}

JsonObject to_json(const ReplacedAnswer& answer, const std::string& text, OffsetUnit unit, double threshold) {
  const OffsetUnits units(unit, text);
  JsonArray tokens;
  for (const ReplacedToken& piece : answer.pieces) tokens.push_back(to_json(piece, units, threshold));
  return {{"tokens", std::move(tokens)}};
}

JsonObject to_json(const Encoding& encoding, std::string_view text, std::optional<std::string_view> pair,
                   OffsetUnit unit, const Tokenizer& tokenizer) {
  const OffsetUnits first(unit, text), second(unit, pair.value_or(""));
  JsonArray ids, pieces, spans, types;
  for (JsonArray* values : {&ids, &pieces, &spans}) values->reserve(encoding.size());
  for (size_t i = 0; i < encoding.size(); ++i) {
    const Offset span = (i < encoding.second_begin ? first : second).convert(encoding.chars[i], encoding.bytes[i]);
    ids.emplace_back(int64_t{encoding.ids[i]});
    pieces.emplace_back(tokenizer.piece(encoding.ids[i]));
    JsonArray ends;
    ends.reserve(2);
    ends.emplace_back(int64_t{span.begin});
    ends.emplace_back(int64_t{span.end});
    spans.emplace_back(std::move(ends));
    if (pair) types.emplace_back(int64_t{encoding.type_ids[i]});
  }
  JsonObject object{{"ids", std::move(ids)}, {"tokens", std::move(pieces)}, {"offsets", std::move(spans)}};
  if (pair) object.emplace_back("type_ids", std::move(types));
  return object;
}

void add_marks(const TextMarks& marks, JsonObject& object) {
  if (marks.cut_tokens > 0) object.emplace_back(kCutTokensKey, uint64_t{marks.cut_tokens});
  if (marks.is_of_empty_text) object.emplace_back(kEmptyKey, true);
}

bool is_of_empty_text(const TextInput& input, size_t tokens, size_t tokens_of_nothing) {
  if (input.pair && input.items.empty() && is_white(*input.pair)) return true;
  return is_white(input.text) || (!input.pair && input.items.empty() && tokens <= tokens_of_nothing);
}

}  // namespace deberta

// Entities by labels of the request's own, as the clients of the package gliner and NeMo Guardrails ask for them; texts
// without their entities, and back.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "base/utf8.h"
#include "decode/chunks.h"
#include "decode/redaction.h"
#include "serve/answering.h"
#include "serve/api_error.h"
#include "serve/extraction.h"
#include "serve/fields.h"

namespace deberta::serve::gliner {
namespace {

constexpr std::string_view kPersonalData = "pii";
constexpr size_t kPlaceholderBytes = 320;  // memory of a placeholder and its entity, beside their texts

// The field `text`, or the list `texts`; `is_list` says which.
Inputs texts_of(const ServedModel& model, Body& body, bool& is_list) {
  const std::optional<std::string> text = body.text("text");
  const Json* texts = body.find("texts");
  if (text && texts != nullptr) body.refuse("texts", "expected either text or texts, got both");
  if (!text && texts == nullptr) body.refuse_missing("text");
  is_list = !text;
  Inputs inputs;
  if (text) {
    inputs.add(*text, body.pointer_of("text"));
    return inputs;
  }
  const std::string pointer = body.pointer_of("texts");
  inputs.add_all(listed_texts(model, *texts, pointer), pointer);
  return inputs;
}

std::string_view words_of(const Entity& entity, std::string_view text) {
  return text.substr(entity.bytes.begin, entity.bytes.end - entity.bytes.begin);
}

// ---- POST /gliner

// The members of an answer that come with `redact`, as they stand behind others. Placeholders are those of all texts of
// the request, so that those of its answers never contradict each other.
std::string redacted_members(const Redaction& redaction, const Redactor& redactor) {
  JsonObject placeholders;
  for (const size_t entry : redaction.entries) {
    const auto& [placeholder, entity] = redactor.entries()[entry];
    placeholders.emplace_back(placeholder, entity);
  }
  return fmt::format(R"(, "redacted_text": {}, "map": {})", quote_json(redaction.text),
                     Json(std::move(placeholders)).dump());
}

// How entities() answers.
struct AnswerForm {
  bool is_list = false;
  bool has_redaction = false;
  OffsetUnit unit = OffsetUnit::kChars;
};

// An object for each text, whose entities are written one by one.
std::vector<WrittenList> written_lists(const std::vector<std::string>& texts, const std::vector<TokenAnswer>& answers,
                                       const AnswerForm& form) {
  std::vector<WrittenList> lists;
  Redactor redactor;
  for (size_t i = 0; i < texts.size(); ++i) {
    WrittenList& list = lists.emplace_back(WrittenList{R"({"entities": [)", answers[i].entities.size(), "]"});
    if (form.has_redaction) list.end += redacted_members(redactor.redact(texts[i], answers[i].entities), redactor);
    list.end += "}";
    if (form.is_list) list.begin.insert(0, i == 0 ? "[" : ", ");
  }
  if (form.is_list) lists.back().end += "]";
  return lists;
}

Json entity_json(const Entity& entity, std::string_view text, const OffsetUnits& units) {
  const Offset place = units.convert(entity.chars, entity.bytes);
  return JsonObject{{"start", int64_t{place.begin}},
                    {"end", int64_t{place.end}},
                    {"text", words_of(entity, text)},
                    {"label", entity.label},
                    {"score", entity.score}};
}

HttpResponse entities_response(const std::shared_ptr<const std::vector<std::string>>& texts,
                               std::vector<TokenAnswer> made, const AnswerForm& form) {
  std::vector<WrittenList> lists = written_lists(*texts, made, form);
  std::vector<OffsetUnits> units;
  for (const std::string& text : *texts) units.emplace_back(form.unit, text);
  return lists_response(
      std::move(lists),
      [texts, answers = std::make_shared<const std::vector<TokenAnswer>>(std::move(made)),
       units = std::make_shared<const std::vector<OffsetUnits>>(std::move(units))](size_t text, size_t item) {
        return entity_json((*answers)[text].entities[item], (*texts)[text], (*units)[text]);
      });
}

// What `redact` adds: a placeholder for each entity, and for what only looks like one.
Answering with_redaction(Answering reply, const Inputs& inputs, const EntityBounds& bounds) {
  size_t placeholders = bounds.entities;
  for (const PlacedText& text : inputs.placed())
    placeholders += static_cast<size_t>(std::ranges::count(text.text, '['));
  const size_t names = placeholders * (bounds.name_bytes + kLabelBytes), texts = inputs.characters();
  reply.answer_bytes += 2 * names + 2 * texts;
  *reply.held_bytes += placeholders * kPlaceholderBytes + 3 * names + 5 * texts;
  return reply;
}

}  // namespace

Answering entities(const ServedModel& model, Body& body) {
  AnswerForm form;
  const Inputs inputs = texts_of(model, body, form.is_list);
  AskedLabels labels = labels_of(model, body, "labels", inputs.size());
  AskedEntities asked = asked_entities(inputs, std::move(labels), extract_options(model, body, field::kFlatNer));
  if (body.find("adapter_id") != nullptr) body.refuse("adapter_id", "expected none: no model here has adapters");
  form.has_redaction = body.flag(field::kRedact);
  form.unit = offsets_of(body);
  const auto texts = std::make_shared<const std::vector<std::string>>(inputs.texts());
  Answering reply = counted(responding(plan_entities(model, asked),
                                       [texts, form](std::vector<TokenAnswer> answers) {
                                         return entities_response(texts, std::move(answers), form);
                                       }),
                            inputs);
  const EntityBounds bounds = bounds_of(*reply.plan, model, asked);
  reply = sized(std::move(reply), model, asked, bounds);
  return form.has_redaction ? with_redaction(std::move(reply), inputs, bounds) : reply;
}

// ---- POST /gliner/restore

namespace {

PlaceholderMap map_of(Body& body) {
  const Json* value = body.find("map");
  if (value == nullptr) body.refuse_missing("map");
  const Body map(*value, body.pointer_of("map"));  // throws for another kind
  PlaceholderMap entities;
  for (const auto& [placeholder, entity] : value->as_object()) {
    if (!entity.is_string()) map.refuse(placeholder, fmt::format("expected a string, got {}", entity.describe()));
    entities.emplace(placeholder, entity.as_string());
  }
  return entities;
}

// Bytes of the restored texts in JSON: escapes change no placeholder.
size_t written_bytes(const Inputs& inputs, const PlaceholderMap& entities) {
  PlaceholderMap quoted;
  for (const auto& [placeholder, entity] : entities) {
    const std::string text = quote_json(entity);
    quoted.emplace(placeholder, text.substr(1, text.size() - 2));
  }
  size_t bytes = 0;
  for (const PlacedText& text : inputs.placed()) bytes += restored_bytes(quote_json(text.text), quoted);
  return bytes;
}

size_t memory_of(const PlaceholderMap& entities) {
  size_t bytes = 0;
  for (const auto& [placeholder, entity] : entities) bytes += kPlaceholderBytes + placeholder.size() + entity.size();
  return bytes;
}

}  // namespace

Answering restore(const ServedModel& model, Body& body) {
  bool is_list = false;
  const Inputs inputs = texts_of(model, body, is_list);
  const auto entities = std::make_shared<const PlaceholderMap>(map_of(body));
  const auto texts = std::make_shared<const std::vector<std::string>>(inputs.texts());
  Answering reply;
  reply.answer_bytes = written_bytes(inputs, *entities) + inputs.size() * kLabelBytes;
  reply.held_bytes = 3 * reply.answer_bytes + memory_of(*entities);  // a text is there three times while it is written
  reply.respond = [texts, entities, is_list] {
    const auto write = [texts, entities](size_t i, std::string& out) {
      if (i > 0) out += ", ";
      out += fmt::format(R"({{"text": {}}})", quote_json(restore_text((*texts)[i], *entities)));
    };
    return parts_response(is_list ? "[" : "", texts->size(), write, is_list ? "]" : "");
  };
  return counted(std::move(reply), inputs);
}

// ---- POST /v1/extract

namespace {

// As that server cuts a text, but for what would lie within the chunk before it.
std::vector<Chunk> chunks_of(const ServedModel& model, Body& body, std::string_view text) {
  const int64_t length = body.whole_or_default(field::kChunkLength);
  const std::optional<int64_t> given = body.whole(field::kOverlap);
  const int64_t overlap = given.value_or(std::min(field::kOverlap.default_number(), length / 3));
  if (overlap >= length)
    body.refuse(field::kOverlap.name,
                fmt::format("expected less than {}, the {}, got {}", length, field::kChunkLength.name, overlap));
  const auto size = static_cast<size_t>(length), shared = static_cast<size_t>(overlap);
  const size_t count = count_chunks(count_code_points(text), size, shared);
  if (count > model.max_client_batch)
    throw ApiError(ApiCode::kBatchTooLarge,
                   fmt::format("{}: expected at most {} chunks, got {}; a larger {} makes fewer",
                               body.pointer_of("text"), model.max_client_batch, count, field::kChunkLength.name),
                   body.pointer_of("text"));
  return cut_chunks(text, size, shared);
}

Json nemo_json(const Entity& entity, std::string_view text) {
  return JsonObject{{"value", words_of(entity, text)},
                    {"suggested_label", entity.label},
                    {"start_position", int64_t{entity.chars.begin}},
                    {"end_position", int64_t{entity.chars.end}},
                    {"score", entity.score}};
}

HttpResponse extracted_response(const std::shared_ptr<const std::string>& text, const std::vector<Chunk>& chunks,
                                std::vector<TokenAnswer> answers) {
  std::vector<Entity> all;
  for (size_t i = 0; i < chunks.size(); ++i) {
    move_entities(answers[i].entities, chunks[i]);
    std::ranges::move(answers[i].entities, std::back_inserter(all));
  }
  answers.clear();
  const auto found = std::make_shared<const std::vector<Entity>>(outermost_entities(std::move(all)));
  std::string end = fmt::format(R"(], "total_entities": {}, "tagged_text": {}}})", found->size(),
                                quote_json(tag_entities(*text, *found)));
  return lists_response({{R"({"entities": [)", found->size(), std::move(end)}},
                        [text, found](size_t, size_t item) { return nemo_json((*found)[item], *text); });
}

}  // namespace

Answering extract(const ServedModel& model, Body& body) {
  const std::optional<std::string> given = body.text("text");
  if (!given) body.refuse_missing("text");
  const auto text = std::make_shared<const std::string>(*given);
  const std::string pointer = body.pointer_of("text");
  AskedEntities asked{.pointer = [&pointer](size_t) { return pointer; },
                      .labels = labels_of(model, body, "labels", 1, kPersonalData),
                      .options = extract_options(model, body, field::kFlatNerOfNemo)};
  asked.labels.are_by_text = false;  // all chunks are of the one text
  const std::vector<Chunk> chunks = chunks_of(model, body, *text);
  for (const Chunk& chunk : chunks)
    asked.texts.push_back({std::string_view(*text).substr(chunk.bytes.begin, chunk.bytes.end - chunk.bytes.begin)});
  Answering reply = responding(plan_entities(model, asked), [text, chunks](std::vector<TokenAnswer> answers) {
    return extracted_response(text, chunks, std::move(answers));
  });
  const EntityBounds bounds = bounds_of(*reply.plan, model, asked);
  reply = sized(std::move(reply), model, asked, bounds);
  const size_t tagged = text->size() + bounds.entities * (bounds.name_bytes + 4);
  reply.answer_bytes += tagged;
  *reply.held_bytes += bounds.entities * (sizeof(Entity) + bounds.name_bytes) + 2 * tagged;
  reply.items = 1;
  reply.characters = text->size();
  return reply;
}

}  // namespace deberta::serve::gliner

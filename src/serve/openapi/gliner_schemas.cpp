// Bodies and answers of entities by labels of the request's own.
#include <utility>

#include "serve/openapi/schema.h"
#include "serve/openapi/schemas.h"

namespace deberta::serve::openapi {
namespace {

using namespace field;

Json strings_by_name(Json schema) {
  return JsonObject{{"type", "object"}, {"additionalProperties", std::move(schema)}};
}

Json labels() {
  return described(any_of({list_of(string()), named("LabelDescriptions"), list_of(named("LabelSet"))}),
                   "labels, or an object of labels with their descriptions; or a list with one of these for each text");
}

Property one_text() {
  return optional("text", or_null(string()));
}
Property several_texts() {
  return optional("texts", or_null(described(list_of(string(), 1), "in place of `text`; the answer is then a list")));
}

Json gliner_request() {
  return request({one_text(), several_texts(), optional("labels", or_null(labels()))},
                 {&kPreset, &kSpanThreshold, &kFlatNer, &kMultiLabelSpans, &kJoin, &kRedact, &kOffsets, &kModel});
}

Json gliner_entities() {
  return closed({{"entities", list_of(named("GlinerEntity"))},
                 optional("redacted_text", string()),
                 optional("map", named("PlaceholderMap"))});
}

Json gliner_entity() {
  return closed({{"start", count()}, {"end", count()}, {"text", string()}, {"label", string()}, {"score", number()}});
}

Json extract_request() {
  return request(
      {{"text", string()}, optional("labels", or_null(named("LabelSet")))},
      {&kPreset, &kSpanThreshold, &kChunkLength, &kOverlap, &kFlatNerOfNemo, &kMultiLabelSpans, &kJoin, &kModel});
}

Json extract_response() {
  return closed({{"entities", list_of(named("ExtractedEntity"))},
                 {"total_entities", count()},
                 {"tagged_text", described(string(), "with [entity](label) in place of each entity")}});
}

Json extracted_entity() {
  return closed({{"value", string()},
                 {"suggested_label", string()},
                 {"start_position", count()},
                 {"end_position", count()},
                 {"score", number()}});
}

}  // namespace

JsonObject gliner_schemas() {
  return {
      {"GlinerRequest", gliner_request()},
      {"LabelDescriptions", described(strings_by_name(or_null(string())),
                                      "labels with their descriptions; null or empty: the label itself")},
      {"LabelSet", any_of({list_of(string()), named("LabelDescriptions")})},
      {"GlinerResponse", any_of({named("GlinerEntities"), list_of(named("GlinerEntities"))})},
      {"GlinerEntities", gliner_entities()},
      {"GlinerEntity", gliner_entity()},
      {"PlaceholderMap", described(strings_by_name(string()), "placeholders, and the entities that they stand for")},
      {"RestoreRequest", request({one_text(), several_texts(), {"map", named("PlaceholderMap")}}, {&kModel})},
      {"RestoreResponse", any_of({named("RestoredText"), list_of(named("RestoredText"))})},
      {"RestoredText", closed({{"text", string()}})},
      {"ExtractRequest", extract_request()},
      {"ExtractResponse", extract_response()},
      {"ExtractedEntity", extracted_entity()},
  };
}

}  // namespace deberta::serve::openapi

// Each function makes one form of schema; descriptions of fields come from the table of parameters.
#include "serve/openapi/schema.h"

#include <fmt/format.h>

namespace deberta::serve::openapi {

Json string() {
  return JsonObject{{"type", "string"}};
}
Json number() {
  return JsonObject{{"type", "number"}};
}
Json integer() {
  return JsonObject{{"type", "integer"}};
}
Json count() {
  return JsonObject{{"type", "integer"}, {"minimum", 0}};
}
Json ordinal() {
  return JsonObject{{"type", "integer"}, {"minimum", 1}};
}
Json boolean() {
  return JsonObject{{"type", "boolean"}};
}

Json list_of(Json items, size_t least) {
  JsonObject list{{"type", "array"}, {"items", std::move(items)}};
  if (least > 0) list.emplace_back("minItems", uint64_t{least});
  return list;
}

Json words(const std::vector<std::string_view>& all) {
  return JsonObject{{"type", "string"}, {"enum", JsonArray(all.begin(), all.end())}};
}

Json constant(Json value) {
  return JsonObject{{"const", std::move(value)}};
}

Json any_of(JsonArray schemas) {
  return JsonObject{{"anyOf", std::move(schemas)}};
}

Json named(std::string_view name) {
  return JsonObject{{"$ref", fmt::format("#/components/schemas/{}", name)}};
}

Json or_null(Json schema) {
  return any_of({std::move(schema), JsonObject{{"type", "null"}}});
}

Json any_object() {
  return JsonObject{{"type", "object"}, {"additionalProperties", true}};
}

Json described(Json schema, std::string_view text) {
  schema.as_object().emplace_back("description", text);
  return schema;
}

Json object(const std::vector<Property>& properties) {
  JsonObject members;
  JsonArray needed;
  for (const Property& property : properties) {
    members.emplace_back(property.name, property.schema);
    if (property.is_needed) needed.emplace_back(property.name);
  }
  JsonObject schema{{"type", "object"}, {"properties", std::move(members)}};
  if (!needed.empty()) schema.emplace_back("required", std::move(needed));
  return schema;
}

Json closed(const std::vector<Property>& properties) {
  Json schema = object(properties);
  schema.as_object().emplace_back("additionalProperties", false);
  return schema;
}

namespace {

// No schema has the largest value: it depends on the model.
Json kind_of(const Field& field) {
  switch (field.type()) {
    case ParameterType::kFlag: {
      JsonObject flag{{"type", "boolean"}};
      if (field.is_on()) flag.emplace_back("default", true);
      return flag;
    }
    case ParameterType::kInteger:
      return JsonObject{{"type", "integer"}, {"minimum", field.low()}};
    case ParameterType::kNumber:
      return number();
    case ParameterType::kWord:
      return words(words_of(field));
    case ParameterType::kTexts:
      return list_of(string());
    case ParameterType::kText:
      return string();
  }
  return {};
}

std::string description_of(const Field& field) {
  const std::string_view text = field.own_text.empty() ? field.row.text : field.own_text;
  return fmt::format("{}{}{}", with_names(text, [](std::string_view name) { return std::string(name); }), field.more,
                     field.type() == ParameterType::kWord ? "; in any case of letters" : "");
}

}  // namespace

Json words_schema(const Field& field) {
  return described(kind_of(field), description_of(field));
}

Json field_schema(const Field& field) {
  return field.schema.empty() ? words_schema(field) : named(field.schema);
}

Json request(std::vector<Property> properties, std::initializer_list<const Field*> fields) {
  for (const Field* field : fields) properties.push_back(optional(field->name, or_null(field_schema(*field))));
  return object(properties);
}

}  // namespace deberta::serve::openapi

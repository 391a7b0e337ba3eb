// Pieces of JSON Schema, of which the OpenAPI document is made.
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "serve/fields.h"

namespace deberta::serve::openapi {

Json string();
Json number();
Json integer();
Json count();    // a whole number, not below 0
Json ordinal();  // a whole number, from 1
Json boolean();
Json list_of(Json items, size_t least = 0);  // `least`: the lowest number of items
Json words(const std::vector<std::string_view>& all);
Json constant(Json value);
Json any_of(JsonArray schemas);
Json named(std::string_view name);  // a reference into components/schemas
Json or_null(Json schema);
Json any_object();
Json described(Json schema, std::string_view text);

// A member of an object.
struct Property {
  std::string_view name;
  Json schema;
  bool is_needed = true;
};
inline Property optional(std::string_view name, Json schema) {
  return {name, std::move(schema), false};
}

Json object(const std::vector<Property>& properties);
Json closed(const std::vector<Property>& properties);  // an object without other members

// The schema of a parameter, from its row and its field; a reference where its words have a schema of their own.
Json field_schema(const Field& field);
Json words_schema(const Field& field);
// A body: the members that it must have, and fields, each of which may be absent or null.
Json request(std::vector<Property> properties, std::initializer_list<const Field*> fields);

}  // namespace deberta::serve::openapi

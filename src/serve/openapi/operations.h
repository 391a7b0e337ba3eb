// The text of each route in the OpenAPI document; method, dialect and keys come from the table of routes.
#pragma once
#include <span>
#include <string_view>

namespace deberta::serve::openapi {

struct Operation {
  std::string_view path, tag, summary, id;
  std::string_view request = {}, example = {};  // for POST: the name of its schema, and a body as JSON
  std::string_view answer = {};                 // the name of its schema; or media types: "text/html|text/css"
  bool only_reads = false;                      // a request that runs no model: it ends at once, with an answer
};

std::span<const std::string_view> all_tags();  // in the order of the page of routes
std::span<const Operation> all_operations();

// A value in the query of a URL.
struct QueryValue {
  std::string_view path, name;
  std::string_view schema;  // as JSON
  std::string_view text = {};
  bool may_be_wrong = true;  // answered with 422; false: with 404, as no such thing exists
};
std::span<const QueryValue> all_query_values();

}  // namespace deberta::serve::openapi

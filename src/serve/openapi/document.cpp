// Puts the parts together. The statuses of a route follow from its method, its scope and its handler.
#include "serve/openapi/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include "deberta/error.h"
#include "serve/openapi/operations.h"
#include "serve/openapi/schema.h"
#include "serve/openapi/schemas.h"
#include "serve/routes.h"

namespace deberta::serve::openapi {
namespace {

// ---- statuses

struct Status {
  int number;
  std::string_view text;
  bool is_of_connection = false;  // the connection itself may refuse so, in the dialect of text-embeddings-inference
};
constexpr std::array kStatuses = {
    Status{400, "malformed HTTP, a body that is not strict JSON, or an empty list", true},
    Status{401, "no key, or a key that the server does not know"},
    Status{403, "the key lacks the scope, or the Host or Origin header is not allowed"},
    Status{404, "no such model, file or route"},
    Status{408, "the header or the body came too slowly", true},
    Status{413, "too many bytes, also once they are decompressed, or too many inputs", true},
    Status{414, "a target of more than 8 KiB", true},
    Status{415, "a content type other than JSON, or a content encoding other than gzip and zstd"},
    Status{422, "an invalid field, or a task that the model cannot do"},
    Status{429, "the server is overloaded; Retry-After says when to try again"},
    Status{431, "headers of more than 16 KiB, or more than 64", true},
    Status{500, "a result that is not a number, or a bug"},
    Status{503, "models are being loaded, or the server is shutting down or has too many connections", true},
    Status{504, "the deadline has passed"},
};

struct DialectNames {
  Dialect dialect;
  std::string_view prefix;          // of the names of its responses
  std::string_view error, refusal;  // schemas; the latter where the connection itself may refuse
};
constexpr std::array kDialects = {
    DialectNames{Dialect::kTei, "tei", "TeiError", "TeiError"},
    DialectNames{Dialect::kOpenAi, "openai", "OpenAiError", "OpenAiRefusal"},
    DialectNames{Dialect::kCohere, "cohere", "CohereError", "CohereRefusal"},
    DialectNames{Dialect::kKserve, "kserve", "KserveError", "KserveRefusal"},
};

bool checks_query(const Operation& operation) {
  return std::ranges::any_of(
      all_query_values(), [&](const QueryValue& value) { return value.path == operation.path && value.may_be_wrong; });
}

bool has_status(const Route& route, const Operation& operation, int status) {
  const bool has_body = route.method == "POST";
  const bool is_answer = std::holds_alternative<Answer>(route.handler), runs = is_answer && !operation.only_reads;
  const bool explains = std::holds_alternative<Explain>(route.handler);
  const bool names_model = has_body && !std::holds_alternative<Report>(route.handler);
  switch (status) {
    case 401:
      return !route.is_open;
    case 404:
      return names_model || route.scope != Scope::kInfer || route.path.find('{') != route.path.npos;
    case 413:
    case 415:
      return has_body;
    case 422:
      return has_body || checks_query(operation);
    case 429:
      return is_answer || explains;
    case 500:
      return runs || explains;
    case 504:
      return runs;
    default:
      return true;
  }
}

JsonObject error_responses() {
  JsonObject responses;
  for (const DialectNames& names : kDialects) {
    for (const Status& status : kStatuses) {
      const Json schema = named(status.is_of_connection ? names.refusal : names.error);
      responses.emplace_back(fmt::format("{}{}", names.prefix, status.number),
                             JsonObject{{"description", status.text},
                                        {"content", JsonObject{{"application/json", JsonObject{{"schema", schema}}}}}});
    }
  }
  return responses;
}

// ---- operations

constexpr std::string_view kBytes = "application/octet-stream";

Json file_schema(std::string_view media) {
  Json schema = string();
  if (media == kBytes) schema.as_object().emplace_back("format", "binary");
  return schema;
}

Json content_of(const Route& route, const Operation& operation) {
  JsonObject content;
  const auto add = [&](std::string_view media, Json schema) {
    content.emplace_back(media, JsonObject{{"schema", std::move(schema)}});
  };
  if (operation.answer.find('/') == operation.answer.npos) {
    add("application/json", named(operation.answer));
  } else {
    for_each_word(operation.answer, [&](std::string_view media) { add(media, file_schema(media)); });
  }
  if (route.has_tail)
    add(kBytes, described(file_schema(kBytes),
                          "if bytes were requested: that JSON, with its length in Inference-Header-Content-Length, "
                          "followed by the tensor"));
  return content;
}

Json responses_of(const Route& route, const Operation& operation) {
  const auto names = std::ranges::find(kDialects, route.dialect, &DialectNames::dialect);
  JsonObject responses{{"200", JsonObject{{"description", "the answer"}, {"content", content_of(route, operation)}}}};
  for (const Status& status : kStatuses) {
    if (has_status(route, operation, status.number))
      responses.emplace_back(
          std::to_string(status.number),
          JsonObject{{"$ref", fmt::format("#/components/responses/{}{}", names->prefix, status.number)}});
  }
  return responses;
}

Json parameter_json(std::string_view name, std::string_view location, std::string_view text, Json schema) {
  JsonObject parameter{{"name", name}, {"in", location}, {"required", true}};
  if (!text.empty()) parameter.emplace_back("description", text);
  parameter.emplace_back("schema", std::move(schema));
  return parameter;
}

JsonArray parameters_of(const Operation& operation) {
  const auto names = [&](std::string_view slot) { return operation.path.find(slot) != operation.path.npos; };
  JsonArray parameters;
  if (names("{model}"))
    parameters.push_back(parameter_json("model", "path", "the name of a model, of one or two parts", string()));
  if (names("{task}")) parameters.push_back(parameter_json("task", "path", "", named("HubTask")));
  if (names("{file}"))
    parameters.push_back(
        parameter_json("file", "path", "", named(operation.path.starts_with("/docs") ? "DocsFile" : "ExplorerFile")));
  for (const QueryValue& value : all_query_values()) {
    if (value.path == operation.path)
      parameters.push_back(parameter_json(value.name, "query", value.text, parse_json(value.schema, "schema")));
  }
  return parameters;
}

Json request_body(const Route& route, const Operation& operation) {
  const JsonObject json{{"schema", named(operation.request)}, {"example", parse_json(operation.example, "example")}};
  const bool is_needed = !std::holds_alternative<Report>(route.handler);
  return JsonObject{{"required", is_needed}, {"content", JsonObject{{"application/json", json}}}};
}

Json operation_json(const Route& route, const Operation& operation) {
  JsonObject json{{"tags", JsonArray{operation.tag}}, {"summary", operation.summary}, {"operationId", operation.id}};
  if (JsonArray parameters = parameters_of(operation); !parameters.empty())
    json.emplace_back("parameters", std::move(parameters));
  if (route.method == "POST") json.emplace_back("requestBody", request_body(route, operation));
  json.emplace_back("responses", responses_of(route, operation));
  if (route.is_open) json.emplace_back("security", JsonArray{});
  return json;
}

const Route& route_of(const Operation& operation) {
  const auto route = std::ranges::find(all_routes(), operation.path, &Route::path);
  if (route == all_routes().end())
    throw Error(ErrorCode::kInternal, "openapi", fmt::format("no route {}", operation.path));
  return *route;
}

JsonObject paths() {
  JsonObject paths;
  for (const Operation& operation : all_operations()) {
    const Route& route = route_of(operation);
    const char* method = route.method == "POST" ? "post" : "get";
    paths.emplace_back(operation.path, JsonObject{{method, operation_json(route, operation)}});
  }
  return paths;
}

// ---- the document

JsonObject schemas() {
  JsonObject all;
  for (JsonObject part :
       {error_schemas(), embeddings_inference_schemas(), openai_schemas(), vllm_schemas(), hub_schemas(),
        server_schemas(), kserve_schemas(), gliner_schemas(), explorer_schemas(), admin_schemas(), page_schemas()})
    std::ranges::move(part, std::back_inserter(all));
  return all;
}

Json about() {
  return JsonObject{{"title", "deberta serve"},
                    {"version", "1"},
                    {"description",
                     "DeBERTa models over HTTP, with the routes and fields of widely used clients. Requests may name a "
                     "model by `model`, by the header X-Model or by the path: every route that runs a model is also "
                     "below /models/NAME, for clients that can name none; unknown fields are ignored and named in "
                     "X-Ignored-Fields; X-Deadline-Ms lowers the deadline. Bodies may be compressed "
                     "(Content-Encoding: gzip or zstd); Server-Timing has the times of an answer."},
                    {"license", JsonObject{{"name", "MIT"}, {"identifier", "MIT"}}}};
}

}  // namespace

Json document() {
  JsonArray tags;
  for (const std::string_view tag : all_tags()) tags.push_back(JsonObject{{"name", tag}});
  JsonObject components{{"securitySchemes", JsonObject{{"key", JsonObject{{"type", "http"}, {"scheme", "bearer"}}}}},
                        {"schemas", schemas()},
                        {"responses", error_responses()}};
  return JsonObject{{"openapi", "3.1.0"},
                    {"info", about()},
                    {"security", JsonArray{JsonObject{}, JsonObject{{"key", JsonArray{}}}}},
                    {"tags", std::move(tags)},
                    {"paths", paths()},
                    {"components", std::move(components)}};
}

const std::string& document_text() {
  static const std::string text = document().dump();
  return text;
}

}  // namespace deberta::serve::openapi

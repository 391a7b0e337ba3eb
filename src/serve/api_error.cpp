// The table of codes with status, type and remedy, and the JSON in which each dialect reports them.
#include "serve/api_error.h"

#include <fmt/format.h>

#include <array>
#include <new>

#include "base/json.h"
#include "base/log.h"
#include "deberta/error.h"

namespace deberta::serve {
namespace {

constexpr std::array kCodes = {
    ApiCodeInfo{ApiCode::kBadRequest, "bad_request", 400, "Validation"},
    ApiCodeInfo{ApiCode::kBadJson, "bad_json", 400, "Validation"},
    ApiCodeInfo{ApiCode::kEmptyInput, "empty_input", 400, "Empty"},
    ApiCodeInfo{ApiCode::kUnauthorized, "unauthorized", 401, "Validation"},
    ApiCodeInfo{ApiCode::kForbidden, "forbidden", 403, "Validation"},
    ApiCodeInfo{ApiCode::kNotFound, "not_found", 404, "Validation"},
    ApiCodeInfo{ApiCode::kModelNotFound, "model_not_found", 404, "Validation"},
    ApiCodeInfo{ApiCode::kMethod, "method", 405, "Validation"},
    ApiCodeInfo{ApiCode::kRequestTimeout, "request_timeout", 408, "Validation"},
    ApiCodeInfo{ApiCode::kTooLarge, "too_large", 413, "Validation"},
    ApiCodeInfo{ApiCode::kBatchTooLarge, "batch_too_large", 413, "Validation"},
    ApiCodeInfo{ApiCode::kUriTooLong, "uri_too_long", 414, "Validation"},
    ApiCodeInfo{ApiCode::kMediaType, "media_type", 415, "Validation"},
    ApiCodeInfo{ApiCode::kHeadersTooLarge, "headers_too_large", 431, "Validation"},
    ApiCodeInfo{ApiCode::kValidation, "validation", 422, "Validation"},
    ApiCodeInfo{ApiCode::kTokenizer, "tokenizer", 422, "Tokenizer"},
    ApiCodeInfo{ApiCode::kOverloaded, "overloaded", 429, "Overloaded"},
    ApiCodeInfo{ApiCode::kInternal, "internal", 500, "Backend"},
    ApiCodeInfo{ApiCode::kBackendNan, "backend_nan", 500, "Backend"},
    ApiCodeInfo{ApiCode::kLoading, "loading", 503, "Unhealthy"},
    ApiCodeInfo{ApiCode::kDraining, "draining", 503, "Unhealthy"},
    ApiCodeInfo{ApiCode::kTooManyConnections, "too_many_connections", 503, "Unhealthy"},
    ApiCodeInfo{ApiCode::kDeadline, "deadline", 504, "Overloaded"},
};

Json body_of(const ApiError& error, const ApiCodeInfo& info, Dialect dialect) {
  const std::string name(info.name);
  const Json field = error.field.empty() ? Json() : Json(error.field);
  switch (dialect) {
    case Dialect::kOpenAi:
      return JsonObject{{"error", JsonObject{{"message", error.message},
                                             {"type", info.status < 500 ? "invalid_request_error" : "server_error"},
                                             {"param", field},
                                             {"code", name}}}};
    case Dialect::kCohere:
      return JsonObject{{"message", error.message}, {"code", name}};
    case Dialect::kKserve:
      return JsonObject{{"error", error.message}};
    case Dialect::kTei:
      break;
  }
  JsonObject body{{"error", error.message}, {"error_type", info.tei_type}, {"code", name}};
  if (!error.field.empty()) body.emplace_back("field", error.field);
  return body;
}

// In the words of a request: no options, no functions.
std::string message_of(const Error& error) {
  const Problem& problem = error.problems().front();
  const char* remedy = problem.argument == "label_map" ? "; the model's config.json names its classes (id2label)" : "";
  return fmt::format("{}{}{}{}", problem.where, problem.where.empty() ? "" : ": ", problem.message, remedy);
}

}  // namespace

const ApiCodeInfo& info_of(ApiCode code) {
  return kCodes[static_cast<size_t>(code)];
}

std::span<const ApiCodeInfo> all_codes() {
  return kCodes;
}

ApiCode code_of_status(int status) {
  if (status == 503) return ApiCode::kTooManyConnections;
  for (const ApiCodeInfo& info : kCodes) {
    if (info.status == status) return info.code;
  }
  return ApiCode::kInternal;
}

std::string_view failure_of(ApiCode code) {
  switch (code) {
    case ApiCode::kUnauthorized:
    case ApiCode::kForbidden:
      return "auth";
    case ApiCode::kTooLarge:
    case ApiCode::kBatchTooLarge:
    case ApiCode::kUriTooLong:
    case ApiCode::kHeadersTooLarge:
      return "too_large";
    case ApiCode::kOverloaded:
    case ApiCode::kLoading:
    case ApiCode::kDraining:
    case ApiCode::kTooManyConnections:
      return "overloaded";
    case ApiCode::kDeadline:
    case ApiCode::kRequestTimeout:
      return "deadline";
    case ApiCode::kBackendNan:
      return "backend";
    case ApiCode::kInternal:
      return "internal";
    default:
      return "validation";
  }
}

HttpResponse error_response(const ApiError& error, Dialect dialect) {
  const ApiCodeInfo& info = info_of(error.code);
  HttpResponse response{.status = info.status, .headers = {{"content-type", "application/json"}}, .body = {}};
  if (info.status == 401) response.headers.emplace_back("www-authenticate", "Bearer");
  if (info.status == 429 || info.status == 503)
    response.headers.emplace_back("retry-after", std::to_string(std::max<int64_t>(1, error.retry_after_s)));
  response.body = body_of(error, info, dialect).dump();
  return response;
}

ApiError api_error_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ApiError& own) {
    return own;
  } catch (const Error& of_library) {
    switch (of_library.code()) {
      case ErrorCode::kTextTooLong:
      case ErrorCode::kInput:
      case ErrorCode::kUsage:
      case ErrorCode::kTask:
      case ErrorCode::kUnsupported:
        return {ApiCode::kValidation, message_of(of_library)};
      case ErrorCode::kTokenId:
      case ErrorCode::kTokenizerFile:
        return {ApiCode::kTokenizer, message_of(of_library)};
      case ErrorCode::kNotFinite:
        return {ApiCode::kBackendNan, message_of(of_library)};
      default:
        return {ApiCode::kInternal, message_of(of_library)};
    }
  } catch (const std::bad_alloc&) {
    return {ApiCode::kInternal, "memory ran out"};
  } catch (const std::exception& other) {
    warn(fmt::format("a request failed: {}", other.what()));
    return {ApiCode::kInternal, "a bug in this server"};
  }
}

}  // namespace deberta::serve

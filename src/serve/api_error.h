// The answers to requests that fail: one table of codes, and a body for each family of routes.
#pragma once
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "serve/http.h"

namespace deberta::serve {

enum class ApiCode {
  kBadRequest,
  kBadJson,
  kEmptyInput,
  kUnauthorized,
  kForbidden,
  kNotFound,
  kModelNotFound,
  kMethod,
  kRequestTimeout,
  kTooLarge,
  kBatchTooLarge,
  kUriTooLong,
  kMediaType,
  kHeadersTooLarge,
  kValidation,
  kTokenizer,
  kOverloaded,
  kInternal,
  kBackendNan,
  kLoading,
  kDraining,
  kTooManyConnections,
  kDeadline,
};

// A row of the table.
struct ApiCodeInfo {
  ApiCode code;
  std::string_view name;  // stable: "model_not_found"
  int status;
  std::string_view tei_type;  // error_type of text-embeddings-inference
};
const ApiCodeInfo& info_of(ApiCode code);
std::span<const ApiCodeInfo> all_codes();
ApiCode code_of_status(int status);         // of an answer by the connection itself
std::string_view failure_of(ApiCode code);  // the reason in request_failure_total

struct ApiError : std::exception {
  ApiError(ApiCode code_, std::string message_, std::string field_ = {})
      : code(code_), message(std::move(message_)), field(std::move(field_)) {}
  const char* what() const noexcept override { return message.c_str(); }

  ApiCode code;
  std::string message;
  std::string field;  // a JSON pointer into the body, "/inputs/3"; empty: none
  int64_t retry_after_s = 0;
};

// The families of routes, each for a kind of client.
enum class Dialect { kTei, kOpenAi, kCohere, kKserve };

HttpResponse error_response(const ApiError& error, Dialect dialect);

// The API error for an exception; places.h finds the field that an error of the library is about.
ApiError api_error_of(const std::exception_ptr& error);

}  // namespace deberta::serve

// Paths to routes: nothing is decoded, nothing normalised.
#include "serve/routes.h"

#include <gtest/gtest.h>

#include <string>

#include "heads/head_facts.h"
#include "serve/answering.h"

namespace deberta::serve::routes_test {
namespace {

std::string description(std::string_view method, std::string_view path) {
  try {
    const RouteMatch match = match_route(method, path);
    return std::string(match.route->path) + " " + match.model + " " + match.task;
  } catch (const ApiError& error) {
    return std::string(info_of(error.code).name);
  }
}

TEST(Routes, AreFoundByMethodAndPath) {
  EXPECT_EQ(description("POST", "/predict"), "/predict  ");
  EXPECT_EQ(description("POST", "/"), "/  ");
  EXPECT_EQ(description("HEAD", "/info"), "/info  ");
  EXPECT_EQ(description("POST", "/explain/decoder"), "/explain/decoder  ");
  EXPECT_EQ(description("POST", "/explain/replaced"), "/explain/replaced  ");
  EXPECT_EQ(description("GET", "/explain/size"), "/explain/size  ");
  EXPECT_EQ(description("POST", "/gliner"), "/gliner  ");
  EXPECT_EQ(description("POST", "/gliner/restore"), "/gliner/restore  ");
  EXPECT_EQ(description("POST", "/v1/extract"), "/v1/extract  ");
  EXPECT_EQ(description("POST", "/models/a"), "/models/{model} a ");
  EXPECT_EQ(description("POST", "/models/org/name"), "/models/{model} org/name ");
  EXPECT_EQ(description("POST", "/models/org%2Fname"), "/models/{model} org/name ");
  EXPECT_EQ(description("POST", "/models/org%2fname/pipeline/ner"), "/models/{model}/pipeline/{task} org/name ner");
  EXPECT_EQ(description("POST", "/models/a/pipeline/fill-mask"), "/models/{model}/pipeline/{task} a fill-mask");
  EXPECT_EQ(description("POST", "/models/org/name/pipeline/fill-mask"),
            "/models/{model}/pipeline/{task} org/name fill-mask");
}

TEST(Routes, HaveATaskForEveryHeadAndForEveryUseThatTheHubLists) {
  for (const HeadFacts* head : all_heads()) {
    for (const HeadUse& use : head->uses) {
      if (&use != &head->uses.front() && !use.is_task_of_hub) continue;
      EXPECT_NO_THROW(hub::find_task(std::string(use.task), "")) << use.ending;
    }
  }
}

TEST(Routes, OtherPathsAndMethodsAreNone) {
  for (const std::string_view path :
       {"/predict/", "//predict", "/Predict", "/predict/x", "/models", "/models/", "/models//x", "/models/../x",
        "/models/a%2fb%2fc", "/models/a/b%2fc", "/models/%2fb", "/models/a%2f", "/models/a%2f..", "/models/a%252fb",
        "/models%2fa", "/models/a%5cb", "/models/a/b/c", "/models/a b", "/v1"})
    EXPECT_EQ(description("POST", path), "not_found") << path;
  EXPECT_EQ(description("GET", "/predict"), "method");
  EXPECT_EQ(description("DELETE", "/info"), "method");
  EXPECT_EQ(dialect_of("/v2/nothing"), Dialect::kKserve);
  EXPECT_EQ(dialect_of("/v1/nothing"), Dialect::kOpenAi);
  EXPECT_EQ(dialect_of("/v1/extract"), Dialect::kTei);
  EXPECT_EQ(allowed_methods("/info"), "GET, HEAD");
  EXPECT_EQ(allowed_methods("/nothing"), "");
}

TEST(Routes, AreOfTheKindThatTheirMethodAndScopeSay) {
  for (const Route& route : all_routes()) {
    EXPECT_EQ(std::holds_alternative<Get>(route.handler), route.method == "GET") << route.path;
    EXPECT_EQ(std::holds_alternative<Command>(route.handler), route.scope == Scope::kAdmin && route.method == "POST")
        << route.path;
    EXPECT_EQ(std::holds_alternative<Explain>(route.handler), route.scope == Scope::kExplain && route.method == "POST")
        << route.path;
    EXPECT_FALSE(route.is_open && route.method == "POST") << route.path;
  }
}

TEST(Routes, ErrorsAreToldInTheWordsOfTheFamily) {
  const ApiError error(ApiCode::kValidation, "/input: wrong", "/input");
  EXPECT_EQ(
      error_response(error, dialect_of("/v1/embeddings")).body,
      R"({"error": {"message": "/input: wrong", "type": "invalid_request_error", "param": "/input", "code": "validation"}})");
  EXPECT_EQ(error_response(error, dialect_of("/predict")).body,
            R"({"error": "/input: wrong", "error_type": "Validation", "code": "validation", "field": "/input"})");
  EXPECT_EQ(error_response(error, dialect_of("/v2/rerank")).body,
            R"({"message": "/input: wrong", "code": "validation"})");
  EXPECT_EQ(error_response(error, Dialect::kKserve).body, R"({"error": "/input: wrong"})");
  for (int code = 0; code <= static_cast<int>(ApiCode::kDeadline); ++code)
    EXPECT_EQ(info_of(static_cast<ApiCode>(code)).code, static_cast<ApiCode>(code));
}

}  // namespace
}  // namespace deberta::serve::routes_test

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
  EXPECT_EQ(description("POST", "/score"), "/score  ");
  EXPECT_EQ(description("POST", "/v1/score"), "/v1/score  ");
  EXPECT_EQ(description("POST", "/classify"), "/classify  ");
  EXPECT_EQ(description("POST", "/models/a"), "/models/{model} a ");
  EXPECT_EQ(description("POST", "/models/org/name"), "/models/{model} org/name ");
  EXPECT_EQ(description("POST", "/models/org%2Fname"), "/models/{model} org/name ");
  EXPECT_EQ(description("POST", "/models/org%2fname/pipeline/ner"), "/models/{model}/pipeline/{task} org/name ner");
  EXPECT_EQ(description("POST", "/models/a/pipeline/fill-mask"), "/models/{model}/pipeline/{task} a fill-mask");
  EXPECT_EQ(description("POST", "/models/org/name/pipeline/fill-mask"),
            "/models/{model}/pipeline/{task} org/name fill-mask");
}

TEST(Routes, OfOneModelAreBelowItsBaseUrl) {
  EXPECT_EQ(description("POST", "/models/a/embed"), "/models/{model}/embed a ");
  EXPECT_EQ(description("POST", "/models/org/name/embed"), "/models/{model}/embed org/name ");
  EXPECT_EQ(description("POST", "/models/org%2Fname/v1/embeddings"), "/models/{model}/v1/embeddings org/name ");
  EXPECT_EQ(description("POST", "/models/a/gliner/restore"), "/models/{model}/gliner/restore a ");
  EXPECT_EQ(description("HEAD", "/models/a/info"), "/models/{model}/info a ");
  EXPECT_EQ(description("GET", "/models/a/v1/models"), "/models/{model}/v1/models a ");
  EXPECT_EQ(description("GET", "/models/a/embed"), "method");
  EXPECT_EQ(description("POST", "/models/a/info"), "method");
  EXPECT_EQ(description("POST", "/models/a/"), "not_found") << "the model's own task has one path";
  EXPECT_EQ(description("GET", "/models/a/metrics"), "method") << "/models/{model} of a/metrics";
  EXPECT_EQ(dialect_of("/models/a/v2/rerank"), Dialect::kCohere);
  size_t count = 0;
  for (const Route& route : all_routes()) {
    const bool is_below = route.path.starts_with("/models/{model}/") && !route.path.ends_with("{task}");
    count += is_below;
    if (is_below) {
      EXPECT_FALSE(route.is_open) << route.path;
      EXPECT_EQ(route.ports, Ports::kServing) << route.path;
    }
    if (!std::holds_alternative<Answer>(route.handler) || route.path.find('{') != route.path.npos) continue;
    if (route.path == "/") continue;
    const Route* below = find_route("POST", "/models/a" + std::string(route.path));
    ASSERT_NE(below, nullptr) << route.path;
    EXPECT_EQ(below->path, "/models/{model}" + std::string(route.path));
  }
  EXPECT_GE(count, 20u);
}

TEST(Routes, ASecondPartOfANameIsNoWordOfARoute) {
  EXPECT_EQ(description("POST", "/models/org/embed"), "/models/{model}/embed org ");
  EXPECT_EQ(description("POST", "/models/org%2Fembed"), "/models/{model} org/embed ");
  EXPECT_EQ(description("POST", "/models/org%2Fembed/embed"), "/models/{model}/embed org/embed ");
  EXPECT_EQ(description("POST", "/models/org/embed/embed"), "not_found");
  EXPECT_EQ(description("POST", "/models/a/v1/embeddings"), "/models/{model}/v1/embeddings a ");
  EXPECT_EQ(description("GET", "/v2/models/org/stats"), "/v2/models/{model}/stats org ");
  EXPECT_EQ(description("GET", "/v2/models/stats"), "/v2/models/stats  ");
  for (const std::string_view name : {"a", "org/name", "embed", "v1", "embed/a", "org/metrics"})
    EXPECT_EQ(misleading_path(name), "") << name;
  for (const std::string_view name : {"org/embed", "org/v1", "org/pipeline", "org/ready", "org/versions", "org/load"})
    EXPECT_NE(misleading_path(name), "") << name;
  EXPECT_EQ(misleading_path("stats"), "/v2/models/stats");
  EXPECT_EQ(misleading_path("."), "/v1/models/.");
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
  EXPECT_EQ(dialect_of("/score"), Dialect::kOpenAi);
  EXPECT_EQ(dialect_of("/classify"), Dialect::kOpenAi);
  EXPECT_EQ(allowed_methods("/info"), "GET, HEAD");
  EXPECT_EQ(allowed_methods("/nothing"), "");
}

TEST(Routes, AreOfTheKindThatTheirMethodAndScopeSay) {
  for (const Route& route : all_routes()) {
    if (std::holds_alternative<Report>(route.handler)) continue;  // of any method
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

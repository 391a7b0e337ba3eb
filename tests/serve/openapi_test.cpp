// The OpenAPI document: what each route says of itself, and what follows from its row.
#include "serve/openapi/document.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <stdexcept>
#include <string>

#include "pipeline/parameters.h"
#include "serve/openapi/operations.h"
#include "serve/openapi/schema.h"
#include "serve/routes.h"

namespace deberta::serve::openapi::openapi_test {
namespace {

const Json& at(const Json& value, std::initializer_list<std::string_view> names) {
  const Json* found = &value;
  for (const std::string_view name : names) {
    found = found->find(name);
    if (found == nullptr) throw std::out_of_range(std::string(name));
  }
  return *found;
}

std::string statuses(const Json& document, std::string_view path, std::string_view method) {
  std::string all;
  for (const auto& [status, response] : at(document, {"paths", path, method, "responses"}).as_object())
    all += (all.empty() ? "" : " ") + status;
  return all;
}

TEST(OpenApi, StatusesFollowFromWhatARouteDoes) {
  const Json all = document();
  EXPECT_EQ(statuses(all, "/predict", "post"), "200 400 401 403 404 408 413 414 415 422 429 431 500 503 504");
  EXPECT_EQ(statuses(all, "/tokenize", "post"), "200 400 401 403 404 408 413 414 415 422 429 431 503");
  EXPECT_EQ(statuses(all, "/gliner", "post"), statuses(all, "/predict", "post"));
  EXPECT_EQ(statuses(all, "/score", "post"), statuses(all, "/predict", "post"));
  EXPECT_EQ(statuses(all, "/classify", "post"), statuses(all, "/predict", "post"));
  EXPECT_EQ(statuses(all, "/v1/extract", "post"), statuses(all, "/predict", "post"));
  EXPECT_EQ(statuses(all, "/gliner/restore", "post"), statuses(all, "/tokenize", "post")) << "no model runs";
  EXPECT_EQ(statuses(all, "/explain/tokens", "post"), "200 400 401 403 404 408 413 414 415 422 429 431 500 503");
  EXPECT_EQ(statuses(all, "/explain/decoder", "post"), statuses(all, "/explain/tokens", "post"));
  EXPECT_EQ(statuses(all, "/explain/replaced", "post"), statuses(all, "/explain/tokens", "post"));
  EXPECT_EQ(statuses(all, "/explain/size", "get"), "200 400 401 403 404 408 414 422 431 503");
  EXPECT_EQ(statuses(all, "/explain/terms", "get"), "200 400 401 403 404 408 414 422 431 503");
  EXPECT_EQ(statuses(all, "/explain/positions", "get"), "200 400 401 403 404 408 414 422 431 503");
  EXPECT_EQ(statuses(all, "/explain/heads", "get"), "200 400 401 403 404 408 414 431 503");
  EXPECT_EQ(statuses(all, "/admin/loglevel", "post"), "200 400 401 403 404 408 413 414 415 422 431 503");
  EXPECT_EQ(statuses(all, "/health", "get"), "200 400 403 408 414 431 503");
  EXPECT_EQ(statuses(all, "/models/{model}/predict", "post"), statuses(all, "/predict", "post"));
  EXPECT_EQ(statuses(all, "/models/{model}/health", "get"), "200 400 401 403 404 408 414 431 503") << "it needs a key";
  EXPECT_EQ(statuses(all, "/v1/models/{model}", "get"), statuses(all, "/models/{model}/health", "get"));
  EXPECT_EQ(statuses(all, "/v2/repository/index", "post"), "200 400 401 403 408 413 414 415 422 431 503");
  EXPECT_EQ(statuses(all, "/metrics", "get"), "200 400 401 403 404 408 414 431 503");
}

TEST(OpenApi, RefusalsAreInTheWordsOfTheFamily) {
  const Json all = document();
  EXPECT_EQ(at(all, {"paths", "/v2/rerank", "post", "responses", "422", "$ref"}).as_string(),
            "#/components/responses/cohere422");
  const auto schema = [&](std::string_view name) {
    return at(all, {"components", "responses", name, "content", "application/json", "schema", "$ref"}).as_string();
  };
  EXPECT_EQ(schema("openai422"), "#/components/schemas/OpenAiError");
  EXPECT_EQ(schema("openai503"), "#/components/schemas/OpenAiRefusal");
  EXPECT_EQ(schema("tei503"), "#/components/schemas/TeiError");
}

TEST(OpenApi, AParameterIsDescribedByItsRow) {
  const Json all = document();
  const auto text = [&](std::string_view body, std::string_view field) {
    const Json& forms = at(all, {"components", "schemas", body, "properties", field, "anyOf"});
    return at(forms.as_array().front(), {"description"}).as_string();
  };
  EXPECT_EQ(text("CohereRequest", "top_n"), find_parameter("rerank", "top_n")->text);
  EXPECT_EQ(text("RerankRequest", "return_text"), find_parameter("rerank", "return_text")->text);
  EXPECT_EQ(text("EmbedRequest", "normalize"), find_parameter("embed", "normalize")->text);
  EXPECT_EQ(text("TokenizeRequest", "add_special_tokens"), find_parameter("tokenize", "add_special_tokens")->text);
  EXPECT_EQ(text("GlinerRequest", "multi_label"), find_parameter("extract", "multi_label")->text);
  EXPECT_EQ(text("GlinerRequest", "join"), find_parameter("extract", "join")->text);
}

TEST(OpenApi, DefaultsAreThoseOfTheRoutesClients) {
  const Json all = document();
  const auto flag = [&](std::string_view body) -> const Json& {
    return at(all, {"components", "schemas", body, "properties", "flat_ner", "anyOf"}).as_array().front();
  };
  EXPECT_TRUE(at(flag("GlinerRequest"), {"default"}).as_bool());
  EXPECT_EQ(flag("ExtractRequest").find("default"), nullptr);
}

TEST(OpenApi, BodiesWithTextsSayHowLongOnesAreCut) {
  const Json all = document();
  for (const std::string_view body : {"PredictRequest", "EmbedRequest", "EmbedAllRequest", "SimilarityRequest",
                                      "RerankRequest", "CohereRequest", "OpenAiRequest"}) {
    const Json& properties = at(all, {"components", "schemas", body, "properties"});
    for (const std::string_view field : {"truncate", "truncation_direction"})
      EXPECT_NE(properties.find(field), nullptr) << body << " " << field;
  }
}

TEST(OpenApi, AnswersOfSizesHaveTheirParts) {
  const Json all = document();
  const auto parts = [&](std::string_view schema) {
    std::string names;
    for (const auto& [name, kind] : at(all, {"components", "schemas", schema, "properties"}).as_object())
      names += (names.empty() ? "" : " ") + name;
    return names;
  };
  EXPECT_EQ(parts("ParameterCounts"), "words positions embeddings relative layers convolution head total");
  EXPECT_EQ(parts("OperationCounts"), "linear attention relative total");
}

TEST(OpenApi, LayersAndHeadsCountFromOne) {
  const Json all = document();
  for (const std::string_view name : {"layer", "head"})
    EXPECT_EQ(at(all, {"components", "schemas", "HeadFigure", "properties", name, "minimum"}).as_integer(), 1) << name;
  for (const Json& value : at(all, {"paths", "/explain/terms", "get", "parameters"}).as_array()) {
    const std::string& name = at(value, {"name"}).as_string();
    if (name == "layer" || name == "head") {
      EXPECT_EQ(at(value, {"schema", "minimum"}).as_integer(), 1) << name;
    }
  }
}

TEST(OpenApi, EveryRouteIsDescribed) {
  std::set<std::string_view> paths;
  for (const Operation& operation : all_operations()) {
    EXPECT_TRUE(paths.insert(operation.path).second) << operation.path;
    EXPECT_FALSE(operation.summary.empty()) << operation.path;
    EXPECT_NE(std::ranges::find(all_tags(), operation.tag), all_tags().end()) << operation.path;
  }
  for (const Route& route : all_routes()) EXPECT_TRUE(paths.contains(route.path)) << route.path;
  EXPECT_EQ(paths.size(), all_routes().size());
}

TEST(OpenApi, TheTextIsTheDocument) {
  EXPECT_EQ(document_text(), document().dump());
}

}  // namespace
}  // namespace deberta::serve::openapi::openapi_test

// Errors, and what the server reports about itself: its models, its state, its pages, the explorer's numbers.
#include <algorithm>

#include "serve/api_error.h"
#include "serve/openapi/schema.h"
#include "serve/openapi/schemas.h"
#include "web/files.h"

namespace deberta::serve::openapi {
namespace {

Json refusal(std::string_view error) {
  return described(any_of({named(error), named("TeiError")}), "the second where the connection itself refuses");
}

Json tei_error() {
  std::vector<std::string_view> types;
  for (const ApiCodeInfo& info : all_codes()) {
    if (std::ranges::find(types, info.tei_type) == types.end()) types.push_back(info.tei_type);
  }
  return closed({{"error", string()},
                 {"error_type", words(types)},
                 {"code", string()},
                 optional("field", described(string(), "a JSON pointer into the body"))});
}

Json openai_error() {
  return closed({{"message", string()},
                 {"type", words({"invalid_request_error", "server_error"})},
                 {"param", or_null(string())},
                 {"code", string()}});
}

Json info() {
  std::vector<Property> properties{{"model_id", string()},
                                   optional("model_sha", or_null(string())),
                                   optional("model_dtype", string()),
                                   optional("served_model_name", string()),
                                   {"model_type", any_object()}};
  for (const std::string_view limit : {"max_concurrent_requests", "max_input_length", "max_batch_tokens",
                                       "max_batch_requests", "max_client_batch_size"})
    properties.push_back(optional(limit, count()));
  properties.push_back(optional("auto_truncate", boolean()));
  properties.push_back(optional("tokenization_workers", count()));
  properties.push_back({"version", string()});
  properties.push_back(optional("device", string()));
  properties.push_back({"models", list_of(named("InfoModel"))});
  return closed(properties);
}

// The files that the server has below a page: /docs/docs.js and so on.
Json files_of(std::string_view page) {
  std::vector<std::string_view> names;
  for (const web::File& file : web::files()) {
    if (web::belongs_to(page, file.name) && !file.name.ends_with(".html")) names.push_back(file.name);
  }
  return words(names);
}

Json explanation() {
  return closed({{"explain_id", string()},
                 {"model", string()},
                 {"tokens", list_of(named("ExplainedToken"))},
                 {"layers", count()},
                 {"heads", count()},
                 {"terms", list_of(words({"c2c", "c2p", "p2c"}))},
                 {"scale", number()},
                 {"rows", list_of(count())}});
}

Json explained_token() {
  return closed({{"text", string()},
                 {"special", boolean()},
                 {"segment", count()},
                 {"start", or_null(count())},
                 {"end", or_null(count())}});
}

Json decoder_explanation() {
  return closed({{"explain_id", string()},
                 {"model", string()},
                 {"tokens", list_of(named("ExplainedToken"))},
                 {"passes", count()},
                 {"heads", count()},
                 {"terms", list_of(words({"c2c", "c2p", "p2c"}))},
                 {"scale", number()},
                 {"rows", list_of(count())},
                 {"masks", list_of(named("ExplainedMask"))},
                 {"fillings", list_of(named("WordFilling"))}});
}

Json explained_mask() {
  const Json best = list_of(named("PredictedToken"));
  return closed({{"token", described(count(), "its place among the tokens")},
                 {"with", best},
                 {"without", best},
                 {"shifted", best},
                 optional("swapped", described(best, "where the text has two masks or more"))});
}

Json word_filling() {
  return closed({{"words", list_of(string())},
                 {"with", described(number(), "the natural logarithm of their probability, with the mask decoder")},
                 {"without", number()}});
}

Json replaced_explanation() {
  return closed({{"model", string()},
                 {"generator", string()},
                 {"seed", count()},
                 {"tokens", list_of(named("WalkedToken"))},
                 {"losses", named("LossesOfBoth")},
                 {"signal", named("SignalOfBoth")}});
}

Json walked_token() {
  return closed(
      {{"text", string()},
       {"special", boolean()},
       {"segment", count()},
       {"start", or_null(count())},
       {"end", or_null(count())},
       {"is_masked", boolean()},
       {"drawn", described(or_null(string()), "what the generator put in its place; null: it was not masked")},
       {"drawn_probability", or_null(number())},
       {"is_replaced", described(boolean(), "a draw that is right counts as the original")},
       {"replaced_probability", described(number(), "what the model says")}});
}

Json model_size() {
  return closed({{"model", string()},
                 {"length", count()},
                 {"parameters", named("ParameterCounts")},
                 {"flops", named("OperationCounts")},
                 {"published", described(list_of(string()), "the published sizes that `model` may name, too")}});
}

Json counts_of(const std::vector<std::string_view>& parts, const Json& kind) {
  std::vector<Property> properties;
  for (const std::string_view part : parts) properties.push_back({part, kind});
  return closed(properties);
}

Json head_figure() {
  return closed({{"layer", ordinal()},
                 {"head", ordinal()},
                 {"entropy", number()},
                 {"distance", number()},
                 {"cls", number()},
                 {"shares", named("HeadShares")}});
}

Json queue_of_model() {
  return closed({{"name", string()},
                 {"requests", count()},
                 {"sequences", count()},
                 {"tokens", count()},
                 {"ms_to_drain", count()}});
}

}  // namespace

JsonObject error_schemas() {
  return {
      {"TeiError", tei_error()},
      {"OpenAiError", closed({{"error", named("OpenAiErrorDetails")}})},
      {"OpenAiErrorDetails", openai_error()},
      {"CohereError", closed({{"message", string()}, {"code", string()}})},
      {"KserveError", closed({{"error", string()}})},
      {"KserveRefusal", refusal("KserveError")},
      {"CohereRefusal", refusal("CohereError")},
      {"OpenAiRefusal", refusal("OpenAiError")},
  };
}

JsonObject server_schemas() {
  return {
      {"Info", info()},
      {"InfoModel", closed({{"name", string()},
                            {"aliases", list_of(string())},
                            {"model_type", any_object()},
                            {"task", string()},
                            {"max_input_length", count()},
                            {"max_concurrent_requests", count()},
                            {"max_queue_tokens", count()}})},
      {"Status", closed({{"status", constant("ok")}})},
      {"Live", closed({{"live", constant(true)}})},
      {"Ready", closed({{"ready", constant(true)}})},
  };
}

JsonObject explorer_schemas() {
  const Property text_pair = optional("text_pair", or_null(string()));
  return {
      {"ExplainRequest", request({{"text", string()}, text_pair}, {&field::kModel})},
      {"Explanation", explanation()},
      {"ExplainedToken", explained_token()},
      {"HeadFigures", closed({{"heads", list_of(named("HeadFigure"))}})},
      {"HeadFigure", head_figure()},
      {"Positions", closed({{"model", string()},
                            {"length", count()},
                            {"table_rows", described(count(), "0: the model has no relative table")},
                            {"rows", list_of(count())}})},
      {"HeadShares", closed({{"c2c", number()}, {"c2p", number()}, {"p2c", number()}})},
      {"DecoderRequest", request({{"text", string()}}, {&field::kTopPredictions, &field::kWords, &field::kModel})},
      {"DecoderExplanation", decoder_explanation()},
      {"ExplainedMask", explained_mask()},
      {"PredictedToken", closed({{"token_str", string()}, {"score", number()}})},
      {"WordFilling", word_filling()},
      {"ReplacedRequest",
       request({{"text", string()}}, {&field::kGenerator, &field::kShare, &field::kSeed, &field::kModel})},
      {"ReplacedExplanation", replaced_explanation()},
      {"WalkedToken", walked_token()},
      {"LossesOfBoth", counts_of({"generator", "discriminator"}, number())},
      {"SignalOfBoth", described(counts_of({"generator", "discriminator"}, count()), "tokens that give the losses")},
      {"ModelSize", model_size()},
      {"ParameterCounts",
       counts_of({"words", "positions", "embeddings", "relative", "layers", "convolution", "head", "total"}, count())},
      {"OperationCounts", counts_of({"linear", "attention", "relative", "total"}, number())},
  };
}

JsonObject admin_schemas() {
  return {
      {"AdminModels", closed({{"models", list_of(named("AdminModelAndPath"))}})},
      {"AdminModelAndPath", closed({{"name", string()}, {"path", string()}, {"state", named("ModelState")}})},
      {"AdminQueue", closed({{"models", list_of(named("AdminModelQueue"))}})},
      {"AdminModelQueue", queue_of_model()},
      {"AdminModel", closed({{"name", string()}, {"state", named("ModelState")}})},
      {"ModelState", words({"open", "opening", "closed"})},
      {"ReloadRequest", request({}, {&field::kForce})},
      {"LogLevel", object({{"level", words_schema(field::kLevel)}})},
  };
}

JsonObject page_schemas() {
  return {
      {"OpenApiDocument", any_object()},
      {"ExplorerFile", files_of("explorer")},
      {"DocsFile", files_of("docs")},
      {"NoFields", any_object()},
  };
}

}  // namespace deberta::serve::openapi

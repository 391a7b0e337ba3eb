// Bodies and answers of the routes that run a task.
#include "serve/answering.h"
#include "serve/openapi/schema.h"
#include "serve/openapi/schemas.h"

namespace deberta::serve::openapi {
namespace {

using namespace field;

Json text_or_texts() {
  return any_of({string(), list_of(string(), 1)});
}

Json text_or_pair() {
  JsonObject list = list_of(string(), 1).as_object();
  list.emplace_back("maxItems", 2);
  return list;
}

Json predict_request() {
  const Json inputs = described(any_of({string(), text_or_pair(), list_of(text_or_pair(), 1)}),
                                "a text; one text or one pair in a list; or a list of such lists");
  return request({{"inputs", inputs}}, {&kRawScores, &kTruncate, &kTruncationDirection, &kWindowScores, &kBenignLabels,
                                        &kStride, &kOffsets, &kModel});
}

Json predict_response() {
  return any_of({named("Labels"), list_of(named("Labels")), named("Windows"), list_of(named("Windows"))});
}

Json windows() {
  return described(list_of(named("WindowLabels")), "of window_scores each");
}

Json similarity_request() {
  return request({{"inputs", named("SourceAndSentences")}, optional("parameters", or_null(named("Cutting")))},
                 {&kTruncate, &kTruncationDirection, &kModel});
}

Json source_and_sentences() {
  return object({{"source_sentence", string()}, {"sentences", list_of(string(), 1)}});
}

Json cohere_request() {
  const Json documents =
      described(list_of(any_of({string(), named("CohereDocument")}), 1), "texts, or objects with a text");
  return request(
      {{"query", string()}, {"documents", documents}},
      {&kTopN, &kReturnDocuments, &kMaxTokensPerDoc, &kRawScores, &kTruncate, &kTruncationDirection, &kModel});
}

Json cohere_response() {
  return closed({{"id", string()},
                 optional("model", string()),
                 {"results", list_of(named("CohereResult"))},
                 optional("usage", named("CohereUsage")),
                 optional("meta", any_object())});
}

Json rerank_answer() {
  return described(any_of({named("RerankResponse"), named("CohereResponse")}),
                   "the second where the request has `documents`");
}

Json token() {
  return closed({{"id", count()},
                 {"text", string()},
                 {"special", boolean()},
                 {"start", or_null(count())},
                 {"stop", or_null(count())}});
}

Json ids() {
  return any_of({list_of(count(), 1), list_of(list_of(count()), 1)});
}

Json input_of_openai() {
  return any_of({string(), list_of(string(), 1), list_of(count(), 1), list_of(list_of(count(), 1), 1)});
}

Json vector_of_openai() {
  return closed(
      {{"object", constant("embedding")}, {"index", count()}, {"embedding", any_of({list_of(number()), string()})}});
}

Json score_request() {
  std::vector<Property> properties;
  for (const std::string_view name : {"text_1", "text_2", "queries", "documents", "items", "data_1", "data_2"})
    properties.push_back(optional(name, or_null(text_or_texts())));
  return described(request(std::move(properties), {&kUseActivation, &kTruncatePromptTokens, &kTruncationSide,
                                                   &kTruncate, &kTruncationDirection, &kUser, &kModel}),
                   "text_1 and text_2, queries and documents, queries and items, or data_1 and data_2: one text with "
                   "each of the second ones, or as many as there are second ones");
}

Json classify_request() {
  return request({{"input", text_or_texts()}},
                 {&kRawScores, &kUseActivation, &kTruncatePromptTokens, &kTruncationSide, &kTruncate,
                  &kTruncationDirection, &kAddSpecialTokens, &kUser, &kModel});
}

Json answer_of_vllm(std::string_view item) {
  return closed({{"id", string()},
                 {"object", constant("list")},
                 {"created", count()},
                 {"model", string()},
                 {"data", list_of(named(item))},
                 {"usage", named("VllmUsage")}});
}

Json answer_of_infinity() {
  return closed({{"id", string()},
                 {"object", constant("classify")},
                 {"created", count()},
                 {"model", string()},
                 {"data", list_of(named("Labels"))},
                 {"usage", named("OpenAiUsage")}});
}

Json class_of_vllm() {
  return closed({{"index", count()}, {"label", string()}, {"probs", list_of(number())}, {"num_classes", ordinal()}});
}

Json classify_answer() {
  return described(any_of({named("ClassifyResponse"), named("InfinityClassifyResponse")}),
                   "the second where the request has `raw_scores`");
}

Json vllm_usage() {
  return closed({{"prompt_tokens", count()},
                 {"total_tokens", count()},
                 {"completion_tokens", constant(int64_t{0})},
                 {"prompt_tokens_details", or_null(any_object())}});
}

Json task_request() {
  const Json inputs = described(JsonObject{},
                                "as the task has it: a text, a list of texts, {question, context}, {text, text_pair}, "
                                "{source_sentence, sentences}");
  return described(object({{"inputs", inputs}, optional("parameters", or_null(any_object()))}),
                   "the schemas of the Hugging Face hub");
}

Json own_task_request() {
  std::vector<Property> properties;
  for (const std::string_view name : {"inputs", "query", "texts", "parameters"})
    properties.push_back(optional(name, JsonObject{}));
  return described(request(std::move(properties), {&kModel}),
                   "what the model is for: the body of /predict, /rerank or /embed, or that of the hub's task if it "
                   "has `parameters`");
}

Json task_response() {
  return described(any_of({list_of(JsonObject{}), any_object()}), "as the task has it; docs/reference/server.md");
}

}  // namespace

JsonObject embeddings_inference_schemas() {
  return {
      {"LabelScore", closed({{"label", string()}, {"score", number()}})},
      {"Labels", list_of(named("LabelScore"))},
      {"TruncationDirection", words_schema(kTruncationDirection)},
      {"PredictRequest", predict_request()},
      {"WindowScores", words_schema(kWindowScores)},
      {"OffsetUnit", words_schema(kOffsets)},
      {"WindowLabels", object({{"start", integer()}, {"end", integer()}, {"labels", named("Labels")}})},
      {"Windows", windows()},
      {"PredictResponse", predict_response()},
      {"Vectors", list_of(list_of(number()))},
      {"TokenVectors", list_of(named("Vectors"))},
      {"EmbedRequest",
       request({{"inputs", text_or_texts()}}, {&kNormalize, &kDimensions, &kTruncate, &kTruncationDirection, &kModel})},
      {"EmbedAllRequest", request({{"inputs", text_or_texts()}}, {&kTruncate, &kTruncationDirection, &kModel})},
      {"SimilarityRequest", similarity_request()},
      {"Cutting", request({}, {&kTruncate, &kTruncationDirection})},
      {"Cosines", list_of(number())},
      {"SourceAndSentences", source_and_sentences()},
      {"RerankRequest", request({{"query", string()}, {"texts", list_of(string(), 1)}},
                                {&kRawScores, &kReturnText, &kTruncate, &kTruncationDirection, &kModel})},
      {"RerankResponse", list_of(named("RankedText"))},
      {"RankedText", closed({{"index", count()}, {"score", number()}, optional("text", string())})},
      {"CohereRequest", cohere_request()},
      {"CohereDocument", object({{"text", string()}})},
      {"CohereResponse", cohere_response()},
      {"CohereResult",
       closed({{"index", count()}, {"relevance_score", number()}, optional("document", named("CohereDocument"))})},
      {"RerankAnswer", rerank_answer()},
      {"CohereUsage", object({{"prompt_tokens", count()}, {"total_tokens", count()}})},
      {"TokenizeRequest", request({{"inputs", text_or_texts()}}, {&kAddSpecialTokens, &kOffsets, &kModel})},
      {"TokenizeResponse", list_of(list_of(named("Token")))},
      {"Token", token()},
      {"DecodeRequest", request({{"ids", ids()}}, {&kSkipSpecialTokens, &kModel})},
      {"Texts", list_of(string())},
  };
}

JsonObject openai_schemas() {
  return {
      {"OpenAiRequest", request({{"input", input_of_openai()}},
                                {&kEncodingFormat, &kDimensions, &kUser, &kTruncate, &kTruncationDirection, &kModel})},
      {"OpenAiResponse", closed({{"object", constant("list")},
                                 {"data", list_of(named("OpenAiVector"))},
                                 {"model", string()},
                                 {"usage", named("OpenAiUsage")}})},
      {"OpenAiVector", vector_of_openai()},
      {"OpenAiUsage", closed({{"prompt_tokens", count()}, {"total_tokens", count()}})},
      {"OpenAiModels", closed({{"object", constant("list")}, {"data", list_of(named("OpenAiModel"))}})},
      {"OpenAiModel", object({{"id", string()},
                              {"object", constant("model")},
                              optional("created", count()),
                              optional("owned_by", string())})},
  };
}

JsonObject vllm_schemas() {
  return {
      {"ScoreRequest", score_request()},
      {"ScoreResponse", answer_of_vllm("PairScore")},
      {"PairScore", closed({{"index", count()}, {"object", constant("score")}, {"score", number()}})},
      {"ClassifyRequest", classify_request()},
      {"ClassifyAnswer", classify_answer()},
      {"ClassifyResponse", answer_of_vllm("TextClass")},
      {"InfinityClassifyResponse", answer_of_infinity()},
      {"TextClass", class_of_vllm()},
      {"VllmUsage", vllm_usage()},
  };
}

JsonObject hub_schemas() {
  return {
      {"TaskRequest", task_request()},
      {"OwnTaskRequest", own_task_request()},
      {"HubTask", words(hub::task_names())},
      {"TaskResponse", task_response()},
  };
}

}  // namespace deberta::serve::openapi

// The table of operations, in the order of the document.
#include "serve/openapi/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <string>
#include <vector>

#include "serve/routes.h"

namespace deberta::serve::openapi {
namespace {

constexpr std::string_view kTei = "text-embeddings-inference", kHub = "Hugging Face hub", kOpenAi = "OpenAI",
                           kCohere = "Cohere, Jina", kVllm = "vLLM, infinity", kKserve = "KServe, Triton",
                           kGliner = "GLiNER, NeMo Guardrails", kOfModel = "one model's own base URL, /models/NAME",
                           kExplorer = "the explorer", kAdmin = "models (--admin)", kServer = "the server";
constexpr std::string_view kTags[] = {kTei,    kHub,     kOpenAi,   kCohere, kVllm,  kKserve,
                                      kGliner, kOfModel, kExplorer, kAdmin,  kServer};

// Summaries and bodies that several routes share.
constexpr std::string_view kRerank = "documents by how well they fit a query";
constexpr std::string_view kInfer =
    "logits or vectors of texts or token ids; tensors may be bytes behind the JSON (Inference-Header-Content-Length)";
constexpr std::string_view kStatistics = "what requests and batches of a model took since the server began";
constexpr std::string_view kText = R"({"inputs": "a fine film"})";
constexpr std::string_view kTexts = R"({"input": ["one text", "another"]})";
constexpr std::string_view kDocuments =
    R"({"query": "capital of France", "documents": ["Paris is a city .", "Cats purr ."], "top_n": 1})";
constexpr std::string_view kScore = "how well the texts of each pair fit: one with each of the others, or one by one";
constexpr std::string_view kPairs =
    R"({"text_1": "capital of France", "text_2": ["Paris is a city .", "Cats purr ."]})";
constexpr std::string_view kOwnLabels =
    R"({"text": "Ada Lovelace was born in London .", "labels": ["person", "city"]})";
constexpr std::string_view kTensor =
    R"({"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["a fine film"]}]})";

constexpr Operation kOperations[] = {
    {"/predict", kTei, "labels of texts and pairs", "predict", "PredictRequest", kText, "PredictResponse"},
    {"/rerank", kTei, "documents by how well they fit a query; with `documents`, the body and the answer of /v2/rerank",
     "rerank", "RerankRequest", R"({"query": "capital of France", "texts": ["Paris is a city .", "Cats purr ."]})",
     "RerankAnswer"},
    {"/embed", kTei, "a vector for each text", "embed", "EmbedRequest", R"({"inputs": ["one text", "another"]})",
     "Vectors"},
    {"/embed_all", kTei, "a vector for each token", "embedAll", "EmbedAllRequest", R"({"inputs": "one text"})",
     "TokenVectors"},
    {"/similarity", kTei, "how similar sentences are to a source sentence", "similarity", "SimilarityRequest",
     R"({"inputs": {"source_sentence": "a fine film", "sentences": ["a good film", "rain"]}})", "Cosines"},
    {"/tokenize", kTei, "tokens with their offsets in the text", "tokenize", "TokenizeRequest", kText,
     "TokenizeResponse", true},
    {"/decode", kTei, "the texts that token ids decode to", "decode", "DecodeRequest", R"({"ids": [[1, 20, 30, 2]]})",
     "Texts", true},
    {"/", kTei, "the model's own task", "ownTask", "OwnTaskRequest", kText, "TaskResponse"},
    {"/invocations", kTei, "the model's own task, at SageMaker's route", "invocations", "OwnTaskRequest", kText,
     "TaskResponse"},
    {"/info", kTei, "the models and the limits", "info", "", "", "Info"},
    {"/health", kTei, "200 while the server takes requests", "health", "", "", "Status"},
    {"/ping", kTei, "as /health", "ping", "", "", "Status"},
    {"/metrics", kServer, "metrics for Prometheus", "metrics", "", "", "text/plain"},
    {"/models/{model}/pipeline/{task}", kHub, "a task by its name on the hub", "task", "TaskRequest",
     R"({"inputs": "The match ended in a draw .", "parameters": {"candidate_labels": ["sports", "politics"]}})",
     "TaskResponse"},
    {"/models/{model}", kHub, "the model's own task", "modelTask", "TaskRequest", kText, "TaskResponse"},
    {"/v1/embeddings", kOpenAi, "a vector for each text", "openAiEmbeddings", "OpenAiRequest", kTexts,
     "OpenAiResponse"},
    {"/embeddings", kOpenAi, "a vector for each text", "embeddings", "OpenAiRequest", kTexts, "OpenAiResponse"},
    {"/v1/models", kOpenAi, "the models, by each of their names", "openAiModels", "", "", "OpenAiModels"},
    {"/v1/models/{model}", kOpenAi, "a model", "openAiModel", "", "", "OpenAiModel"},
    {"/v2/rerank", kCohere, kRerank, "cohereRerank", "CohereRequest", kDocuments, "CohereResponse"},
    {"/v1/rerank", kCohere, kRerank, "rerankV1", "CohereRequest", kDocuments, "CohereResponse"},
    {"/v1/reranking", kCohere, kRerank, "rerankingV1", "CohereRequest", kDocuments, "CohereResponse"},
    {"/score", kVllm, kScore, "score", "ScoreRequest", kPairs, "ScoreResponse"},
    {"/v1/score", kVllm, kScore, "scoreV1", "ScoreRequest", kPairs, "ScoreResponse"},
    {"/classify", kVllm, "the class of each text; with `raw_scores`, the answer of infinity", "classify",
     "ClassifyRequest", kTexts, "ClassifyAnswer"},
    {"/v2", kKserve, "the server", "serverMetadata", "", "", "KserveServer"},
    {"/v2/health/live", kKserve, "200 while the process runs", "live", "", "", "Live"},
    {"/v2/health/ready", kKserve, "200 while the server takes requests", "ready", "", "", "Ready"},
    {"/v2/models/{model}", kKserve, "a model and its tensors", "modelMetadata", "", "", "KserveModel"},
    {"/v2/models/{model}/ready", kKserve, "200 while the model takes requests", "modelReady", "", "", "Ready"},
    {"/v2/models/stats", kKserve, kStatistics, "statistics", "", "", "KserveStatistics"},
    {"/v2/models/{model}/stats", kKserve, kStatistics, "modelStatistics", "", "", "KserveStatistics"},
    {"/v2/models/{model}/versions/1/stats", kKserve, kStatistics, "modelStatisticsVersion", "", "", "KserveStatistics"},
    {"/v2/repository/index", kKserve, "the models and their states", "repositoryIndex", "KserveIndexRequest",
     R"({"ready": true})", "KserveIndex"},
    {"/v2/models/{model}/infer", kKserve, kInfer, "infer", "KserveRequest", kTensor, "KserveResponse"},
    {"/v2/models/{model}/versions/1", kKserve, "a model and its tensors", "modelMetadataVersion", "", "",
     "KserveModel"},
    {"/v2/models/{model}/versions/1/ready", kKserve, "200 while the model takes requests", "modelReadyVersion", "", "",
     "Ready"},
    {"/v2/models/{model}/versions/1/infer", kKserve, kInfer, "inferVersion", "KserveRequest", kTensor,
     "KserveResponse"},
    {"/gliner", kGliner, "entities by labels of the request's own; the texts without them", "gliner", "GlinerRequest",
     kOwnLabels, "GlinerResponse"},
    {"/gliner/restore", kGliner, "the texts that /gliner redacted, as they were; any model will do", "glinerRestore",
     "RestoreRequest", R"({"text": "[PERSON_1] was born .", "map": {"[PERSON_1]": "Ada"}})", "RestoreResponse", true},
    {"/v1/extract", kGliner,
     "entities of a text that is read in chunks, by labels of the request's own or as kinds of personal data",
     "extract", "ExtractRequest", kOwnLabels, "ExtractResponse"},
    {"/explain/tokens", kExplorer, "runs a text of at most 256 tokens, and keeps the terms of its attention",
     "explainTokens", "ExplainRequest", R"({"text": "The capital of France is Paris ."})", "Explanation"},
    {"/explain/terms", kExplorer,
     "a matrix of one head, [tokens, tokens] as X-Shape says; u8: X-Zero plus X-Scale times the byte", "explainTerms",
     "", "", "application/octet-stream"},
    {"/explain/heads", kExplorer, "figures of every head", "explainHeads", "", "", "HeadFigures"},
    {"/explain/thumbnails", kExplorer, "small pictures of every head's weights, [layers, heads, size, size]",
     "explainThumbnails", "", "", "application/octet-stream"},
    {"/explain/positions", kExplorer, "the row of the relative table for each distance, from 1 - length to length - 1",
     "explainPositions", "", "", "Positions"},
    {"/explain/decoder", kExplorer,
     "what the mask decoder does: words for each mask with it, without it, with positions higher by one, and with the "
     "positions of the first and the last mask exchanged; given words at the masks; its passes are kept as layers",
     "explainDecoder", "DecoderRequest",
     R"({"text": "a new [MASK] opened beside the new [MASK] .", "words": ["store", "mall"]})", "DecoderExplanation"},
    {"/explain/replaced", kExplorer, "a text through generator and discriminator: masked, drawn, labelled, judged",
     "explainReplaced", "ReplacedRequest", R"({"text": "The capital of France is Paris .", "seed": 1})",
     "ReplacedExplanation"},
    {"/explain/size", kExplorer, "parameters by part, and operations for a text of that length", "explainSize", "", "",
     "ModelSize"},
    {"/explorer", kExplorer, "the page", "explorer", "", "", "text/html"},
    {"/explorer/{file}", kExplorer, "its scripts and style", "explorerFile", "", "", "text/javascript|text/css"},
    {"/admin/models", kAdmin, "the models and their folders", "adminModels", "", "", "AdminModels"},
    {"/admin/queue", kAdmin, "the requests that are waiting", "adminQueue", "", "", "AdminQueue"},
    {"/admin/models/{model}/load", kAdmin, "opens a model that was unloaded", "adminLoad", "NoFields", R"({})",
     "AdminModel"},
    {"/admin/models/{model}/unload", kAdmin, "closes a model; requests for it are refused from now on", "adminUnload",
     "NoFields", R"({})", "AdminModel"},
    {"/admin/models/{model}/reload", kAdmin,
     "loads the folder again, tests the model and replaces the old one; no request is lost", "adminReload",
     "ReloadRequest", R"({"force": false})", "AdminModel"},
    {"/admin/loglevel", kAdmin, "which requests are logged: all, refused ones, or failures of the server", "adminLog",
     "LogLevel", R"({"level": "info"})", "LogLevel"},
    {"/openapi.json", kServer, "this document", "openApi", "", "", "OpenApiDocument"},
    {"/docs", kServer, "this document as a page", "docs", "", "", "text/html"},
    {"/docs/{file}", kServer, "the page's script and style", "docsFile", "", "", "text/javascript|text/css"},
};

constexpr std::string_view kIdText = "explain_id of /explain/tokens or /explain/decoder; kept for a minute";
constexpr QueryValue kQueryValues[] = {
    {"/explain/terms", "id", R"({"type": "string"})", kIdText, false},
    {"/explain/terms", "layer", R"({"type": "integer", "minimum": 1})", "from 1; or a pass of the mask decoder"},
    {"/explain/terms", "head", R"({"type": "integer", "minimum": 1})", "from 1"},
    {"/explain/terms", "term", R"({"type": "string", "enum": ["c2c", "c2p", "p2c", "sum", "softmax"]})"},
    {"/explain/terms", "dtype", R"({"type": "string", "enum": ["f16", "u8"]})"},
    {"/explain/heads", "id", R"({"type": "string"})", kIdText, false},
    {"/explain/thumbnails", "id", R"({"type": "string"})", kIdText, false},
    {"/explain/thumbnails", "size", R"({"type": "integer", "minimum": 1, "maximum": 64})"},
    {"/explain/positions", "model", R"({"type": "string"})", "the name of a model", false},
    {"/explain/positions", "length", R"({"type": "integer", "minimum": 1, "maximum": 4096})"},
    {"/explain/size", "model", R"({"type": "string"})", "the name of a model, or of a published size", false},
    {"/explain/size", "length", R"({"type": "integer", "minimum": 1, "maximum": 4096})"},
};

// The rows, and what follows from them: the operations below a model's base URL.
struct Operations {
  Operations();
  std::vector<Operation> operations{std::begin(kOperations), std::end(kOperations)};
  std::deque<std::string> texts;  // of those that are no rows
};

Operations::Operations() {
  for (const Operation& row : kOperations) {
    const std::string& path = texts.emplace_back(fmt::format("/models/{{model}}{}", row.path));
    if (std::ranges::find(all_routes(), std::string_view(path), &Route::path) == all_routes().end()) continue;
    Operation below = row;
    below.path = path;
    below.tag = kOfModel;
    below.id = texts.emplace_back(fmt::format("{}OfModel", row.id));
    operations.push_back(below);
  }
}

}  // namespace

std::span<const std::string_view> all_tags() {
  return kTags;
}
std::span<const Operation> all_operations() {
  static const Operations all;
  return all.operations;
}
std::span<const QueryValue> all_query_values() {
  return kQueryValues;
}

}  // namespace deberta::serve::openapi

// The table itself, and the match of a request's method and path against its patterns.
#include "serve/routes.h"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace deberta::serve {
namespace {

// /predict and /rerank of text-embeddings-inference; /rerank with `documents` is that of Cohere's and Jina's clients.
Answering rerank_by_key(const ServedModel& model, Body& body) {
  return body.find("documents") != nullptr ? cohere::rerank(model, body) : tei::rerank(model, body);
}

constexpr std::array kRoutes = {
    Route{"POST", "/predict", RouteKind::kAnswer, Dialect::kTei, tei::predict},
    Route{"POST", "/rerank", RouteKind::kAnswer, Dialect::kTei, rerank_by_key},
    Route{"POST", "/embed", RouteKind::kAnswer, Dialect::kTei, tei::embed},
    Route{"POST", "/embed_all", RouteKind::kAnswer, Dialect::kTei, tei::embed_all},
    Route{"POST", "/similarity", RouteKind::kAnswer, Dialect::kTei, tei::similarity},
    Route{"POST", "/tokenize", RouteKind::kAnswer, Dialect::kTei, tei::tokenize},
    Route{"POST", "/decode", RouteKind::kAnswer, Dialect::kTei, tei::decode},
    Route{"POST", "/embeddings", RouteKind::kAnswer, Dialect::kOpenAi, openai::embeddings},
    Route{"POST", "/", RouteKind::kOwnTask, Dialect::kTei},
    Route{"POST", "/invocations", RouteKind::kOwnTask, Dialect::kTei},
    Route{"GET", "/info", RouteKind::kInfo, Dialect::kTei},
    Route{"GET", "/health", RouteKind::kHealth, Dialect::kTei, nullptr, Scope::kInfer, true},
    Route{"GET", "/ping", RouteKind::kHealth, Dialect::kTei, nullptr, Scope::kInfer, true},
    Route{"GET", "/metrics", RouteKind::kMetrics, Dialect::kTei, nullptr, Scope::kMetrics},
    Route{"POST", "/v1/embeddings", RouteKind::kAnswer, Dialect::kOpenAi, openai::embeddings},
    Route{"GET", "/v1/models", RouteKind::kModels, Dialect::kOpenAi},
    Route{"POST", "/v1/rerank", RouteKind::kAnswer, Dialect::kCohere, cohere::rerank},
    Route{"POST", "/v1/reranking", RouteKind::kAnswer, Dialect::kCohere, cohere::rerank},
    Route{"POST", "/v2/rerank", RouteKind::kAnswer, Dialect::kCohere, cohere::rerank},
    Route{"GET", "/v2", RouteKind::kServer, Dialect::kKserve},
    Route{"GET", "/v2/health/live", RouteKind::kLive, Dialect::kKserve, nullptr, Scope::kInfer, true},
    Route{"GET", "/v2/health/ready", RouteKind::kHealth, Dialect::kKserve, nullptr, Scope::kInfer, true},
    Route{"GET", "/v2/models/{model}/ready", RouteKind::kReady, Dialect::kKserve},
    Route{"GET", "/v2/models/{model}/versions/1/ready", RouteKind::kReady, Dialect::kKserve},
    Route{"GET", "/v2/models/{model}/versions/1", RouteKind::kModel, Dialect::kKserve},
    Route{"GET", "/v2/models/{model}", RouteKind::kModel, Dialect::kKserve},
    Route{"POST", "/v2/models/{model}/infer", RouteKind::kAnswer, Dialect::kKserve, kserve::infer, Scope::kInfer, false,
          true},
    Route{"POST", "/v2/models/{model}/versions/1/infer", RouteKind::kAnswer, Dialect::kKserve, kserve::infer,
          Scope::kInfer, false, true},
    Route{"GET", "/openapi.json", RouteKind::kPage, Dialect::kTei, nullptr, Scope::kInfer, true},
    Route{"GET", "/docs", RouteKind::kPage, Dialect::kTei, nullptr, Scope::kInfer, true},
    Route{"GET", "/docs/{file}", RouteKind::kPage, Dialect::kTei, nullptr, Scope::kInfer, true},
    Route{"GET", "/admin/models", RouteKind::kAdminModels, Dialect::kTei, nullptr, Scope::kAdmin},
    Route{"GET", "/admin/queue", RouteKind::kAdminQueue, Dialect::kTei, nullptr, Scope::kAdmin},
    Route{"POST", "/admin/models/{model}/load", RouteKind::kAdminLoad, Dialect::kTei, nullptr, Scope::kAdmin},
    Route{"POST", "/admin/models/{model}/unload", RouteKind::kAdminUnload, Dialect::kTei, nullptr, Scope::kAdmin},
    Route{"POST", "/admin/models/{model}/reload", RouteKind::kAdminReload, Dialect::kTei, nullptr, Scope::kAdmin},
    Route{"POST", "/admin/loglevel", RouteKind::kAdminLog, Dialect::kTei, nullptr, Scope::kAdmin},
    Route{"GET", "/explorer", RouteKind::kPage, Dialect::kTei, nullptr, Scope::kExplain, true},
    Route{"GET", "/explorer/{file}", RouteKind::kPage, Dialect::kTei, nullptr, Scope::kExplain, true},
    Route{"POST", "/explain/tokens", RouteKind::kExplain, Dialect::kTei, nullptr, Scope::kExplain},
    Route{"GET", "/explain/terms", RouteKind::kExplainTerms, Dialect::kTei, nullptr, Scope::kExplain},
    Route{"GET", "/explain/heads", RouteKind::kExplainHeads, Dialect::kTei, nullptr, Scope::kExplain},
    Route{"GET", "/explain/thumbnails", RouteKind::kExplainThumbnails, Dialect::kTei, nullptr, Scope::kExplain},
    Route{"POST", "/models/{model}/pipeline/{task}", RouteKind::kHubTask, Dialect::kTei},
    Route{"POST", "/models/{model}", RouteKind::kHubOwnTask, Dialect::kTei},
};

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const size_t end = std::min(path.find('/'), path.size());
    segments.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return segments;
}

// As served names are written; so no path reaches anything else.
bool is_name(std::string_view text) {
  if (!is_plain_name(text, 96)) return false;
  return text != "." && text != "..";
}

// "org%2Fname", as clients write a name with a slash that were made from a description of the routes, to org/name.
std::string name_of(std::string_view segment) {
  for (const std::string_view slash : {"%2F", "%2f"}) {
    const size_t at = std::min(segment.find(slash), segment.size());
    if (is_name(segment.substr(0, at)) && at < segment.size() && is_name(segment.substr(at + slash.size())))
      return fmt::format("{}/{}", segment.substr(0, at), segment.substr(at + slash.size()));
  }
  return is_name(segment) ? std::string(segment) : "";
}

bool matches(const std::vector<std::string_view>& pattern, const std::vector<std::string_view>& path,
             RouteMatch& match) {
  size_t at = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (at >= path.size()) return false;
    if (pattern[i] == "{model}") {
      const size_t behind = pattern.size() - i - 1;
      if (path.size() < at + 1 + behind) return false;
      const size_t count = path.size() - at - behind;
      if (count > 2 || (count == 2 && !(is_name(path[at]) && is_name(path[at + 1])))) return false;
      match.model = count == 2 ? fmt::format("{}/{}", path[at], path[at + 1]) : name_of(path[at]);
      if (match.model.empty()) return false;
      at += count;
    } else if (pattern[i] == "{task}" || pattern[i] == "{file}") {
      if (!is_name(path[at])) return false;
      (pattern[i] == "{task}" ? match.task : match.file) = path[at++];
    } else if (pattern[i] != path[at++]) {
      return false;
    }
  }
  return at == path.size();
}

bool takes(const Route& route, std::string_view method) {
  return route.method == method || (route.method == "GET" && method == "HEAD");
}

}  // namespace

std::span<const Route> all_routes() {
  return kRoutes;
}

std::string allowed_methods(std::string_view path) {
  const std::vector<std::string_view> segments = segments_of(path);
  std::string methods;
  for (const Route& route : kRoutes) {
    RouteMatch match;
    if (!matches(segments_of(route.path), segments, match)) continue;
    methods += fmt::format("{}{}", methods.empty() ? "" : ", ", route.method == "GET" ? "GET, HEAD" : route.method);
  }
  return methods;
}

namespace {

// Without a route where no one takes it.
RouteMatch find_match(std::string_view method, std::string_view path) {
  const std::vector<std::string_view> segments = segments_of(path);
  for (const Route& route : kRoutes) {
    RouteMatch match{&route, {}, {}, {}};
    if (takes(route, method) && matches(segments_of(route.path), segments, match)) return match;
  }
  return {};
}

}  // namespace

const Route* find_route(std::string_view method, std::string_view path) {
  return find_match(method, path).route;
}

RouteMatch match_route(std::string_view method, std::string_view path) {
  if (RouteMatch match = find_match(method, path); match.route != nullptr) return match;
  if (const std::string methods = allowed_methods(path); !methods.empty())
    throw ApiError(ApiCode::kMethod, fmt::format("expected {}", methods));
  throw ApiError(ApiCode::kNotFound, "no such route");
}

Dialect dialect_of(std::string_view path) {
  const std::vector<std::string_view> segments = segments_of(path);
  for (const Route& route : kRoutes) {
    RouteMatch match;
    if (matches(segments_of(route.path), segments, match)) return route.dialect;
  }
  if (path.starts_with("/v2")) return Dialect::kKserve;
  return path.starts_with("/v1") ? Dialect::kOpenAi : Dialect::kTei;
}

}  // namespace deberta::serve

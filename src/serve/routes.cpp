// The table itself, and the match of a request's method and path against its patterns.
#include "serve/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "serve/handlers.h"

namespace deberta::serve {
namespace {

// A handler whose answer does not depend on the path or the client.
template <Answering (*F)(const ServedModel&, Body&)>
Answering plain(const ServedModel& model, Body& body, const RouteRequest&) {
  return F(model, body);
}

constexpr std::array kRoutes = {
    Route{"POST", "/predict", plain<tei::predict>},
    Route{"POST", "/rerank", answers::rerank_by_key},
    Route{"POST", "/embed", plain<tei::embed>},
    Route{"POST", "/embed_all", plain<tei::embed_all>},
    Route{"POST", "/similarity", plain<tei::similarity>},
    Route{"POST", "/tokenize", plain<tei::tokenize>},
    Route{"POST", "/decode", plain<tei::decode>},
    Route{"POST", "/embeddings", plain<openai::embeddings>, Dialect::kOpenAi},
    Route{"POST", "/score", plain<vllm::score>, Dialect::kOpenAi},
    Route{"POST", "/v1/score", plain<vllm::score>, Dialect::kOpenAi},
    Route{"POST", "/classify", plain<vllm::classify>, Dialect::kOpenAi},
    Route{"POST", "/gliner", plain<gliner::entities>},
    Route{"POST", "/gliner/restore", plain<gliner::restore>},
    Route{"POST", "/v1/extract", plain<gliner::extract>},
    Route{"POST", "/", answers::own_task},
    Route{"POST", "/invocations", answers::own_task},
    Route{.method = "GET", .path = "/info", .handler = gets::info, .is_of_model = true},
    Route{.method = "GET",
          .path = "/health",
          .handler = gets::health,
          .ports = Ports::kBoth,
          .is_open = true,
          .is_of_model = true},
    Route{.method = "GET",
          .path = "/ping",
          .handler = gets::health,
          .ports = Ports::kBoth,
          .is_open = true,
          .is_of_model = true},
    Route{"GET", "/metrics", gets::metrics, Dialect::kTei, Scope::kMetrics, Ports::kMetrics},
    Route{"POST", "/v1/embeddings", plain<openai::embeddings>, Dialect::kOpenAi},
    Route{.method = "GET",
          .path = "/v1/models",
          .handler = gets::models,
          .dialect = Dialect::kOpenAi,
          .is_of_model = true},
    Route{"GET", "/v1/models/{model}", gets::openai_model, Dialect::kOpenAi},
    Route{"POST", "/v1/rerank", plain<cohere::rerank>, Dialect::kCohere},
    Route{"POST", "/v1/reranking", plain<cohere::rerank>, Dialect::kCohere},
    Route{"POST", "/v2/rerank", plain<cohere::rerank>, Dialect::kCohere},
    Route{"GET", "/v2", gets::kserve_server, Dialect::kKserve},
    Route{"GET", "/v2/health/live", gets::live, Dialect::kKserve, Scope::kInfer, Ports::kServing, true},
    Route{"GET", "/v2/health/ready", gets::health, Dialect::kKserve, Scope::kInfer, Ports::kBoth, true},
    Route{"GET", "/v2/models/stats", gets::statistics, Dialect::kKserve},
    Route{"GET", "/v2/models/{model}/stats", gets::statistics, Dialect::kKserve},
    Route{"GET", "/v2/models/{model}/versions/1/stats", gets::statistics, Dialect::kKserve},
    Route{"POST", "/v2/repository/index", reports::repository_index, Dialect::kKserve},
    Route{"GET", "/v2/models/{model}/ready", gets::health, Dialect::kKserve},
    Route{"GET", "/v2/models/{model}/versions/1/ready", gets::health, Dialect::kKserve},
    Route{"GET", "/v2/models/{model}/versions/1", gets::kserve_model, Dialect::kKserve},
    Route{"GET", "/v2/models/{model}", gets::kserve_model, Dialect::kKserve},
    Route{.method = "POST",
          .path = "/v2/models/{model}/infer",
          .handler = plain<kserve::infer>,
          .dialect = Dialect::kKserve,
          .has_tail = true},
    Route{.method = "POST",
          .path = "/v2/models/{model}/versions/1/infer",
          .handler = plain<kserve::infer>,
          .dialect = Dialect::kKserve,
          .has_tail = true},
    Route{.method = "GET", .path = "/openapi.json", .handler = gets::openapi, .is_open = true},
    Route{.method = "GET", .path = "/docs", .handler = gets::page, .is_open = true},
    Route{.method = "GET", .path = "/docs/{file}", .handler = gets::page, .is_open = true},
    Route{"GET", "/admin/models", gets::admin_models, Dialect::kTei, Scope::kAdmin},
    Route{"GET", "/admin/queue", gets::admin_queue, Dialect::kTei, Scope::kAdmin},
    Route{"POST", "/admin/models/{model}/load", commands::load, Dialect::kTei, Scope::kAdmin},
    Route{"POST", "/admin/models/{model}/unload", commands::unload, Dialect::kTei, Scope::kAdmin},
    Route{"POST", "/admin/models/{model}/reload", commands::reload, Dialect::kTei, Scope::kAdmin},
    Route{"POST", "/admin/loglevel", commands::set_log_level, Dialect::kTei, Scope::kAdmin},
    Route{.method = "GET", .path = "/explorer", .handler = gets::page, .scope = Scope::kExplain, .is_open = true},
    Route{
        .method = "GET", .path = "/explorer/{file}", .handler = gets::page, .scope = Scope::kExplain, .is_open = true},
    Route{"POST", "/explain/tokens", explains::tokens, Dialect::kTei, Scope::kExplain},
    Route{"POST", "/explain/decoder", explains::decoder, Dialect::kTei, Scope::kExplain},
    Route{"POST", "/explain/replaced", explains::replaced, Dialect::kTei, Scope::kExplain},
    Route{"GET", "/explain/terms", gets::explain_terms, Dialect::kTei, Scope::kExplain},
    Route{"GET", "/explain/heads", gets::explain_heads, Dialect::kTei, Scope::kExplain},
    Route{"GET", "/explain/thumbnails", gets::explain_thumbnails, Dialect::kTei, Scope::kExplain},
    Route{"GET", "/explain/positions", gets::explain_positions, Dialect::kTei, Scope::kExplain},
    Route{"GET", "/explain/size", gets::explain_size, Dialect::kTei, Scope::kExplain},
    Route{"POST", "/models/{model}/pipeline/{task}", answers::hub_task},
    Route{"POST", "/models/{model}", answers::hub_own_task},
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

// Whether it is written as names of served models are, so that no path reaches anything else.
bool is_name(std::string_view text) {
  if (!is_plain_name(text, 96)) return false;
  return text != "." && text != "..";
}

// The name of a segment: "org%2Fname", which clients generated from the OpenAPI document send, is org/name.
std::string name_of(std::string_view segment) {
  for (const std::string_view slash : {"%2F", "%2f"}) {
    const size_t at = std::min(segment.find(slash), segment.size());
    if (is_name(segment.substr(0, at)) && at < segment.size() && is_name(segment.substr(at + slash.size())))
      return fmt::format("{}/{}", segment.substr(0, at), segment.substr(at + slash.size()));
  }
  return is_name(segment) ? std::string(segment) : "";
}

// The table, and what follows from it.
struct Table {
  Table();
  void add(const Route& route);

  std::vector<Route> routes;
  std::vector<std::vector<std::string_view>> patterns;  // the segments of each route's path
  std::vector<std::string_view> words_of_models;        // that follow {model} in some path
  std::deque<std::string> paths;                        // of routes that are no rows
};

void Table::add(const Route& route) {
  routes.push_back(route);
  const std::vector<std::string_view>& pattern = patterns.emplace_back(segments_of(route.path));
  const auto model = std::ranges::find(pattern, "{model}");
  if (pattern.end() - model > 1) words_of_models.push_back(*(model + 1));
}

Table::Table() {
  for (const Route& route : kRoutes) add(route);
  for (const Route& route : kRoutes) {
    const bool is_answer = std::holds_alternative<Answer>(route.handler) && route.path.find('{') == route.path.npos;
    if (route.path == "/" || !(is_answer || route.is_of_model)) continue;  // that of "/" is a row
    Route below = route;
    below.path = paths.emplace_back(fmt::format("/models/{{model}}{}", route.path));
    below.ports = Ports::kServing;
    below.is_open = false;  // it says which models there are
    add(below);
  }
}

const Table& table() {
  static const Table all;
  return all;
}

bool is_second_part(std::string_view segment) {
  return is_name(segment) && std::ranges::find(table().words_of_models, segment) == table().words_of_models.end();
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
      if (count > 2 || (count == 2 && !(is_name(path[at]) && is_second_part(path[at + 1])))) return false;
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
  return table().routes;
}

namespace {

// Calls `take` with each route that has the path, until it returns true.
template <class Take>
void for_each_match(std::string_view path, Take take) {
  const std::vector<std::string_view> segments = segments_of(path);
  for (size_t i = 0; i < table().routes.size(); ++i) {
    RouteMatch match{&table().routes[i], {}, {}, {}};
    if (matches(table().patterns[i], segments, match) && take(match)) return;
  }
}

// The route of a request; without one where no route matches.
RouteMatch find_match(std::string_view method, std::string_view path) {
  RouteMatch found;
  for_each_match(path, [&](RouteMatch& match) {
    const bool is_found = takes(*match.route, method);
    if (is_found) found = std::move(match);
    return is_found;
  });
  return found;
}

}  // namespace

std::string allowed_methods(std::string_view path) {
  std::string methods;
  for_each_match(path, [&](const RouteMatch& match) {
    const std::string_view more = match.route->method == "GET" ? "GET, HEAD" : match.route->method;
    if (methods.find(more) == methods.npos) methods += fmt::format("{}{}", methods.empty() ? "" : ", ", more);
    return false;
  });
  return methods;
}

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
  std::optional<Dialect> found;
  for_each_match(path, [&](const RouteMatch& match) {
    found = match.route->dialect;
    return true;
  });
  if (found) return *found;
  if (path.starts_with("/v2")) return Dialect::kKserve;
  return path.starts_with("/v1") ? Dialect::kOpenAi : Dialect::kTei;
}

std::string misleading_path(std::string_view name) {
  constexpr std::string_view kSlot = "{model}";
  for (const Route& route : all_routes()) {
    const size_t at = route.path.find(kSlot);
    if (at == route.path.npos) continue;
    std::string path(route.path);
    path.replace(at, kSlot.size(), name);
    for (const std::string_view slot : {"{task}", "{file}"}) {
      if (const size_t place = path.find(slot); place != path.npos) path.replace(place, slot.size(), "a");
    }
    const RouteMatch match = find_match(route.method, path);
    if (match.route != &route || match.model != name) return path;
  }
  return "";
}

}  // namespace deberta::serve

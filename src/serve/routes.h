// The table of routes: which path and method mean what, in whose words errors are told.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "serve/answering.h"
#include "serve/api_error.h"
#include "serve/keys.h"

namespace deberta::serve {

enum class RouteKind {
  kAnswer,
  kOwnTask,
  kHubTask,
  kHubOwnTask,
  kHealth,
  kLive,
  kInfo,
  kModels,
  kMetrics,
  kServer,
  kModel,
  kReady,
  kPage,
  kAdminModels,
  kAdminQueue,
  kAdminLoad,
  kAdminUnload,
  kAdminReload,
  kAdminLog,
  kExplain,
  kExplainTerms,
  kExplainHeads,
  kExplainThumbnails
};

struct Route {
  std::string_view method;
  std::string_view path;  // {model}: one or two segments; {task}, {file}: one
  RouteKind kind;
  Dialect dialect;
  Answering (*answer)(const ServedModel& model, Body& body) = nullptr;  // kAnswer
  Scope scope = Scope::kInfer;                                          // of the keys that open it
  bool is_open = false;                                                 // without a key too
  bool has_tail = false;  // bytes behind the JSON, where the header Inference-Header-Content-Length says so
};

struct RouteMatch {
  const Route* route = nullptr;
  std::string model, task, file;
};
// Throws kNotFound, and kMethod with the methods there are.
RouteMatch match_route(std::string_view method, std::string_view path);
const Route* find_route(std::string_view method, std::string_view path);  // null for none
// The methods of a path, "GET, HEAD"; empty: no such path.
std::string allowed_methods(std::string_view path);
std::span<const Route> all_routes();
// In whose words a request that no route takes is refused.
Dialect dialect_of(std::string_view path);

}  // namespace deberta::serve

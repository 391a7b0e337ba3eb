// The table of routes: what each method and path does, who may ask, and in which dialect errors are written.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "serve/answering.h"
#include "serve/api_error.h"
#include "serve/http.h"
#include "serve/keys.h"
#include "serve/server.h"

namespace deberta::serve {

struct RouteMatch;

// What an inference request carries beside its body: the task that its path names (of the hub), and its client.
struct RouteRequest {
  std::string_view task, user_agent;
};
struct GetRequest {
  const RouteMatch& match;
  const HttpRequest& request;
  const std::string& owner;  // the name of the client's key
};

// What a route does, by when and where it may run: a route of another kind is another type, which Call::begin() must
// take before this compiles.
using Answer = Answering (*)(const ServedModel& model, Body& body,
                             const RouteRequest& request);                              // on a thread of the pool
using Get = HttpResponse (*)(Server::State& server, const GetRequest& request);         // at once; soon done
using Command = Json (*)(Server::State& server, const std::string& model, Body& body);  // on the loader's thread
using Explain = HttpResponse (*)(Server::State& server, const ServedModel& model, Body& body,
                                 const std::string& owner);  // on the explainer's thread
using Handler = std::variant<Answer, Get, Command, Explain>;

enum class Ports { kServing, kBoth, kMetrics };  // kMetrics: that of --metrics-port where there is one

struct Route {
  std::string_view method;
  std::string_view path;  // {model}: one or two segments; {task}, {file}: one
  Handler handler;
  Dialect dialect = Dialect::kTei;
  Scope scope = Scope::kInfer;  // of the keys that open it
  Ports ports = Ports::kServing;
  bool is_open = false;   // without a key too
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

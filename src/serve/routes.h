// The table of routes: the handler of each method and path, the scope that it needs, and the dialect of its errors.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "serve/answering.h"
#include "serve/api_error.h"
#include "serve/http.h"
#include "serve/keys.h"

namespace deberta::serve {

struct RouteMatch;
struct ServerState;

// What an inference request has beside its body: the hub's task that its path names, and its client.
struct RouteRequest {
  std::string_view task, user_agent;
};
struct GetRequest {
  const RouteMatch& match;
  const HttpRequest& request;
  const std::string& owner;  // the name of the client's key
};

// The kinds of handlers, by when and where they run. Another kind is another type, and Call::begin() needs an overload
// for it before this compiles.
using Answer = Answering (*)(const ServedModel& model, Body& body,
                             const RouteRequest& request);                     // on a thread of the pool
using Get = HttpResponse (*)(ServerState& server, const GetRequest& request);  // at once; soon done
using Report = Json (*)(const ServerState& server, Body& body);                // on a thread of the pool; no model runs
// Reads the body and returns what is done then, on the loader's thread: nothing is, where a field is refused.
using Command = std::function<Json()> (*)(ServerState& server, const std::string& model, Body& body);
using Explain = HttpResponse (*)(ServerState& server, const ServedModel& model, Body& body,
                                 const std::string& owner);  // on the explainer's thread
using Handler = std::variant<Answer, Get, Report, Command, Explain>;

enum class Ports { kServing, kBoth, kMetrics };  // kMetrics: --metrics-port where it is set

struct Route {
  std::string_view method;
  std::string_view path;  // {model}: one or two segments; {task}, {file}: one
  Handler handler;
  Dialect dialect = Dialect::kTei;
  Scope scope = Scope::kInfer;  // that a key needs
  Ports ports = Ports::kServing;
  bool is_open = false;   // to requests without a key
  bool has_tail = false;  // bytes behind the JSON, as the header Inference-Header-Content-Length states
  // A GET that also exists below /models/{model}, as each Answer does whose path names no model.
  bool is_of_model = false;
};

struct RouteMatch {
  const Route* route = nullptr;
  std::string model, task, file;
};
// Throws kNotFound, and kMethod with the path's methods.
RouteMatch match_route(std::string_view method, std::string_view path);
const Route* find_route(std::string_view method, std::string_view path);  // null for none
// The methods of a path, "GET, HEAD"; empty: no such path.
std::string allowed_methods(std::string_view path);
// The rows, and behind them those that follow from them: the routes below /models/{model}, the base URL of one model.
// None of the latter is open, and all are of the serving port.
std::span<const Route> all_routes();
// A path with this name of a model that does not lead to it; empty: there is none. A word that follows {model} in a
// route, such as embed or v1, is never the second part of a name in a path: /models/org/embed is the route /embed of
// org. Written org%2Fembed, the name is one segment and can be nothing else.
std::string misleading_path(std::string_view name);
// The dialect in which a request for a path is refused, also where no route matches it.
Dialect dialect_of(std::string_view path);

}  // namespace deberta::serve

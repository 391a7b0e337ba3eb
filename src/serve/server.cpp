#include "serve/server.h"

#include <fmt/format.h>

#include <algorithm>

#include "deberta/library.h"
#include "serve/api_error.h"
#include "serve/call.h"
#include "serve/server_state.h"
#include "web/files.h"

namespace deberta::serve {
namespace {

constexpr size_t kMostId = 64;  // characters of a request's own id

// The least status that is told.
int least_status(LogLevel level) {
  return level == LogLevel::kInfo ? 0 : level == LogLevel::kWarning ? 400 : 500;
}

// A page, and what its browser may load for it: the server's own files.
HttpResponse page_response(const RouteMatch& match) {
  // /docs is docs.html, and the files below it are docs.js and docs.css; so are those of /explorer.
  const std::string_view path = match.route->path.substr(1);
  const std::string page(path.substr(0, path.find('/')));
  std::string name = page.find('.') != std::string::npos ? page : page + ".html";
  if (!match.file.empty()) name = match.file.starts_with(page) ? match.file : "";
  const web::File* file = web::find_file(name);
  if (file == nullptr) throw ApiError(ApiCode::kNotFound, fmt::format("no file {}", quote_json(match.file)));
  return {
      .status = 200,
      .headers = {{"content-type", std::string(file->type)},
                  {"content-security-policy",
                   "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                   "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}},
      .body = std::string(file->text)};
}

}  // namespace

std::string id_of(const HttpRequest& request) {
  const std::string_view given = request.header("x-request-id");
  return is_plain_name(given, kMostId) ? std::string(given) : new_id();
}

std::shared_ptr<Served> Server::State::open(const ModelPlace& place) {
  auto served =
      std::make_shared<Served>(Served{.model = {.name = place.name,
                                                .path = place.path,
                                                .pipeline = open_pipeline(place.path, settings.model, settings.open),
                                                .max_client_batch = settings.max_client_batch,
                                                .cuts = settings.cuts},
                                      .worker = nullptr});
  const size_t limit = settings.max_input_length;
  served->model.max_input_length = std::min(limit, served->model.pipeline.tokenizer.max_length().value_or(limit));
  QueueLimits limits = settings.queue;
  const ModelConfig& config = served->model.pipeline.config;
  limits.even_length = static_cast<double>(config.hidden_size) + static_cast<double>(config.intermediate_size) / 2;
  const Model& model = served->model.pipeline.model;
  // Logits of every word of the vocabulary are large: packs as small as the program's.
  if (model.head() == Head::kMaskedLm) limits.batch_work = std::min(limits.batch_work, double{kMaskedPackTokens});
  served->worker =
      std::make_unique<ModelWorker>(limits, [&model](uint64_t, std::span<const PlannedSequence> pack,
                                                     ForwardResult& result) { run_pack(model, pack, result); });
  served->worker->on_batch([this, name = place.name, most = limits.batch_work](const BatchFacts& facts) {
    metrics.count_batch(name, facts.sequences, facts.tokens, std::min(1.0, facts.work / most));
  });
  return served;
}

void Server::State::reload(const std::string& name, bool forces) {
  try {
    models.reload(name, forces);
    ++reloads;
  } catch (...) {
    ++failed_reloads;
    throw;
  }
}

// Null without keys. Throws kUnauthorized.
const Key* Server::State::check_key(const HttpRequest& head) const {
  if (settings.keys.empty()) return nullptr;
  const Key* key = settings.keys.find(head.header("authorization"));
  if (key == nullptr) throw ApiError(ApiCode::kUnauthorized, "expected a valid key in Authorization: Bearer");
  return key;
}

// Lets the page that asks read the answer, where its origin may.
void Server::State::add_origin(const HttpRequest& head, std::vector<Header>& headers) const {
  const std::string_view origin = head.header("origin");
  const auto is = [&](std::string_view one) {
    return std::find(settings.origins.begin(), settings.origins.end(), one) != settings.origins.end();
  };
  if (origin.empty() || (!is(origin) && !is("*"))) return;
  headers.emplace_back("access-control-allow-origin", is("*") ? "*" : std::string(origin));
  headers.emplace_back("access-control-expose-headers",
                       "x-request-id, retry-after, x-ignored-fields, x-compute-tokens");
  headers.emplace_back("vary", "origin");
}

// The address of the client: behind a proxy that is trusted, the last one that it names.
std::string Server::State::client_of(const HttpRequest& head) const {
  const std::vector<std::string>& trusted = settings.trusted_proxies;
  if (std::find(trusted.begin(), trusted.end(), head.peer) == trusted.end()) return head.peer;
  const std::string_view forwarded = head.header("x-forwarded-for");
  const size_t comma = forwarded.rfind(',');
  std::string_view last = comma == std::string_view::npos ? forwarded : forwarded.substr(comma + 1);
  while (last.starts_with(' ')) last.remove_prefix(1);
  return last.empty() || last.size() > kMostId ? head.peer : std::string(last);
}

// What is refused before the body is read.
std::optional<HttpResponse> Server::State::refuse(const HttpRequest& head) {
  try {
    const std::string methods = head.method == "OPTIONS" ? allowed_methods(head.path) : "";
    std::vector<Header> preflight = {{"allow", methods}};
    if (!methods.empty() && !head.header("access-control-request-method").empty()) {
      add_origin(head, preflight);
      if (preflight.size() > 1) {  // a browser asks before it sends the key
        preflight.insert(preflight.end(),
                         {{"access-control-allow-methods", methods},
                          {"access-control-allow-headers",
                           "authorization, content-type, x-model, x-priority, x-deadline-ms, x-request-id"},
                          {"access-control-max-age", "600"}});
        return HttpResponse{.status = 204, .headers = preflight};
      }
    }
    const Route* route = find_route(head.method, head.path);
    const Key* key = route != nullptr && route->is_open ? nullptr : check_key(head);
    if (!methods.empty()) return HttpResponse{.status = 204, .headers = preflight};
    const Route& matched = route != nullptr ? *route : *match_route(head.method, head.path).route;  // which throws
    if ((matched.scope == Scope::kAdmin && !settings.has_admin) ||
        (matched.scope == Scope::kExplain && !settings.has_explorer))
      throw ApiError(ApiCode::kNotFound, "no such route");
    if (key != nullptr && !key->opens(matched.scope))
      throw ApiError(ApiCode::kForbidden, fmt::format("the key has no scope {}", to_string(matched.scope)));
    return std::nullopt;
  } catch (const ApiError& error) {
    HttpResponse response = error_response(error, dialect_of(head.path));
    if (error.code == ApiCode::kMethod) response.headers.emplace_back("allow", allowed_methods(head.path));
    const std::string id = id_of(head);
    response.headers.emplace_back("x-request-id", id);
    add_origin(head, response.headers);
    tell({.route = error.code == ApiCode::kNotFound
                       ? "none"
                       : std::string(dialect_of(head.path) == Dialect::kTei ? "tei" : "other"),
          .model = {},
          .status = response.status,
          .failure = failure_of(error.code)},
         id, head, "");
    return response;
  }
}

void Server::State::handle(const std::shared_ptr<Exchange>& exchange) {
  std::make_shared<Call>(*this, exchange)->start();
}

HttpResponse Server::State::get(const RouteMatch& match, const HttpRequest& request) {
  const Dialect dialect = match.route->dialect;
  switch (match.route->kind) {
    case RouteKind::kInfo:
      return json_response(info());
    case RouteKind::kModels:
      return json_response(list());
    case RouteKind::kMetrics:
      return {.status = 200,
              .headers = {{"content-type", "text/plain; version=0.0.4; charset=utf-8"}},
              .body = metrics.text(gauges())};
    case RouteKind::kPage:
      return page_response(match);
    case RouteKind::kServer:
      return json_response(kserve::server_json(version()));
    case RouteKind::kModel:
      return json_response(kserve::model_json(models.find(match.model)->model));
    case RouteKind::kLive:
      return json_response(JsonObject{{"live", true}});
    case RouteKind::kReady:
      models.find(match.model);
      break;
    case RouteKind::kExplainTerms:
      return explanations.terms(request.query, microseconds());
    case RouteKind::kExplainHeads:
      return explanations.heads(request.query, microseconds());
    case RouteKind::kExplainThumbnails:
      return explanations.thumbnails(request.query, microseconds());
    case RouteKind::kAdminModels:
      return json_response(admin_models());
    case RouteKind::kAdminQueue:
      return json_response(admin_queue());
    default:
      break;
  }
  if (is_leaving || is_draining) return error_response({ApiCode::kDraining, "the server is about to end"}, dialect);
  if (!models.is_ready()) return error_response({ApiCode::kLoading, "models are being loaded"}, dialect);
  return json_response(dialect == Dialect::kKserve ? JsonObject{{"ready", true}} : JsonObject{{"status", "ok"}});
}

void Server::State::tell(const RequestFacts& facts, const std::string& id, const HttpRequest& request,
                         const std::string& key) {
  metrics.count(facts);
  if (facts.status < least_status(log_level)) return;
  log({.id = id,
       .method = request.method,
       .route = facts.route,
       .model = facts.model,
       .key = key,
       .trace = header_text(request.header("traceparent")),
       .status = facts.status,
       .items = facts.items,
       .tokens = facts.tokens,
       .queue_ms = facts.queue_s * 1000,
       .inference_ms = facts.inference_s * 1000,
       .total_ms = facts.total_s * 1000});
}

void Server::State::expire() {
  for (const std::shared_ptr<Served>& served : models.open_ones()) served->worker->expire();
  if (!is_closing.exchange(true)) {
    loader->post([this] {
      models.close_unused();
      is_closing = false;
    });
  }
}

Server::Server(const ServerSettings& settings, std::function<void(const RequestLog&)> log)
    : state_(std::make_unique<State>(settings, std::move(log))) {
  State* state = state_.get();
  HttpHooks hooks;
  hooks.refuse = [state](const HttpRequest& head) { return state->refuse(head); };
  hooks.handle = [state](const std::shared_ptr<Exchange>& exchange) { state->handle(exchange); };
  hooks.error = [](int status, const std::string& why) {
    return error_response({code_of_status(status), why}, Dialect::kTei);
  };
  hooks.tick = [state] { state->expire(); };
  state->http = std::make_unique<HttpServer>(settings.http, std::move(hooks));
  state->http->start();
}

// The port first, then what computes; then nobody asks the readers and the loader for anything, and they end.
Server::~Server() {
  state_->http->stop();
  state_->explainer.reset();
  state_->loader.reset();
  state_->models.stop();
  state_->pool.reset();
}

void Server::open_models() {
  state_->models.open_all();
}

void Server::reload_models(std::function<void(const std::string& name, const std::string& error)> tell) {
  for (const ModelSet::Status& status : state_->models.statuses()) {
    if (status.state != "open") continue;
    state_->loader->post([state = state_.get(), name = status.name, tell] {
      try {
        state->reload(name, false);
        tell(name, "");
      } catch (const ApiError& error) {
        tell(name, error.message);
      } catch (const std::exception& error) {
        tell(name, error.what());
      }
    });
  }
}

uint16_t Server::port() const {
  return state_->http->port();
}

void Server::leave() {
  state_->is_leaving = true;
}

bool Server::drain(double seconds) {
  state_->is_draining = true;
  state_->http->drain();
  return state_->http->wait_until_closed(seconds);
}

}  // namespace deberta::serve

#include "serve/server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <fstream>
#include <memory>
#include <random>
#include <thread>

#include "base/json.h"
#include "base/sha256.h"
#include "deberta/library.h"
#include "serve/answering.h"
#include "serve/api_error.h"
#include "serve/model_worker.h"
#include "serve/routes.h"
#include "serve/work_pool.h"
#include "web/files.h"

namespace deberta::serve {
namespace {

constexpr JsonLimits kBodyLimits = {.max_bytes = SIZE_MAX, .max_depth = 32, .max_nodes = 1000000};

double seconds_of(int64_t microseconds) {
  return static_cast<double>(microseconds) * 1e-6;
}

constexpr size_t kMostId = 64;       // characters of a request's own id
constexpr size_t kMostIgnored = 16;  // fields that are named

std::string new_request_id() {
  static std::atomic<uint64_t> next = 0;
  static const uint64_t start = std::random_device()();
  return fmt::format("{:08x}{:08x}", start & 0xffffffff, next++ & 0xffffffff);
}

// In a time that does not depend on where the two differ.
bool are_equal(const std::string& a, const std::string& b) {
  const std::string one = sha256_of(std::as_bytes(std::span(a))), other = sha256_of(std::as_bytes(std::span(b)));
  unsigned char difference = 0;
  for (size_t i = 0; i < one.size(); ++i) difference |= static_cast<unsigned char>(one[i] ^ other[i]);
  return difference == 0;
}

// The reason of request_failure_total.
std::string_view failure_of(ApiCode code) {
  switch (code) {
    case ApiCode::kUnauthorized:
    case ApiCode::kForbidden:
      return "auth";
    case ApiCode::kTooLarge:
    case ApiCode::kBatchTooLarge:
    case ApiCode::kUriTooLong:
    case ApiCode::kHeadersTooLarge:
      return "too_large";
    case ApiCode::kOverloaded:
    case ApiCode::kLoading:
    case ApiCode::kDraining:
    case ApiCode::kTooManyConnections:
      return "overloaded";
    case ApiCode::kDeadline:
    case ApiCode::kRequestTimeout:
      return "deadline";
    case ApiCode::kBackendNan:
      return "backend";
    case ApiCode::kInternal:
      return "internal";
    default:
      return "validation";
  }
}

struct Entry {
  ServedModel model;
  std::unique_ptr<ModelWorker> worker;
};

JsonObject labels_json(const ModelConfig& config) {
  JsonObject id2label, label2id;
  for (size_t i = 0; i < config.labels.size(); ++i) {
    id2label.emplace_back(std::to_string(i), config.labels[i]);
    label2id.emplace_back(config.labels[i], uint64_t{i});
  }
  return {{"id2label", std::move(id2label)}, {"label2id", std::move(label2id)}};
}

// The model's kind, in the words of text-embeddings-inference and beyond.
JsonObject model_type_json(const ServedModel& model) {
  const Model& m = model.pipeline.model;
  switch (m.head()) {
    case Head::kSequence:
      return {{m.labels() == 1 ? "reranker" : "classifier", labels_json(model.pipeline.config)}};
    case Head::kToken:
    case Head::kTokenOriginal:
      return {{"token_classifier", labels_json(model.pipeline.config)}};
    case Head::kSpan:
      return {{"span", JsonObject()}};
    case Head::kMaskedLm:
      return {{"masked_lm", JsonObject()}};
    case Head::kReplacedToken:
      return {{"rtd", JsonObject()}};
    case Head::kNone:
      break;
  }
  return {{"embedding", JsonObject{{"pooling", "mean"}}}};
}

// A page, and what its browser may load for it: the server's own files.
HttpResponse page_response(const RouteMatch& match) {
  // /docs is docs.html, and the files below it are docs.js and docs.css; /openapi.json is itself.
  std::string name(match.route->path.substr(1));
  if (name == "docs") name += ".html";
  if (!match.file.empty()) name = match.file.starts_with("docs.") ? match.file : "";
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

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

struct Server::State {
  State(const ServerSettings& settings_, std::function<void(const RequestLog&)> log_)
      : settings(settings_), log(std::move(log_)), pool(std::max<size_t>(1, settings_.readers)) {}

  void load();
  Entry& find(const std::string& name);
  std::optional<HttpResponse> refuse(const HttpRequest& head);
  void check_key(const HttpRequest& head) const;
  void handle(const std::shared_ptr<Exchange>& exchange);
  HttpResponse get(const RouteMatch& match);
  Json info() const;
  Json list() const;
  std::vector<GaugeValue> gauges() const;
  std::string names() const;
  std::string compute_type() const;
  void tell(const RequestFacts& facts, const std::string& id, const std::string& method);
  void expire();

  const ServerSettings settings;
  std::function<void(const RequestLog&)> log;
  Metrics metrics;
  std::atomic<size_t> inflight = 0;
  std::atomic<bool> is_draining = false;
  std::unique_ptr<HttpServer> http;  // its memory outlives the responses that come late
  WorkPool pool;
  std::vector<std::unique_ptr<Entry>> models;
};

namespace {

// One request from its arrival to its answer.
class Call : public std::enable_shared_from_this<Call> {
 public:
  Call(Server::State& server, std::shared_ptr<Exchange> exchange)
      : server_(server), exchange_(std::move(exchange)), begun_(microseconds()) {
    const std::string_view given = request().header("x-request-id");
    id_ = is_plain_name(given, kMostId) ? std::string(given) : new_request_id();
    ++server_.inflight;
  }
  ~Call();

  void start();
  void fail(const std::exception_ptr& error);
  void respond(HttpResponse response, std::string_view failure);

  const HttpRequest& request() const { return exchange_->request(); }

 private:
  std::pair<std::string_view, std::string_view> parts_of_body() const;
  void read();
  Answering make(Body& body);
  RequestInfo info() const;
  void submit(Answering made);
  void finish(const std::function<HttpResponse()>& respond_with);
  void add_headers(HttpResponse& response) const;
  // Whether nobody has answered so far; from now on somebody has.
  bool take_turn() {
    if (is_counted_.exchange(true)) return false;
    --server_.inflight;
    return true;
  }

  Server::State& server_;
  std::shared_ptr<Exchange> exchange_;
  RouteMatch match_;
  Entry* entry_ = nullptr;
  std::string id_, field_ = "/inputs";
  std::optional<RequestId> admitted_;
  Outcome outcome_;
  RequestFacts facts_;
  size_t characters_ = 0;
  std::vector<std::string> ignored_;
  int64_t begun_, read_ = 0, submitted_ = 0;
  std::atomic<bool> is_counted_ = false;
  std::atomic<bool> has_left_ = false;
};

Call::~Call() {
  if (admitted_) entry_->worker->cancel(*admitted_);
  if (take_turn()) {  // nobody has answered: the client has left, or the server ends
    facts_.status = 499;
    facts_.failure = "cancelled";
    facts_.total_s = seconds_of(microseconds() - begun_);
    server_.tell(facts_, id_, request().method);
  }
}

void Call::start() {
  try {
    match_ = match_route(request().method, request().path);
    facts_.route = match_.route->path;
    if (match_.route->method == "GET") {
      HttpResponse response = server_.get(match_);
      const bool is_well = response.status == 200;
      return respond(std::move(response), is_well ? "" : "overloaded");
    }
    if (server_.is_draining) throw ApiError(ApiCode::kDraining, "the server is about to end");
    if (server_.inflight > server_.settings.queue.requests)
      throw ApiError(ApiCode::kOverloaded, "too many requests at once");
    server_.pool.post([self = shared_from_this()] { self->read(); });
  } catch (...) {
    fail(std::current_exception());
  }
}

RequestInfo Call::info() const {
  int64_t deadline_ms = server_.settings.deadline_ms;
  const std::string given(request().header("x-deadline-ms"));
  if (!given.empty() && given.size() < 10 &&
      std::all_of(given.begin(), given.end(), [](char c) { return c >= '0' && c <= '9'; }))
    deadline_ms = std::min<int64_t>(deadline_ms, std::stoll(given));
  const std::string_view key = request().header("authorization");
  return {.client = key.empty() ? request().peer : std::string(key),
          .priority = Priority::kNormal,
          .deadline = begun_ + deadline_ms * 1000};
}

// The JSON, and the bytes behind it.
std::pair<std::string_view, std::string_view> Call::parts_of_body() const {
  const std::string_view body = request().body, given = request().header("inference-header-content-length");
  if (match_.route->has_tail && !given.empty()) {
    size_t size = 0;
    const auto read = std::from_chars(given.data(), given.data() + given.size(), size);
    if (read.ec != std::errc() || read.ptr != given.data() + given.size() || size > body.size())
      throw ApiError(ApiCode::kBadRequest,
                     fmt::format("Inference-Header-Content-Length: expected at most {}, the body's length, got {}",
                                 body.size(), quote_json(given)));
    return {body.substr(0, size), body.substr(size)};
  }
  const std::string_view type = request().header("content-type");
  if (!type.empty() && type.find("json") == std::string_view::npos)
    throw ApiError(ApiCode::kMediaType, "expected application/json");
  return {body, {}};
}

// From the body to the sequences that run.
void Call::read() {
  try {
    const auto [text, tail] = parts_of_body();
    Json json;
    try {
      json = parse_json(text, "body", kBodyLimits);
    } catch (const Error& error) {
      throw ApiError(ApiCode::kBadJson, fmt::format("{}: {}", error.where(), error.message()));
    }
    Body body(json, {}, tail);
    std::string name = match_.model;
    if (name.empty()) name = std::string(request().header("x-model"));
    if (name.empty() && server_.models.size() > 1) name = body.text("model").value_or("");
    entry_ = &server_.find(name);
    facts_.model = entry_->model.name;
    admitted_ = entry_->worker->admit(info(), request().body.size() / 2);
    if (!admitted_) throw ApiError(ApiCode::kOverloaded, "the queue is full");
    Answering made = make(body);
    ignored_ = body.unknown();
    facts_.items = made.items;
    facts_.tokens = made.tokens;
    facts_.is_batch = made.items > 1;
    characters_ = made.characters;
    read_ = microseconds();
    if (made.plan == nullptr) return finish(made.respond);
    submit(std::move(made));
  } catch (...) {
    fail(std::current_exception());
  }
}

Answering Call::make(Body& body) {
  const ServedModel& model = entry_->model;
  const std::string_view agent = request().header("user-agent");
  switch (match_.route->kind) {
    case RouteKind::kAnswer:
      if (match_.route->dialect == Dialect::kOpenAi) field_ = "/input";
      if (match_.route->dialect == Dialect::kCohere || match_.route->dialect == Dialect::kKserve) field_.clear();
      return match_.route->answer(model, body);
    case RouteKind::kHubTask:
      return hub::find_task(match_.task, agent)(model, body);
    case RouteKind::kHubOwnTask:
      return hub::find_task(hub::own_task(model), agent)(model, body);
    default:
      break;
  }
  // A body with `parameters` is one of the hub's; else the task of text-embeddings-inference that the model is for.
  if (body.find("parameters") != nullptr) return hub::find_task(hub::own_task(model), agent)(model, body);
  const Head head = model.pipeline.model.head();
  if (head == Head::kNone) return tei::embed(model, body);
  if (head != Head::kSequence) return hub::find_task(hub::own_task(model), agent)(model, body);
  return body.find("query") != nullptr ? tei::rerank(model, body) : tei::predict(model, body);
}

void Call::submit(Answering made) {
  const RequestId id = *std::exchange(admitted_, std::nullopt);  // the worker's from now on
  exchange_->on_disconnect([weak = weak_from_this(), id] {
    const std::shared_ptr<Call> self = weak.lock();
    if (!self) return;
    self->has_left_ = true;
    self->entry_->worker->cancel(id);
  });
  submitted_ = microseconds();
  const auto done = [self = shared_from_this(), respond_with = std::move(made.respond)](const Outcome& outcome) {
    self->outcome_ = outcome;
    self->server_.pool.post([self, respond_with] { self->finish(respond_with); });
  };
  try {
    if (entry_->worker->submit(id, std::move(made.plan), made.kind, done)) return;
  } catch (...) {
    entry_->worker->cancel(id);
    throw;
  }
  if (microseconds() >= info().deadline) throw ApiError(ApiCode::kDeadline, "the deadline has passed");
  throw ApiError(ApiCode::kOverloaded, "the queue is full");
}

void Call::finish(const std::function<HttpResponse()>& respond_with) {
  try {
    if (outcome_.kind == Outcome::Kind::kLate) throw ApiError(ApiCode::kDeadline, "the deadline has passed");
    if (outcome_.kind == Outcome::Kind::kFailed) return fail(outcome_.error);
    facts_.has_run = submitted_ > 0;
    facts_.tokenization_s = seconds_of(read_ - begun_);
    facts_.queue_s = seconds_of(outcome_.queue_time);
    facts_.inference_s = seconds_of(outcome_.compute_time);
    respond(respond_with(), "");
  } catch (...) {
    fail(std::current_exception());
  }
}

void Call::fail(const std::exception_ptr& error) {
  ApiError told = api_error_of(error, field_);
  if (told.code == ApiCode::kOverloaded && entry_ != nullptr)
    told.retry_after_s = 1 + entry_->worker->time_to_drain() / 1000000;
  const Dialect dialect = match_.route != nullptr ? match_.route->dialect : dialect_of(request().path);
  respond(error_response(told, dialect), failure_of(told.code));
}

void Call::add_headers(HttpResponse& response) const {
  std::vector<Header>& headers = response.headers;
  headers.emplace_back("x-request-id", id_);
  headers.emplace_back("cache-control", "no-store");
  headers.emplace_back("x-content-type-options", "nosniff");
  if (entry_ == nullptr) return;
  const auto milliseconds = [](double s) { return std::to_string(static_cast<int64_t>(s * 1000)); };
  headers.emplace_back("x-compute-type", server_.compute_type());
  headers.emplace_back("x-compute-tokens", std::to_string(facts_.tokens));
  headers.emplace_back("x-compute-characters", std::to_string(characters_));
  headers.emplace_back("x-compute-time", milliseconds(facts_.tokenization_s + facts_.inference_s));
  headers.emplace_back("x-total-time", milliseconds(facts_.total_s));
  headers.emplace_back("x-tokenization-time", milliseconds(facts_.tokenization_s));
  headers.emplace_back("x-queue-time", milliseconds(facts_.queue_s));
  headers.emplace_back("x-inference-time", milliseconds(facts_.inference_s));
  if (ignored_.empty()) return;
  std::string names;
  for (size_t i = 0; i < std::min(ignored_.size(), kMostIgnored); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : ", ", header_text(ignored_[i]));
  headers.emplace_back("x-ignored-fields", ignored_.size() > kMostIgnored ? names + ", ..." : names);
}

void Call::respond(HttpResponse response, std::string_view failure) {
  if (!take_turn()) return;
  facts_.status = has_left_ ? 499 : response.status;
  facts_.failure = has_left_ ? "cancelled" : failure;
  facts_.total_s = seconds_of(microseconds() - begun_);
  add_headers(response);
  server_.tell(facts_, id_, request().method);
  exchange_->respond(std::move(response));
}

}  // namespace

void Server::State::load() {
  for (const ModelPlace& place : settings.models) {
    auto entry =
        std::make_unique<Entry>(Entry{.model = {.name = place.name,
                                                .path = place.path,
                                                .pipeline = open_pipeline(place.path, settings.model, settings.open),
                                                .max_client_batch = settings.max_client_batch,
                                                .cuts = settings.cuts},
                                      .worker = nullptr});
    const size_t limit = settings.max_input_length;
    entry->model.max_input_length = std::min(limit, entry->model.pipeline.tokenizer.max_length().value_or(limit));
    QueueLimits limits = settings.queue;
    const ModelConfig& config = entry->model.pipeline.config;
    limits.even_length = static_cast<double>(config.hidden_size) + static_cast<double>(config.intermediate_size) / 2;
    const Model& model = entry->model.pipeline.model;
    // Logits of every word of the vocabulary are large: packs as small as the program's.
    if (model.head() == Head::kMaskedLm) limits.batch_work = std::min(limits.batch_work, double{kMaskedPackTokens});
    entry->worker =
        std::make_unique<ModelWorker>(limits, [&model](uint64_t, std::span<const PlannedSequence> pack,
                                                       ForwardResult& result) { run_pack(model, pack, result); });
    entry->worker->on_batch([this, name = place.name, most = limits.batch_work](const BatchFacts& facts) {
      metrics.count_batch(name, facts.sequences, facts.tokens, std::min(1.0, facts.work / most));
    });
    models.push_back(std::move(entry));
  }
}

std::string Server::State::names() const {
  std::string all;
  for (const std::unique_ptr<Entry>& entry : models)
    all += fmt::format("{}{}", all.empty() ? "" : ", ", entry->model.name);
  return all;
}

Entry& Server::State::find(const std::string& name) {
  if (name.empty() && models.size() == 1) return *models.front();
  for (const std::unique_ptr<Entry>& entry : models) {
    if (entry->model.name == name) return *entry;
  }
  throw ApiError(ApiCode::kModelNotFound, name.empty()
                                              ? fmt::format("expected the name of a model; there are {}", names())
                                              : fmt::format("no model {}; there are {}", quote_json(name), names()));
}

void Server::State::check_key(const HttpRequest& head) const {
  if (settings.api_key.empty() || head.path == "/health" || head.path == "/ping" ||
      head.path.starts_with("/v2/health/"))
    return;
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view given = head.header("authorization");
  if (!given.starts_with(kBearer) || !are_equal(std::string(given.substr(kBearer.size())), settings.api_key))
    throw ApiError(ApiCode::kUnauthorized, "expected a valid key in Authorization: Bearer");
}

// What is refused before the body is read.
std::optional<HttpResponse> Server::State::refuse(const HttpRequest& head) {
  try {
    check_key(head);
    if (head.method == "OPTIONS") {
      const std::string methods = allowed_methods(head.path);
      if (!methods.empty()) return HttpResponse{.status = 204, .headers = {{"allow", methods}}};
    }
    match_route(head.method, head.path);
    return std::nullopt;
  } catch (const ApiError& error) {
    HttpResponse response = error_response(error, dialect_of(head.path));
    if (error.code == ApiCode::kMethod) response.headers.emplace_back("allow", allowed_methods(head.path));
    const std::string_view id = head.header("x-request-id");
    const std::string given = is_plain_name(id, kMostId) ? std::string(id) : new_request_id();
    response.headers.emplace_back("x-request-id", given);
    tell({.route = error.code == ApiCode::kNotFound
                       ? "none"
                       : std::string(dialect_of(head.path) == Dialect::kTei ? "tei" : "other"),
          .model = {},
          .status = response.status,
          .failure = failure_of(error.code)},
         given, head.method);
    return response;
  }
}

void Server::State::handle(const std::shared_ptr<Exchange>& exchange) {
  std::make_shared<Call>(*this, exchange)->start();
}

HttpResponse Server::State::get(const RouteMatch& match) {
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
      return json_response(kserve::model_json(find(match.model).model));
    case RouteKind::kLive:
      return json_response(JsonObject{{"live", true}});
    case RouteKind::kReady:
      find(match.model);
      break;
    default:
      break;
  }
  if (is_draining) return error_response({ApiCode::kDraining, "the server is about to end"}, dialect);
  return json_response(dialect == Dialect::kKserve ? JsonObject{{"ready", true}} : JsonObject{{"status", "ok"}});
}

std::string Server::State::compute_type() const {
  return fmt::format("cpu-{}", to_string(settings.model.precision));
}

Json Server::State::info() const {
  const ServedModel& model = models.front()->model;
  JsonArray all;
  for (const std::unique_ptr<Entry>& entry : models)
    all.push_back(JsonObject{{"name", entry->model.name},
                             {"model_type", model_type_json(entry->model)},
                             {"task", hub::own_task(entry->model)},
                             {"max_input_length", uint64_t{entry->model.max_input_length}}});
  return JsonObject{{"model_id", model.name},
                    {"model_sha", Json()},
                    {"model_dtype", std::string(to_string(settings.model.precision))},
                    {"served_model_name", model.name},
                    {"model_type", model_type_json(model)},
                    {"max_concurrent_requests", uint64_t{settings.queue.requests}},
                    {"max_input_length", uint64_t{model.max_input_length}},
                    {"max_batch_tokens", static_cast<uint64_t>(settings.queue.batch_work)},
                    {"max_batch_requests", uint64_t{settings.queue.batch_sequences}},
                    {"max_client_batch_size", uint64_t{settings.max_client_batch}},
                    {"auto_truncate", settings.cuts},
                    {"tokenization_workers", uint64_t{settings.readers}},
                    {"version", version()},
                    {"device", compute_type()},
                    {"models", std::move(all)}};
}

Json Server::State::list() const {
  JsonArray all;
  for (const std::unique_ptr<Entry>& entry : models)
    all.push_back(JsonObject{{"id", entry->model.name}, {"object", "model"}, {"created", 0}, {"owned_by", "deberta"}});
  return JsonObject{{"object", "list"}, {"data", std::move(all)}};
}

std::vector<GaugeValue> Server::State::gauges() const {
  std::vector<GaugeValue> values;
  const HttpCounts counts = http->counts();
  values.push_back({"connections", "", static_cast<double>(counts.connections)});
  values.push_back({"connections_total", "", static_cast<double>(counts.accepted)});
  values.push_back({"connections_refused_total", "", static_cast<double>(counts.refused)});
  values.push_back({"inflight_requests", "", static_cast<double>(inflight)});
  values.push_back({"process_resident_memory_bytes", "", resident_bytes()});
  values.push_back(
      {"build_info", fmt::format("version=\"{}\",dtype=\"{}\"", version(), to_string(settings.model.precision)), 1});
  const auto add = [&](const std::string& name, const auto& value_of) {
    for (const std::unique_ptr<Entry>& entry : models)
      values.push_back({name, fmt::format("model=\"{}\"", entry->model.name),
                        static_cast<double>(value_of(entry->worker->gauges()))});
  };
  add("queue_items", [](const QueueGauges& g) { return g.sequences; });
  add("queue_tokens", [](const QueueGauges& g) { return g.tokens; });
  add("queue_requests", [](const QueueGauges& g) { return g.requests; });
  return values;
}

void Server::State::tell(const RequestFacts& facts, const std::string& id, const std::string& method) {
  metrics.count(facts);
  log({.id = id,
       .method = method,
       .route = facts.route,
       .model = facts.model,
       .status = facts.status,
       .items = facts.items,
       .tokens = facts.tokens,
       .queue_ms = facts.queue_s * 1000,
       .inference_ms = facts.inference_s * 1000,
       .total_ms = facts.total_s * 1000});
}

void Server::State::expire() {
  for (const std::unique_ptr<Entry>& entry : models) entry->worker->expire();
}

Server::Server(const ServerSettings& settings, std::function<void(const RequestLog&)> log)
    : state_(std::make_unique<State>(settings, std::move(log))) {
  State* state = state_.get();
  state->load();
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

Server::~Server() {
  state_->http->stop();
  for (const std::unique_ptr<Entry>& entry : state_->models) entry->worker.reset();
}

uint16_t Server::port() const {
  return state_->http->port();
}

bool Server::drain(double seconds) {
  state_->is_draining = true;
  state_->http->drain();
  return state_->http->wait_until_closed(seconds);
}

}  // namespace deberta::serve

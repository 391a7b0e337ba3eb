// Opens models with their queues, refuses requests by their heads, and logs every answer.
#include "serve/server_state.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>

#include "base/utf8.h"
#include "cost/operations.h"
#include "deberta/library.h"
#include "heads/head_facts.h"
#include "hub/module_list.h"
#include "pipeline/finding_classes.h"
#include "pipeline/packer.h"
#include "serve/api_error.h"
#include "serve/call.h"
#include "serve/coded_body.h"
#include "text/tokenizer_settings.h"

namespace deberta::serve {
namespace {

constexpr size_t kMostId = 64;                         // characters of an id that a request brings
constexpr size_t kMostField = 200, kMostDetail = 400;  // bytes in the log

// Without its benign labels a guard cannot say which window is the worst.
void check_windows(const ServedModel& model) {
  if (model.window_scores != WindowScores::kMax || model.pipeline.model.head() != Head::kSequence) return;
  try {
    finding_classes(model.pipeline, model.benign_labels);
  } catch (const Error& error) {
    Problem problem = error.problems().front();
    problem.message = fmt::format("{}: {}", model.name, problem.message);
    throw Error(error.code(), {std::move(problem)});
  }
}

// The lowest status that is logged.
int least_status(LogLevel level) {
  return level == LogLevel::kInfo ? 0 : level == LogLevel::kWarning ? 400 : 500;
}

// A pointer to a field has a client's own words: what it names its fields.
std::string one_line(const std::string& text, size_t most) {
  std::string line(utf8_begin(text, most));
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return line;
}

// An address as a proxy writes it: alone, with a port (192.0.2.1:4711, [2001:db8::1]:4711), or a name. Empty for text
// that is neither. Without the port, since each connection of a client has another.
std::string forwarded_address(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  text = text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
  if (text.starts_with('['))
    text = text.substr(1, std::min(text.find(']'), text.size()) - 1);
  else if (std::ranges::count(text, ':') == 1)
    text = text.substr(0, text.find(':'));
  const bool is_address = !text.empty() && text.size() <= kMostId && std::ranges::all_of(text, [](char c) {
    return c == ':' || c == '%' || is_plain_name({&c, 1}, 1);
  });
  return is_address ? std::string(text) : std::string();
}

// The most tokens of a text: `requested` or what the folder allows; without it, as many as the other verbs read.
size_t input_length(std::optional<size_t> requested, const std::string& folder) {
  constexpr size_t kUsual = EncodeOptions{}.max_tokens, kMost = 8192;
  const TextLimits limits = read_text_limits(folder);
  if (requested) return std::min(*requested, limits.max_tokens.value_or(*requested));
  return std::min(limits.length_for(kUsual).value_or(kUsual), kMost);
}

}  // namespace

std::string id_of(const HttpRequest& request) {
  const std::string_view requested_id = request.header("x-request-id");
  return is_plain_name(requested_id, kMostId) ? std::string(requested_id) : new_id();
}

ServerState::ServerState(ServerSettings settings_)
    : settings(std::move(settings_)),
      browser({.hosts = settings.allowed_hosts, .origins = settings.allowed_origins}),
      queue(queue_limits(settings)),
      readers(readers_of(settings)),
      has_explorer(settings.has_explorer.value_or(is_local(settings))),
      keys_(std::make_shared<const Keys>(read_keys(settings))),
      metrics(settings.has_tei_metrics),
      shares({.client_bytes = settings.limits.max_client_bytes,
              .all_bytes = settings.limits.memory_limit,
              .forwarded_requests = settings.limits.max_connections_per_address}),
      turns({.reading = readers}),
      pool(std::make_unique<WorkPool>(readers, 1)),
      models(model_sources(settings), [this](const ModelSource& source) { return open(source); }),
      rates(settings.limits.rate_limit),
      explanations(settings.limits.max_client_bytes) {}

std::shared_ptr<Served> ServerState::open(const ModelSource& source) {
  const std::string path = source.find ? source.find() : source.path;
  auto served =
      std::make_shared<Served>(Served{.model = {.name = source.name,
                                                .path = path,
                                                .pipeline = open_pipeline(path, settings.model, settings.open),
                                                .max_client_batch = settings.limits.max_client_batch,
                                                .most_tokens = settings.limits.max_client_bytes / kReadTokenBytes,
                                                .cuts = settings.cuts,
                                                .window_scores = settings.window_scores,
                                                .benign_labels = settings.benign_labels,
                                                .aliases = source.aliases},
                                      .worker = nullptr});
  check_windows(served->model);
  const ModelConfig& config = served->model.pipeline.config;
  served->model.max_input_length = input_length(settings.max_input_length, transformer_folder(path));
  QueueLimits limits = queue;
  limits.even_length = even_length(config);
  limits.requests = source.max_requests.value_or(limits.requests);
  limits.tokens = source.max_queue_tokens.value_or(limits.tokens);
  const Model& model = served->model.pipeline.model;
  // Logits of every word of the vocabulary are large: packs as small as the program's.
  if (facts_of(model.head()).predicts_words()) {
    limits.batch_work = std::min(limits.batch_work, double{kMaskedPackTokens});
    limits.batch_sequences = std::min(limits.batch_sequences, most_logit_rows(config.vocab_size));
  }
  served->worker =
      std::make_unique<ModelWorker>(limits, [&model](uint64_t, std::span<const PlannedSequence> pack,
                                                     ForwardResult& result) { run_pack(model, pack, result); });
  served->worker->on_batch([this, name = source.name, most = limits.batch_work](const BatchFacts& facts) {
    metrics.count_batch(name, facts.sequences, facts.tokens, std::min(1.0, facts.work / most),
                        static_cast<double>(facts.elapsed) * 1e-6);
  });
  return served;
}

void ServerState::reload(const std::string& name, bool forces) {
  try {
    models.reload(name, forces);
    ++reloads;
  } catch (...) {
    ++failed_reloads;
    throw;
  }
}

void ServerState::reload_keys() {
  auto fresh = std::make_shared<const Keys>(read_keys(settings));
  const std::lock_guard lock(keys_mutex);
  keys_.swap(fresh);
}

std::shared_ptr<const Keys> ServerState::keys() const {
  const std::lock_guard lock(keys_mutex);
  return keys_;
}

// The key that the request has; none: no known key.
std::optional<Key> ServerState::key_of(const HttpRequest& head) const {
  const std::shared_ptr<const Keys> all = keys();
  const Key* key = all->find(head.header("authorization"));
  return key == nullptr ? std::nullopt : std::optional(*key);
}

// None where the server has no keys. Throws kUnauthorized.
std::optional<Key> ServerState::check_key(const HttpRequest& head) const {
  if (keys()->empty()) return std::nullopt;
  std::optional<Key> key = key_of(head);
  if (!key) throw ApiError(ApiCode::kUnauthorized, "expected a valid key in Authorization: Bearer");
  return key;
}

// Whether a trusted proxy reports the client's address. A peer on a Unix socket is a trusted proxy.
bool ServerState::is_forwarded(const HttpRequest& head) const {
  const std::vector<std::string>& trusted = settings.trusted_proxies;
  return (head.peer.empty() || std::ranges::find(trusted, head.peer) != trusted.end()) &&
         !head.last_header("x-forwarded-for").empty();
}

// The address of the client: behind a trusted proxy, the last one that it names. What stands before it, in the same
// header or in one before it, may be the client's own words.
std::string ServerState::address_of(const HttpRequest& head) const {
  if (!is_forwarded(head)) return head.peer;
  const std::string_view forwarded = head.last_header("x-forwarded-for");
  const size_t comma = forwarded.rfind(',');
  const std::string address =
      forwarded_address(comma == std::string_view::npos ? forwarded : forwarded.substr(comma + 1));
  return address.empty() ? head.peer : address;
}

// The client whose share of the work and of the memory the request uses.
std::string ServerState::client_of(const HttpRequest& head, const std::optional<Key>& key) const {
  return key ? "key " + key->name : address_of(head);
}

// The answer to OPTIONS: what a page may send. A browser asks before it sends the key.
std::optional<HttpResponse> ServerState::preflight(const HttpRequest& head, const std::string& methods) const {
  HttpResponse response{.status = 204, .headers = {{"allow", methods}}};
  if (head.header("access-control-request-method").empty()) return std::nullopt;
  add_origin(head, browser, response.headers);
  if (response.headers.size() == 1) return std::nullopt;
  response.headers.insert(
      response.headers.end(),
      {{"access-control-allow-methods", methods},
       {"access-control-allow-headers",
        "authorization, content-type, content-encoding, x-model, x-priority, x-deadline-ms, x-request-id"},
       {"access-control-max-age", "600"}});
  return response;
}

// Throws where a request is refused before its body is read.
void ServerState::check_head(const HttpRequest& head, bool is_of_metrics) const {
  const Route* route = find_route(head.method, head.path);
  const bool is_metrics = route != nullptr && route->ports == Ports::kMetrics;
  const bool is_open = (route != nullptr && route->is_open) || (is_metrics && is_of_metrics);
  const std::optional<Key> key = is_open ? std::nullopt : check_key(head);
  if (head.method == "OPTIONS" && !allowed_methods(head.path).empty()) return;
  const Route& matched = route != nullptr ? *route : *match_route(head.method, head.path).route;  // which throws
  if ((matched.scope == Scope::kAdmin && !settings.has_admin) || (matched.scope == Scope::kExplain && !has_explorer))
    throw ApiError(ApiCode::kNotFound, "no such route");
  if (is_of_metrics && matched.ports == Ports::kServing)
    throw ApiError(ApiCode::kNotFound, "this port serves only /metrics and /health");
  if (!is_of_metrics && is_metrics && settings.metrics_port)
    throw ApiError(ApiCode::kNotFound, "/metrics is served at --metrics-port");
  if (key && !key->opens(matched.scope))
    throw ApiError(ApiCode::kForbidden, fmt::format("the key has no scope {}", to_string(matched.scope)));
  if (matched.method == "POST") coding_of(head);  // throws
}

// The answer of a request that needs no body; none: the body is read. Throws where it is refused.
std::optional<HttpResponse> ServerState::answer_early(const HttpRequest& head, bool is_of_metrics) const {
  if (keys()->empty()) check_host(head, browser);
  check_origin(head, browser);
  const std::string methods = head.method == "OPTIONS" ? allowed_methods(head.path) : "";
  if (!methods.empty()) {
    if (std::optional<HttpResponse> response = preflight(head, methods)) return response;
  }
  check_head(head, is_of_metrics);
  if (!methods.empty()) return HttpResponse{.status = 204, .headers = {{"allow", methods}}};
  return std::nullopt;
}

HttpResponse ServerState::refuse(const HttpRequest& head, const ApiError& error) {
  HttpResponse response = error_response(error, dialect_of(head.path));
  if (error.code == ApiCode::kMethod) response.headers.emplace_back("allow", allowed_methods(head.path));
  const std::string id = id_of(head);
  add_headers(head, id, response);
  const Route* route = find_route(head.method, head.path);
  record({.route = std::string(route != nullptr ? route->path : "none"), .model = {}, .failure = {}},
         line_of(head, id, key_of(head).value_or(Key()).name), &error, response);
  return response;
}

Admission ServerState::admit(const HttpRequest& head, size_t body_bytes, bool is_of_metrics) {
  try {
    if (std::optional<HttpResponse> response = answer_early(head, is_of_metrics)) return {std::move(response), nullptr};
    return {std::nullopt,
            shares.take(client_of(head, key_of(head)), is_forwarded(head) ? address_of(head) : "", body_bytes)};
  } catch (const ApiError& error) {
    return {refuse(head, error), nullptr};
  }
}

// The answer where the connection itself refuses: there is no request.
HttpResponse ServerState::refuse_connection(int status, const std::string& why, const std::string& peer) {
  const ApiError error(code_of_status(status), why);
  HttpResponse response = error_response(error, Dialect::kTei);
  HttpRequest none;
  none.peer = peer;
  const std::string id = new_id();
  add_headers(none, id, response);
  record({.route = "none", .model = {}, .failure = {}}, line_of(none, id, ""), &error, response);
  return response;
}

HttpHooks ServerState::hooks(bool are_of_metrics) {
  return {.admit = [this, are_of_metrics](const HttpRequest& head,
                                          size_t body_bytes) { return admit(head, body_bytes, are_of_metrics); },
          .handle = [this](const std::shared_ptr<Exchange>& exchange) { handle(exchange); },
          .error = [this](int status, const std::string& why,
                          const std::string& peer) { return refuse_connection(status, why, peer); },
          .tick = are_of_metrics ? std::function<void()>([] {}) : [this] { expire(); }};
}

void ServerState::handle(const std::shared_ptr<Exchange>& exchange) {
  std::make_shared<Call>(*this, exchange)->start();
}

void ServerState::add_headers(const HttpRequest& request, const std::string& id, HttpResponse& response) const {
  response.headers.insert(response.headers.end(),
                          {{"x-request-id", id}, {"cache-control", "no-store"}, {"x-content-type-options", "nosniff"}});
  add_origin(request, browser, response.headers);
}

RequestLog ServerState::line_of(const HttpRequest& request, const std::string& id, const std::string& key) const {
  RequestLog line;
  line.id = id;
  line.method = header_text(request.method);
  line.client = address_of(request);
  line.key = key;
  line.trace = header_text(request.header("traceparent"));
  line.path = header_text(request.path);
  return line;
}

void ServerState::record(const RequestFacts& facts, const RequestLog& request_log, const ApiError* error,
                         HttpResponse& response) {
  RequestFacts counted = facts;
  if (error != nullptr) {
    counted.status = info_of(error->code).status;
    counted.failure = failure_of(error->code);
  }
  metrics.count(counted);
  RequestLog line = request_log;
  line.route = counted.route;
  line.model = counted.model;
  line.status = counted.status;
  line.items = counted.items;
  line.tokens = counted.tokens;
  line.cut_inputs = counted.cut_inputs;
  line.cut_tokens = counted.cut_tokens;
  line.queue_ms = counted.queue_s * 1000;
  line.inference_ms = counted.inference_s * 1000;
  line.total_ms = counted.total_s * 1000;
  if (line.status != 404 && line.route != "none") line.path.clear();
  if (error != nullptr) {
    line.code = info_of(error->code).name;
    line.field = one_line(error->field, kMostField);
    if (line.status >= 500) line.detail = one_line(error->message, kMostDetail);
  }
  // The level is that of the time of the answer: a client that has it and sets another level does not change its line.
  response.sent = [this, line = std::move(line), least = least_status(log_level)](bool is_whole) {
    write_line(line, least, is_whole);
  };
}

void ServerState::write_line(RequestLog line, int least, bool is_whole) {
  if (!is_whole && line.status < 400) {
    line.status = 499;
    line.code = "cut";
    ++cut_answers;
  }
  if (settings.log != nullptr && line.status >= least) settings.log(settings.context, line);
}

void ServerState::expire() {
  for (const std::shared_ptr<Served>& served : models.open_ones()) served->worker->expire();
  turns.expire();
  if (!is_closing.exchange(true)) {
    loader->post([this] {
      models.close_unused();
      if (settings.trims_heap) trim();
      is_closing = false;
    });
  }
}

// Returns the memory of past answers to the system; by itself the allocator keeps what lies between other blocks.
void ServerState::trim() {
  constexpr uint64_t kLeast = uint64_t{4} << 20;
  constexpr int64_t kPause = 500000;  // microseconds
  const uint64_t returned = shares.returned();
  if (returned - trimmed < kLeast || microseconds() - trimmed_at < kPause) return;
  trimmed = returned;
  trimmed_at = microseconds();
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace deberta::serve

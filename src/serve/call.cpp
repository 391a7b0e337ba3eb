// The stations of a request: read the body, find the model, queue its sequences, make the answer, log it.
#include "serve/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/ascii.h"
#include "base/checked.h"
#include "serve/api_error.h"
#include "serve/coded_body.h"
#include "serve/fields.h"

namespace deberta::serve {
namespace {

constexpr JsonLimits kBodyLimits = {.max_bytes = SIZE_MAX, .max_depth = 32, .max_nodes = 500000, .max_members = 4096};
constexpr size_t kMostIgnored = 16;  // fields that X-Ignored-Fields names

double seconds_of(int64_t microseconds) {
  return static_cast<double>(microseconds) * 1e-6;
}

// A body or an answer of one piece takes a few milliseconds.
WorkSize size_of(size_t bytes) {
  return bytes <= kPieceBytes ? WorkSize::kSmall : WorkSize::kLarge;
}

// application/json, with parameters or without.
bool is_json_type(std::string_view type) {
  std::string_view name = type.substr(0, type.find(';'));
  while (name.ends_with(' ') || name.ends_with('\t')) name.remove_suffix(1);
  return lower_case(name) == "application/json";
}

// "/parameters/top_k" as "parameters.top_k".
std::string dotted(std::string_view pointer) {
  std::string name;
  for (size_t i = 1; i < pointer.size(); ++i) {
    const bool is_escape = pointer[i] == '~' && i + 1 < pointer.size();
    if (is_escape) ++i;
    name += is_escape ? (pointer[i] == '1' ? '/' : '~') : pointer[i] == '/' ? '.' : pointer[i];
  }
  return name;
}

// The times as a browser's tools show them.
std::string server_timing(const RequestFacts& facts) {
  return fmt::format("queue;dur={:.3f}, tokenize;dur={:.3f}, infer;dur={:.3f}, total;dur={:.3f}", facts.queue_s * 1000,
                     facts.tokenization_s * 1000, facts.inference_s * 1000, facts.total_s * 1000);
}

}  // namespace

Call::~Call() {
  leave_queue();
  if (take_turn()) {  // no one has answered: the client has left, or the server ends
    facts_.status = 499;
    facts_.failure = "cancelled";
    facts_.total_s = seconds_of(microseconds() - begun_);
    HttpResponse nothing;
    server_.record(facts_, server_.line_of(request(), id_, owner()), nullptr, nothing);
    nothing.sent(false);
  }
}

void Call::start() {
  try {
    match_ = match_route(request().method, request().path);
    facts_.route = match_.route->path;
    key_ = server_.key_of(request());
    client_ = server_.client_of(request(), key_);
    std::visit([this](const auto handler) { begin(handler); }, match_.route->handler);
  } catch (...) {
    fail(std::current_exception());
  }
}

void Call::begin(Get handler) {
  give(handler(server_, {match_, request(), owner()}));
}

void Call::begin(Report handler) {
  server_.pool->post(client_, work_size(), [self = shared_from_this(), handler] { self->report(handler); });
}

void Call::begin(Command handler) {
  check_taking();
  server_.loader->post([self = shared_from_this(), handler] { self->administer(handler); });
}

void Call::begin(Explain handler) {
  check_taking();
  check_count();
  explain_place_ = server_.explain_places.take(client_);
  note_leaving();
  server_.explainer->post(client_, WorkSize::kLarge, [self = shared_from_this(), handler] { self->explain(handler); });
}

void Call::begin(Answer) {
  check_taking();
  check_count();
  if (work_size() == WorkSize::kLarge) return await_turn();
  server_.pool->post(client_, WorkSize::kSmall, [self = shared_from_this()] { self->read(); });
}

// Of reading its body. A coded one may be large, however small it comes.
WorkSize Call::work_size() const {
  return coding_of(request()) != Compression::kNone ? WorkSize::kLarge : size_of(request().body.size());
}

void Call::check_taking() const {
  if (server_.is_draining) throw ApiError(ApiCode::kDraining, "the server is shutting down");
}

void Call::check_count() const {
  if (server_.inflight > server_.settings.limits.max_concurrent_requests)
    throw ApiError(ApiCode::kOverloaded, "too many requests at once");
}

// The name of a line of large bodies: of one client, model and priority, so that bodies that wait for another model
// hold up nothing. Before the body is read, the model is known only where the path or the header names it.
std::string Call::turn_line() const {
  return fmt::format("{}\n{}\n{}", client_, server_.models.served_name(model_of_head()), static_cast<int>(priority()));
}

// What has not begun when the client leaves is not done.
void Call::note_leaving() {
  exchange_->on_disconnect([weak = weak_from_this()] {
    if (const std::shared_ptr<Call> self = weak.lock()) self->has_left_ = true;
  });
}

// Reads the body when its turn comes.
void Call::await_turn() {
  note_leaving();
  const auto is_over = [self = shared_from_this(), deadline = info().deadline] {
    return self->has_left_ || microseconds() >= deadline;
  };
  server_.turns.wait(turn_line(), {is_over, [self = shared_from_this()](std::unique_ptr<ReadTurns::Turn> turn) {
                                     if (turn == nullptr) return self->fail_late();
                                     self->turn_ = std::move(turn);
                                     self->waited_ = microseconds() - self->begun_;
                                     self->server_.pool->post(self->client_, WorkSize::kLarge,
                                                              [self] { self->read(); });
                                   }});
}

void Call::fail_late() {
  fail(std::make_exception_ptr(ApiError(ApiCode::kDeadline, "the deadline has passed")));
}

Priority Call::priority() const {
  const std::string_view name = request().header("x-priority");
  if (name.empty()) return Priority::kNormal;
  if (!key_ || !key_->opens(Scope::kPriority))
    throw ApiError(ApiCode::kForbidden, "X-Priority: expected a key with the scope priority");
  if (name == "high") return Priority::kHigh;
  if (name == "normal") return Priority::kNormal;
  if (name == "low") return Priority::kLow;
  throw ApiError(ApiCode::kBadRequest,
                 fmt::format("X-Priority: expected high, normal or low, got {}", quote_json(name)));
}

RequestInfo Call::info() const {
  int64_t deadline_ms = server_.settings.limits.deadline_ms;
  const std::string_view milliseconds = request().header("x-deadline-ms");
  if (!milliseconds.empty()) {
    if (!std::ranges::all_of(milliseconds, [](char c) { return c >= '0' && c <= '9'; }))
      throw ApiError(ApiCode::kBadRequest, fmt::format("X-Deadline-Ms: expected a whole number of milliseconds, got {}",
                                                       quote_json(header_text(milliseconds))));
    // One that does not fit lowers nothing.
    deadline_ms = std::min(deadline_ms, parse_number<int64_t>(milliseconds).value_or(INT64_MAX));
  }
  return {.client = client_, .priority = priority(), .deadline = begun_ + deadline_ms * 1000};
}

// Splits a body into its JSON and the bytes behind it.
std::pair<std::string_view, std::string_view> Call::parts_of(std::string_view body) const {
  const std::string_view length = request().header("inference-header-content-length");
  if (match_.route->has_tail && !length.empty()) {
    size_t size = 0;
    const auto read = std::from_chars(length.data(), length.data() + length.size(), size);
    if (read.ec != std::errc() || read.ptr != length.data() + length.size() || size > body.size())
      throw ApiError(ApiCode::kBadRequest,
                     fmt::format("Inference-Header-Content-Length: expected at most {}, the body's length, got {}",
                                 body.size(), quote_json(length)));
    return {body.substr(0, size), body.substr(size)};
  }
  const std::string_view type = request().header("content-type");
  // A page of another origin may send other types, or none, without a preflight request.
  const bool may_lack = request().header("origin").empty();
  if (type.empty() ? !may_lack : !is_json_type(type))
    throw ApiError(ApiCode::kMediaType, "Content-Type: expected application/json");
  return {body, {}};
}

// Takes the body, decompressed where its client compressed it.
std::string Call::plain_body() {
  std::string body = exchange_->take_body();
  const Compression coding = coding_of(request());
  if (coding == Compression::kNone || body.empty()) return body;
  return decoded_body(coding, body, server_.settings.limits.max_body,
                      [this](size_t bytes) { request().share->resize(bytes); });
}

// The values count as its client's memory beside the body that they are read from.
Json Call::body_json(const std::string& body) const {
  const std::string_view text = parts_of(body).first;
  request().share->resize(body.capacity() + json_bytes(text, kBodyLimits));
  try {
    return parse_json(text, "body", kBodyLimits);
  } catch (const Error& error) {
    throw ApiError(ApiCode::kBadJson, fmt::format("{}: {}", error.where(), error.message()));
  }
}

// An object without members where there is no body.
Json Call::optional_body_json() {
  const std::string text = plain_body();
  return text.empty() ? Json(JsonObject()) : body_json(text);
}

// The model that the path or the header names; empty: neither names one.
std::string Call::model_of_head() const {
  return !match_.model.empty() ? match_.model : std::string(request().header("x-model"));
}

// A request whose path names a model may name it again, by any of its names. It may name no other: the answer would be
// that of a model which the client did not mean.
void Call::check_same_model(std::string_view where, const std::string& name, const std::string& field) const {
  if (name.empty()) return;
  const std::string served = server_.models.served_name(match_.model);
  if (served.empty() || server_.models.served_name(name) == served) return;
  throw ApiError(ApiCode::kValidation,
                 fmt::format("{}: expected {}, the model that the path names, or none, got {}", where,
                             quote_json(match_.model), quote_begin(name)),
                 field);
}

// The model that the path, the header or the body names.
std::string Call::model_name(Body& body) const {
  const bool has_field = match_.route->dialect != Dialect::kKserve;
  const std::optional<std::string> field_value = has_field ? body.text(field::kModel) : std::nullopt;
  if (!match_.model.empty()) {
    check_same_model("X-Model", std::string(request().header("x-model")), "");
    check_same_model(body.pointer_of(field::kModel.name), field_value.value_or(""),
                     body.pointer_of(field::kModel.name));
  }
  if (std::string name = model_of_head(); !name.empty()) return name;
  if (server_.models.count() == 1) return "";
  return field_value && !field_value->empty() ? *field_value : server_.settings.default_model;
}

std::shared_ptr<Served> Call::find_model(Body& body) const {
  try {
    return server_.models.find(model_name(body));
  } catch (ApiError& error) {
    if (error.code == ApiCode::kModelNotFound && model_of_head().empty()) error.field = "/model";
    throw;
  }
}

// Takes the memory that the request holds until its answer is written, instead of that of its body. Throws where it is
// too much.
void Call::hold(const Answering& reply) {
  if (reply.answer_bytes > server_.settings.limits.max_answer)
    throw ApiError(ApiCode::kTooLarge,
                   fmt::format("expected a request whose answer has at most {} bytes, got one of about {}",
                               server_.settings.limits.max_answer, reply.answer_bytes));
  answer_bytes_ = reply.answer_bytes;
  request().share->resize(reply.plan_bytes + reply.characters + reply.held_bytes.value_or(reply.answer_bytes));
}

// Reads the body and submits its sequences.
void Call::read() {
  if (has_left_) return;
  try {
    const std::string text = plain_body();
    const Json json = body_json(text);
    Body body(json, {}, parts_of(text).second);
    served_ = find_model(body);
    facts_.model = served_->model.name;
    facts_.is_inference = true;
    admitted_ = served_->worker->admit(info(), text.size() / 2);
    if (!admitted_) throw ApiError(ApiCode::kOverloaded, "the queue is full");
    Answering reply = make(body);
    note_unknown(body);
    hold(reply);
    check_queued(reply);
    if (turn_) turn_->has_read(reply.tokens);
    facts_.items = reply.items;
    facts_.tokens = reply.tokens;
    facts_.is_batch = reply.items > 1;
    facts_.cut_inputs = reply.cut_inputs;
    facts_.cut_tokens = reply.cut_tokens;
    characters_ = reply.characters;
    read_ = microseconds();
    server_.rates.take(client_, facts_.tokens, read_);
    respond_with_ = std::move(reply.respond);
    if (reply.plan == nullptr) return finish();
    submit(std::move(reply));
  } catch (...) {
    fail(std::current_exception());
  }
}

void Call::note_unknown(const Body& body) {
  ignored_ = body.unknown();
  for (const std::string& pointer : ignored_) {  // an answer in labels other than the requested ones would be wrong
    if (pointer.ends_with("/candidate_labels"))
      Body::refuse_at(pointer,
                      "expected no labels here: the task zero-shot-classification takes them in parameters, and "
                      "needs an entailment model");
  }
  if (server_.settings.has_strict_fields && !ignored_.empty()) Body::refuse_at(ignored_.front(), "unknown field");
}

// Runs a text for the explorer, on a thread that does nothing else, so that serving goes on.
void Call::explain(Explain handler) {
  if (has_left_) return;
  try {
    const Json json = body_json(plain_body());
    Body body(json);
    served_ = find_model(body);
    facts_.model = served_->model.name;
    HttpResponse response = handler(server_, served_->model, body, owner());
    note_unknown(body);
    give(std::move(response));
  } catch (...) {
    fail(std::current_exception());
  }
}

// What the server says of itself to a request that may have a body.
void Call::report(Report handler) {
  try {
    const Json json = optional_body_json();
    Body body(json);
    const Json answer = handler(server_, body);
    note_unknown(body);
    give(json_response(answer));
  } catch (...) {
    fail(std::current_exception());
  }
}

// Opens and closes models, on a thread that does nothing else.
void Call::administer(Command handler) {
  try {
    const Json json = optional_body_json();
    Body body(json);
    const std::function<Json()> act = handler(server_, match_.model, body);
    note_unknown(body);
    give(json_response(act()));
  } catch (const Error& error) {  // a folder does not open
    fail(
        std::make_exception_ptr(ApiError(ApiCode::kValidation, fmt::format("{}: {}", error.where(), error.message()))));
  } catch (...) {
    fail(std::current_exception());
  }
}

Answering Call::make(Body& body) {
  return std::get<Answer>(match_.route->handler)(served_->model, body, {match_.task, request().header("user-agent")});
}

// Runs before the tokens count against the client's rate: a request that never fits does not run.
void Call::check_queued(const Answering& reply) const {
  const size_t most = served_->worker->limits().tokens;
  if (reply.plan != nullptr && reply.tokens > most)
    throw ApiError(ApiCode::kTooLarge,
                   fmt::format("expected at most {} tokens in a request, got {}", most, reply.tokens));
}

void Call::submit(Answering reply) {
  const RequestId id = *std::exchange(admitted_, std::nullopt);  // the worker's from now on
  exchange_->on_disconnect([weak = weak_from_this(), id] {
    const std::shared_ptr<Call> self = weak.lock();
    if (!self) return;
    self->has_left_ = true;
    self->served_->worker->cancel(id);
  });
  submitted_ = microseconds();
  const auto done = [self = shared_from_this()](const Outcome& outcome) {
    self->outcome_ = outcome;
    const WorkSize size = size_of(self->answer_bytes_);
    if (outcome.leaves_idle && size == WorkSize::kSmall) return self->finish();  // to wake a thread takes as long
    self->server_.pool->post(self->client_, size, [self] { self->finish(); });
  };
  try {
    const uint64_t kind = kind_of(*reply.plan);
    if (served_->worker->submit(id, std::move(reply.plan), kind, done)) return;
  } catch (...) {
    served_->worker->cancel(id);
    throw;
  }
  if (microseconds() >= info().deadline) return fail_late();
  throw ApiError(ApiCode::kOverloaded, "the queue is full");
}

void Call::finish() {
  try {
    if (outcome_.kind == Outcome::Kind::kLate) return fail_late();
    if (outcome_.kind == Outcome::Kind::kFailed) return fail(outcome_.error);
    facts_.has_run = submitted_ > 0;
    facts_.tokenization_s = seconds_of(read_ - begun_ - waited_);
    facts_.queue_s = seconds_of(outcome_.queue_time + waited_);
    facts_.inference_s = seconds_of(outcome_.compute_time);
    const int64_t begun = microseconds();
    HttpResponse response = std::exchange(respond_with_, {})();
    facts_.output_s = seconds_of(microseconds() - begun);
    give(std::move(response));
  } catch (...) {
    fail(std::current_exception());
  }
}

// A client that has its answer may ask again at once: by then the place of a request that did not run is free.
void Call::leave_queue() {
  turn_.reset();
  explain_place_.reset();
  if (admitted_) served_->worker->cancel(*std::exchange(admitted_, std::nullopt));
}

// An answer in one piece takes its real size, which may exceed the estimate: a control character has six bytes in JSON.
void Call::give(HttpResponse response) {
  leave_queue();
  if (!response.pieces) request().share->resize(response.body.size());
  respond(std::move(response), nullptr);
}

// A client that was refused may ask again at once: by then the memory of the request is free.
void Call::free_body() {
  exchange_->take_body();
  if (request().share != nullptr) request().share->resize(0);
}

void Call::fail(const std::exception_ptr& error) {
  leave_queue();
  free_body();
  ApiError refusal = api_error_of(error);
  if (refusal.code == ApiCode::kOverloaded && refusal.retry_after_s == 0 && served_ != nullptr)
    refusal.retry_after_s = 1 + served_->worker->time_to_drain() / 1000000;
  const Dialect dialect = match_.route != nullptr ? match_.route->dialect : dialect_of(request().path);
  respond(error_response(refusal, dialect), &refusal);
}

std::string Call::ignored_names() const {
  std::string names;
  for (size_t i = 0; i < std::min(ignored_.size(), kMostIgnored); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : ", ", header_text(dotted(ignored_[i])));
  return ignored_.size() > kMostIgnored ? names + ", ..." : names;
}

void Call::add_headers(HttpResponse& response) const {
  std::vector<Header>& headers = response.headers;
  server_.add_headers(request(), id_, response);
  if (!ignored_.empty()) headers.emplace_back("x-ignored-fields", ignored_names());
  if (served_ == nullptr) return;
  const auto milliseconds = [](double s) { return std::to_string(static_cast<int64_t>(s * 1000)); };
  headers.emplace_back("x-compute-type", server_.compute_type());
  headers.emplace_back("x-compute-tokens", std::to_string(facts_.tokens));
  headers.emplace_back("x-compute-characters", std::to_string(characters_));
  headers.emplace_back("x-compute-time", milliseconds(facts_.tokenization_s + facts_.inference_s));
  headers.emplace_back("x-total-time", milliseconds(facts_.total_s));
  headers.emplace_back("x-tokenization-time", milliseconds(facts_.tokenization_s));
  headers.emplace_back("x-queue-time", milliseconds(facts_.queue_s));
  headers.emplace_back("x-inference-time", milliseconds(facts_.inference_s));
  headers.emplace_back("server-timing", server_timing(facts_));
  if (facts_.cut_inputs > 0) {
    headers.emplace_back("x-truncated-inputs", std::to_string(facts_.cut_inputs));
    headers.emplace_back("x-truncated-tokens", std::to_string(facts_.cut_tokens));
  }
}

void Call::respond(HttpResponse response, const ApiError* error) {
  if (!take_turn()) return;
  facts_.status = has_left_ ? 499 : response.status;
  if (has_left_) facts_.failure = "cancelled";
  facts_.total_s = seconds_of(microseconds() - begun_);
  add_headers(response);
  server_.record(facts_, server_.line_of(request(), id_, owner()), has_left_ ? nullptr : error, response);
  if (response.pieces)  // the pieces are made from what the model holds
    response.pieces = [served = served_, pieces = std::move(response.pieces)] { return pieces(); };
  // The client's share holds the memory until the answer is written.
  response.sent = [share = request().share, sent = std::move(response.sent)](bool is_whole) { sent(is_whole); };
  exchange_->respond(std::move(response));
}

}  // namespace deberta::serve

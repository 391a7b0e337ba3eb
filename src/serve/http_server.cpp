// A session per connection on Beast's asynchronous calls: head, body, handler, answer, and then the next request.
#include "serve/http_server.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "base/ascii.h"
#include "serve/api_error.h"
#include "serve/listener.h"

namespace deberta::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Code = boost::system::error_code;
using Socket = Listener::Socket;
using Parser = http::request_parser<http::string_body>;

// Bytes of a refused body that are still read, so that the client sees the answer.
constexpr size_t kMostDropped = 65536;
constexpr double kLinger = 2;  // seconds that a refused client may still send
// Connections over the caps that linger at a time; further ones end once they are told. Each has a descriptor, and if
// one client could have any number of them, none would be left for the others.
constexpr size_t kMostLingering = 256;
constexpr auto kTick = std::chrono::milliseconds(20);

std::chrono::nanoseconds seconds(double s) {
  return std::chrono::nanoseconds(static_cast<int64_t>(s * 1e9));
}

// What a failed read of a request means for the client: a status, or 0 where no response can or need be sent.
struct Refusal {
  int status = 0;
  std::string why;
};

Refusal too_large(uint64_t max_body) {
  return {413, fmt::format("expected a body of at most {} bytes", max_body)};
}

Refusal refusal_of(const Code& code, const HttpSettings& settings) {
  if (code == http::error::end_of_stream || code == asio::error::eof || code == asio::error::connection_reset ||
      code == asio::error::operation_aborted || code == http::error::partial_message)
    return {};
  if (code == http::error::body_limit) return too_large(settings.max_body);
  if (code == http::error::header_limit) return {431, "the header is too large"};
  if (code == http::error::buffer_overflow)
    return {431, "the header of a chunk, or what follows the body, is too large"};
  if (code.category() == http::make_error_code(http::error::bad_version).category()) return {400, code.message()};
  return {};
}

// Bytes that no header may have, which the parser lets pass.
bool has_controls(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; });
}

Refusal check_head(const http::request_header<>& head, const HttpSettings& settings) {
  if (head.target().size() > settings.max_target) return {414, "the target is too long"};
  size_t count = 0, hosts = 0;
  for (const auto& field : head) {
    ++count;
    hosts += field.name() == http::field::host;
    const auto value = field.value();
    if (has_controls({value.data(), value.size()})) return {400, "a header holds control characters"};
  }
  if (count > settings.max_headers) return {431, fmt::format("expected at most {} headers", settings.max_headers)};
  if (head.version() != 11 && head.version() != 10) return {400, "expected HTTP/1.1"};
  if (hosts > 1 || (hosts == 0 && head.version() == 11)) return {400, "expected one Host"};
  if (head.count(http::field::content_length) > 1) return {400, "expected one Content-Length"};
  const auto coding = head[http::field::transfer_encoding];
  if (!coding.empty() && lower_case({coding.data(), coding.size()}) != "chunked")
    return {400, "expected Transfer-Encoding: chunked"};
  if (!coding.empty() && head.version() == 10) return {400, "expected no Transfer-Encoding in HTTP/1.0"};
  if (!coding.empty() && head.count(http::field::content_length) > 0)
    return {400, "expected Content-Length or Transfer-Encoding, got both"};
  const auto target = head.target();
  if (target.empty() || target.front() != '/') return {400, "expected a target that begins with /"};
  return {};
}

HttpRequest request_of(const http::request_header<>& from, const Ends& ends) {
  HttpRequest request;
  request.method = std::string(from.method_string());
  const std::string target(from.target());
  const size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (question != std::string::npos) request.query = target.substr(question + 1);
  for (const auto& field : from)
    request.headers.emplace_back(lower_case({field.name_string().data(), field.name_string().size()}),
                                 std::string(field.value()));
  request.peer = ends.peer;
  request.local = ends.local;
  return request;
}

class Session;

}  // namespace

struct HttpServer::State {
  State(const HttpSettings& settings_, HttpHooks hooks_)
      : settings(settings_),
        hooks(std::move(hooks_)),
        ticker(io),
        listener(std::in_place, io, settings,
                 [this](Socket socket, const Ends& ends) { add(std::move(socket), ends); }),
        port(listener->port()) {}

  void add(Socket socket, const Ends& ends);
  bool is_exempt(const std::string& peer) const;  // from the count by address
  void tick();
  void close_all();

  HttpSettings settings;
  HttpHooks hooks;
  asio::io_context io;
  asio::steady_timer ticker;
  std::optional<Listener> listener;  // none: stopped
  const uint16_t port;
  std::vector<std::thread> threads;
  std::atomic<bool> is_draining = false;
  std::atomic<size_t> accepted = 0, refused = 0, refusing = 0;

  std::mutex mutex;
  std::condition_variable closed;
  std::set<std::shared_ptr<Session>> sessions;
  std::map<std::string, size_t> per_address;
};

namespace {

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(HttpServer::State& server, Socket socket, Ends ends)
      : server_(server),
        socket_(std::move(socket)),
        timer_(socket_.get_executor()),
        ends_(std::move(ends)),
        buffer_(kPieceBytes + server.settings.max_header_bytes) {}

  void start() {
    asio::dispatch(socket_.get_executor(), [self = shared_from_this()] { self->wait_for_request(); });
  }
  // A connection over the caps, counted as one that is refused: one answer, then the end.
  void start_refusing(bool lingers) {
    is_refused_ = true;
    lingers_ = lingers;
    asio::dispatch(socket_.get_executor(), [self = shared_from_this()] {
      self->write(self->server_.hooks.error(503, "too many connections", self->ends_.peer), true);
    });
  }
  void end_if_idle() {
    asio::dispatch(socket_.get_executor(), [self = shared_from_this()] {
      if (self->is_idle_) self->close();
    });
  }
  void end() {
    asio::dispatch(socket_.get_executor(), [self = shared_from_this()] { self->close(); });
  }

 private:
  void arm(double seconds_left);
  void disarm();
  void wait_for_request();
  void read_head();
  void on_head(const Code& code);
  void ask_for_body();
  void read_body();
  void on_body(const Code& code);
  bool has_room_for_body();
  void refuse(const Refusal& refusal);
  void hand_over();
  void watch();
  void respond(HttpResponse response);
  void break_off(const HttpResponse& response);
  void write(HttpResponse response, bool closes);
  void write_some(std::string_view bytes);
  void write_next();
  void on_written(bool is_whole);
  void drop_rest(size_t dropped);
  void close();

  HttpServer::State& server_;
  Socket socket_;
  asio::steady_timer timer_;
  uint64_t armed_ = 0;
  Ends ends_;
  beast::flat_buffer buffer_;  // what is not parsed yet, and so never more than a piece and a header
  std::optional<Parser> parser_;
  HttpRequest request_;  // by its head: fields that follow a chunked body are no headers of it
  // The response that is written: its head or a piece that is on its way, and where the others come from.
  http::response<http::empty_body> response_;
  std::string out_, rest_;
  size_t rest_at_ = 0;
  std::function<std::string()> pieces_;
  std::function<void(bool is_whole)> sent_;
  std::shared_ptr<http::response<http::empty_body>> continue_;
  std::weak_ptr<Exchange> exchange_;
  std::shared_ptr<ClientShare> share_;  // share of the request that is being read
  size_t shared_ = 0;                   // bytes of its body that it has room for
  size_t served_ = 0;
  bool is_http10_ = false, is_chunked_ = false, closes_ = false;
  bool is_refused_ = false, lingers_ = true;
  bool is_idle_ = false, is_head_ = false, keeps_alive_ = false, is_watching_ = false, is_closed_ = false,
       is_late_ = false;
};

// Limits the time of the current read or write.
void Session::arm(double seconds_left) {
  is_late_ = false;
  timer_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds(seconds_left)));
  timer_.async_wait([self = shared_from_this(), number = ++armed_](const Code& code) {
    if (code || number != self->armed_) return;
    self->is_late_ = true;
    Code ignored;
    self->socket_.cancel(ignored);
  });
}

void Session::disarm() {
  ++armed_;
  timer_.cancel();
}

void Session::wait_for_request() {
  if (server_.is_draining) return close();
  share_.reset();
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(server_.settings.max_header_bytes));
  parser_->body_limit(server_.settings.max_body);
  if (buffer_.size() > 0) return read_head();  // the next request came with the last one
  is_idle_ = true;
  arm(server_.settings.idle_s);
  socket_.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](const Code& code, size_t bytes) {
    self->is_idle_ = false;
    if (code) return self->close();
    self->buffer_.commit(bytes);
    self->read_head();
  });
}

void Session::read_head() {
  arm(server_.settings.header_s);
  http::async_read_header(socket_, buffer_, *parser_,
                          [self = shared_from_this()](const Code& code, size_t) { self->on_head(code); });
}

void Session::on_head(const Code& code) {
  if (code) return refuse(is_late_ ? Refusal{408, "the request came too slowly"} : refusal_of(code, server_.settings));
  const auto& head = parser_->get();
  if (const Refusal refusal = check_head(head, server_.settings); refusal.status != 0) return refuse(refusal);
  const auto length = parser_->content_length();
  if (length && *length > server_.settings.max_body) return refuse(too_large(server_.settings.max_body));
  is_head_ = head.method() == http::verb::head;
  is_http10_ = head.version() == 10;
  shared_ = parser_->is_done() ? 0 : length.value_or(kPieceBytes);
  request_ = request_of(head, ends_);
  keeps_alive_ = head.keep_alive();
  Admission admission = server_.hooks.admit(request_, shared_);
  if (admission.refusal) return write(std::move(*admission.refusal), !parser_->is_done() || !keeps_alive_);
  share_ = std::move(admission.share);
  arm(server_.settings.body_s);
  const auto expected = head[http::field::expect];
  if (lower_case({expected.data(), expected.size()}) != "100-continue" || parser_->is_done()) return read_body();
  ask_for_body();
}

void Session::ask_for_body() {
  continue_ = std::make_shared<http::response<http::empty_body>>(http::status::continue_, 11);
  http::async_write(socket_, *continue_, [self = shared_from_this()](const Code& failed, size_t) {
    if (failed) return self->close();
    self->read_body();
  });
}

// In pieces, so that others are read meanwhile. The time is for all of it.
void Session::read_body() {
  if (parser_->is_done()) return hand_over();
  http::async_read_some(socket_, buffer_, *parser_,
                        [self = shared_from_this()](const Code& code, size_t) { self->on_body(code); });
}

void Session::on_body(const Code& code) {
  if (code) return refuse(is_late_ ? Refusal{408, "the request came too slowly"} : refusal_of(code, server_.settings));
  if (has_room_for_body()) read_body();
}

// A body of unknown length reserves room as it arrives.
bool Session::has_room_for_body() {
  const size_t size = parser_->get().body().size();
  if (size <= shared_ || !share_) return true;
  try {
    shared_ = size + kPieceBytes;
    share_->resize(shared_);
    return true;
  } catch (const ApiError& error) {
    refuse({info_of(error.code).status, error.message});
    return false;
  }
}

void Session::refuse(const Refusal& refusal) {
  if (refusal.status == 0) return close();
  write(server_.hooks.error(refusal.status, refusal.why, ends_.peer), true);
}

void Session::hand_over() {
  disarm();
  keeps_alive_ = keeps_alive_ && ++served_ < server_.settings.max_requests_per_connection;
  HttpRequest request = std::move(request_);
  request.body = std::move(parser_->get().body());
  request.share = std::move(share_);
  const auto send = [self = shared_from_this()](HttpResponse response) {
    asio::dispatch(self->socket_.get_executor(),
                   [self, response = std::move(response)]() mutable { self->respond(std::move(response)); });
  };
  const auto exchange = std::make_shared<Exchange>(std::move(request), send);
  exchange_ = exchange;
  watch();
  server_.hooks.handle(exchange);
}

// Notices that the client leaves while its answer is computed. What it sends meanwhile waits in the socket.
void Session::watch() {
  is_watching_ = true;
  socket_.async_wait(asio::socket_base::wait_read, [self = shared_from_this()](const Code& code) {
    self->is_watching_ = false;
    if (code) return;
    char byte = 0;
    const ssize_t got = recv(self->socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))) return;
    if (const std::shared_ptr<Exchange> exchange = self->exchange_.lock()) exchange->disconnect();
    self->close();
  });
}

void Session::respond(HttpResponse response) {
  if (is_closed_) return break_off(response);
  if (is_watching_) {
    Code ignored;
    socket_.cancel(ignored);
  }
  const bool closes = response.closes || !keeps_alive_ || server_.is_draining;
  write(std::move(response), closes);
}

// The connection is gone: the response is dropped.
void Session::break_off(const HttpResponse& response) {
  if (response.sent) response.sent(false);
}

void Session::write(HttpResponse response, bool closes) {
  if (is_closed_) return break_off(response);
  response_ = {};
  sent_ = std::move(response.sent);
  pieces_ = std::move(response.pieces);
  is_chunked_ = pieces_ && !is_http10_;
  closes_ = closes || (pieces_ && is_http10_);  // where the end of the connection is that of the body
  response_.version(11);
  response_.result(static_cast<unsigned>(response.status));
  for (const auto& [name, value] : response.headers) {
    // Whatever its source, no value ends its line.
    if (value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos) response_.insert(name, value);
  }
  response_.keep_alive(!closes_);
  if (is_http10_ && !closes_)
    response_.set(http::field::connection, "keep-alive");  // else such a client waits for the end
  if (is_chunked_) response_.chunked(true);
  const bool has_body = response.status != 204;
  if (!pieces_ && has_body) response_.content_length(response.body.size());  // HEAD too: the length that GET has
  std::ostringstream head;
  head.exceptions(std::ios::badbit);  // else memory that it does not get cuts the head
  head << response_.base();
  out_ = head.str();
  if (is_head_) {
    pieces_ = nullptr;
  } else if (!pieces_) {
    rest_ = std::move(response.body);
    if (rest_.size() <= kPieceBytes) out_ += std::exchange(rest_, {});  // one write for most answers
  }
  rest_at_ = 0;
  write_some(out_);
}

// The time limit is for the next bytes: a client that reads on, however slowly, is not cut off.
void Session::write_some(std::string_view bytes) {
  arm(server_.settings.write_s);
  socket_.async_write_some(asio::buffer(bytes.data(), bytes.size()),
                           [self = shared_from_this(), bytes](const Code& code, size_t count) {
                             if (code) return self->on_written(false);
                             if (count < bytes.size()) return self->write_some(bytes.substr(count));
                             self->write_next();
                           });
}

void Session::write_next() {
  if (rest_at_ < rest_.size()) {
    const std::string_view piece = std::string_view(rest_).substr(rest_at_, kPieceBytes);
    rest_at_ += piece.size();
    return write_some(piece);
  }
  if (!pieces_) return on_written(true);
  try {
    out_ = pieces_();
  } catch (const std::exception&) {
    return on_written(false);
  }
  if (out_.empty()) pieces_ = nullptr;
  if (is_chunked_) out_ = fmt::format("{:x}\r\n{}\r\n", out_.size(), out_);
  if (out_.empty()) return on_written(true);
  write_some(out_);
}

void Session::on_written(bool is_whole) {
  is_head_ = false;
  std::string().swap(rest_);  // an assignment would keep the memory for as long as the connection is open
  std::string().swap(out_);
  pieces_ = nullptr;
  if (const auto sent = std::exchange(sent_, {})) sent(is_whole);
  if (!is_whole) return close();
  if (!closes_) return wait_for_request();
  Code ignored;
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  if (!lingers_) return close();
  arm(kLinger);
  drop_rest(0);
}

// Unread bytes at a close would reset the connection, and the client might not see the answer.
void Session::drop_rest(size_t dropped) {
  buffer_.clear();
  socket_.async_read_some(buffer_.prepare(4096), [self = shared_from_this(), dropped](const Code& code, size_t bytes) {
    if (code || dropped + bytes > kMostDropped) return self->close();
    self->drop_rest(dropped + bytes);
  });
}

void Session::close() {
  if (is_closed_) return;
  is_closed_ = true;
  disarm();
  Code ignored;
  socket_.close(ignored);
  if (is_refused_) --server_.refusing;
  const std::lock_guard lock(server_.mutex);
  if (server_.sessions.erase(shared_from_this()) > 0) {
    const auto connections = server_.per_address.find(ends_.peer);
    if (connections != server_.per_address.end() && --connections->second == 0) server_.per_address.erase(connections);
  }
  if (server_.sessions.empty()) server_.closed.notify_all();
}

}  // namespace

bool HttpServer::State::is_exempt(const std::string& peer) const {
  return peer.empty() || std::ranges::find(settings.trusted, peer) != settings.trusted.end();
}

void HttpServer::State::add(Socket socket, const Ends& ends) {
  auto session = std::make_shared<Session>(*this, std::move(socket), ends);
  bool is_refused = false;
  {
    const std::lock_guard lock(mutex);
    size_t& of_peer = per_address[ends.peer];
    is_refused = sessions.size() >= settings.max_connections ||
                 (!is_exempt(ends.peer) && of_peer >= settings.max_connections_per_address);
    if (is_refused && of_peer == 0) per_address.erase(ends.peer);
    if (!is_refused) {
      ++of_peer;
      sessions.insert(session);
    }
  }
  ++(is_refused ? refused : accepted);
  if (is_refused)
    session->start_refusing(++refusing <= kMostLingering);
  else
    session->start();
}

void HttpServer::State::tick() {
  ticker.expires_after(kTick);
  ticker.async_wait([this](const Code& code) {
    if (code) return;
    hooks.tick();
    tick();
  });
}

void HttpServer::State::close_all() {
  std::set<std::shared_ptr<Session>> open;
  {
    const std::lock_guard lock(mutex);
    open = sessions;
  }
  for (const std::shared_ptr<Session>& session : open) session->end();
}

HttpServer::HttpServer(const HttpSettings& settings, HttpHooks hooks)
    : state_(std::make_unique<State>(settings, std::move(hooks))) {}

void HttpServer::start() {
  state_->tick();
  for (size_t i = 0; i < std::max<size_t>(1, state_->settings.threads); ++i)
    state_->threads.emplace_back([state = state_.get()] { state->io.run(); });
}

void HttpServer::stop() {
  if (!state_->threads.empty()) {
    state_->is_draining = true;
    state_->close_all();
    wait_until_closed(1);
    state_->io.stop();
    for (std::thread& thread : state_->threads) thread.join();
    state_->threads.clear();
  }
  state_->listener.reset();
}

HttpServer::~HttpServer() {
  stop();
}

uint16_t HttpServer::port() const {
  return state_->port;
}

HttpCounts HttpServer::counts() const {
  const std::lock_guard lock(state_->mutex);
  return {.connections = state_->sessions.size(), .accepted = state_->accepted, .refused = state_->refused};
}

void HttpServer::drain() {
  state_->is_draining = true;
  asio::post(state_->io, [state = state_.get()] { state->listener->close(); });
  const std::lock_guard lock(state_->mutex);
  for (const std::shared_ptr<Session>& session : state_->sessions) session->end_if_idle();
}

bool HttpServer::wait_until_closed(double seconds_) {
  std::unique_lock lock(state_->mutex);
  return state_->closed.wait_for(lock, seconds(seconds_), [this] { return state_->sessions.empty(); });
}

}  // namespace deberta::serve

// Binds and accepts on TCP and Unix sockets, removes the socket of a dead server, and waits when descriptors run out.
#include "serve/listener.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <type_traits>
#include <utility>

#include "deberta/error.h"

namespace deberta::serve {
namespace {

namespace asio = boost::asio;
using Code = boost::system::error_code;

constexpr auto kAcceptPause = std::chrono::milliseconds(100);  // without descriptors
constexpr int kBacklog = 4096;

std::string address_of(const asio::ip::tcp::endpoint& endpoint) {
  return endpoint.address().to_string();
}
std::string address_of(const asio::local::stream_protocol::endpoint&) {
  return {};
}

// Whether a server that is gone left a socket there: no process listens at it.
bool is_dead_socket(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  asio::io_context io;
  asio::local::stream_protocol::socket socket(io);
  Code code;
  socket.connect(asio::local::stream_protocol::endpoint(path), code);
  return code == asio::error::connection_refused;
}

bool is_want_of_descriptors(const Code& code) {
  return code == asio::error::no_descriptors || code == boost::system::errc::too_many_files_open_in_system ||
         code == asio::error::no_memory;
}

}  // namespace

Listener::Listener(asio::io_context& io, const HttpSettings& settings, std::function<void(Socket, const Ends&)> take)
    : io_(io), settings_(settings), take_(std::move(take)), pause_(io) {
  const bool is_path = !settings.uds.empty();
  try {
    is_path ? listen_at_path() : listen_at_address();
  } catch (const boost::system::system_error& error) {
    throw Error(ErrorCode::kServe, is_path ? settings.uds : fmt::format("{}:{}", settings.host, settings.port),
                fmt::format("cannot listen: {}", error.code().message()));
  }
}

Listener::~Listener() {
  if (!settings_.uds.empty()) ::unlink(settings_.uds.c_str());
}

void Listener::listen_at_path() {
  const asio::local::stream_protocol::endpoint endpoint(settings_.uds);
  if (is_dead_socket(settings_.uds)) ::unlink(settings_.uds.c_str());
  local_.emplace(io_);
  local_->open(endpoint.protocol());
  local_->bind(endpoint);
  if (settings_.uds_mode && ::chmod(settings_.uds.c_str(), *settings_.uds_mode) != 0)
    throw boost::system::system_error(errno, boost::system::system_category());
  local_->listen(kBacklog);
  accept(*local_);
}

void Listener::listen_at_address() {
  const std::string address = settings_.host == "localhost" ? "127.0.0.1" : settings_.host;
  const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(address), settings_.port);
  tcp_.emplace(io_);
  tcp_->open(endpoint.protocol());
  tcp_->set_option(asio::socket_base::reuse_address(true));
  tcp_->bind(endpoint);
  tcp_->listen(kBacklog);
  port_ = tcp_->local_endpoint().port();
  accept(*tcp_);
}

template <class Acceptor>
void Listener::accept(Acceptor& acceptor) {
  acceptor.async_accept(asio::make_strand(io_), [this, &acceptor](const Code& code, auto socket) {
    if (code == asio::error::operation_aborted || !acceptor.is_open()) return;
    if (is_want_of_descriptors(code)) {
      pause_.expires_after(kAcceptPause);
      pause_.async_wait([this, &acceptor](const Code& stopped) {
        if (!stopped) accept(acceptor);
      });
      return;
    }
    if (!code) {
      Code ignored;
      const auto remote = socket.remote_endpoint(ignored);
      Ends ends;
      if (!ignored) ends = {.peer = address_of(remote), .local = address_of(socket.local_endpoint(ignored))};
      if constexpr (std::is_same_v<Acceptor, asio::ip::tcp::acceptor>)
        socket.set_option(asio::ip::tcp::no_delay(true), ignored);
      take_(Socket(std::move(socket)), ends);
    }
    accept(acceptor);
  });
}

void Listener::close() {
  Code ignored;
  if (tcp_) tcp_->close(ignored);
  if (local_) local_->close(ignored);
}

}  // namespace deberta::serve

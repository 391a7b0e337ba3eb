// Where connections come from: an address with a port, or the path of a Unix socket.
#pragma once
#include <boost/asio.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "serve/http_server.h"

namespace deberta::serve {

// The addresses of a connection's ends; empty of a Unix socket.
struct Ends {
  std::string peer, local;
};

class Listener {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  // Listens from here on. Throws kServe: the address is not there, the port is taken, the path cannot be used.
  Listener(boost::asio::io_context& io, const HttpSettings& settings, std::function<void(Socket, const Ends&)> take);
  ~Listener();  // the path of its Unix socket is gone
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  uint16_t port() const { return port_; }  // 0 with a Unix socket
  void close();                            // by a thread of `io`

 private:
  void listen_at_path();
  void listen_at_address();
  template <class Acceptor>
  void accept(Acceptor& acceptor);

  boost::asio::io_context& io_;
  const HttpSettings& settings_;
  std::function<void(Socket, const Ends&)> take_;
  std::optional<boost::asio::ip::tcp::acceptor> tcp_;
  std::optional<boost::asio::local::stream_protocol::acceptor> local_;
  boost::asio::steady_timer pause_;
  uint16_t port_ = 0;
};

}  // namespace deberta::serve

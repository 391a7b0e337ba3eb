// HTTP/1.1 over TCP or a Unix socket: strict framing, limits and timeouts, connections counted. Requests reach the
// handler whole; no thread waits for their answers. Boost.Beast is in http_server.cpp alone.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deberta/server.h"
#include "serve/client_shares.h"
#include "serve/http.h"

namespace deberta::serve {

struct HttpSettings {
  std::string host = std::string(ServerSettings::kDefaultHost);  // an address, or localhost
  uint16_t port = 0;                                             // 0: any free one
  std::string uds = {};                                          // the path of a Unix socket, instead of host and port
  std::optional<mode_t> uds_mode = {};
  size_t threads = ServerLimits{}.http_threads;  // for reading and writing; none computes
  size_t max_body = ServerLimits{}.max_body;
  size_t max_header_bytes = 16384;
  size_t max_headers = 64;
  size_t max_target = 8192;
  size_t max_connections = ServerLimits{}.max_connections;
  size_t max_connections_per_address = ServerLimits{}.max_connections_per_address;
  std::vector<std::string> trusted = {};  // addresses that may have more: proxies, whose clients others count
  size_t max_requests_per_connection = 10000;
  double header_s = 10, body_s = 30, write_s = 30, idle_s = 60;
};

// The decision on a request before its body is read.
struct Admission {
  std::optional<HttpResponse> refusal;  // it ends there
  std::shared_ptr<ClientShare> share;   // what it has of the memory; null where nothing counts
};

struct HttpHooks {
  // `body_bytes`: that are to come.
  std::function<Admission(const HttpRequest& head, size_t body_bytes)> admit;
  std::function<void(std::shared_ptr<Exchange>)> handle;
  // What the connection itself answers: framing errors (400, 408, 413, 414, 431), 429 and 503 over the caps.
  std::function<HttpResponse(int status, const std::string& why, const std::string& peer)> error;
  std::function<void()> tick;  // every 20 ms, by one of the threads
};

struct HttpCounts {
  size_t connections = 0, accepted = 0, refused = 0;
};

class HttpServer {
 public:
  // Listens from here on. Throws kServe: the address is not there, the port is taken, the path cannot be used.
  HttpServer(const HttpSettings& settings, HttpHooks hooks);
  ~HttpServer();  // closes what is open
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  void start();  // until then nothing is accepted, and no hook is called

  uint16_t port() const;  // 0 with a Unix socket
  HttpCounts counts() const;

  // Accepts nothing more; idle connections end, others after the response that they wait for.
  void drain();
  // Waits until no connection is open, or for the given time; false: some are open.
  bool wait_until_closed(double seconds);

  // Closes what is open, the port too, and ends the threads: no hook is called from now on. Responses that still come
  // are dropped.
  void stop();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace deberta::serve

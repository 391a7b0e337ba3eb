// HTTP as the rest of the server sees it: whole requests, and one response to each. http_server.h delivers them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deberta::serve {

// Whether the text is 1 to `most` letters, digits, dots, dashes and underscores.
bool is_plain_name(std::string_view text, size_t most);

// 16 hexadecimal digits, unique in this process and most likely among all.
std::string new_id();
// 32 hexadecimal digits, drawn by the system: they cannot be predicted from earlier ones.
std::string new_secret();

using Header = std::pair<std::string, std::string>;  // names in lower case

// A client's text as a part of a header's value: letters, digits, dots, dashes, underscores as they are, all other
// bytes as %XX, and no more than 64 bytes of it. So nothing that a client sends can end a line.
std::string header_text(std::string_view text);

constexpr size_t kPieceBytes = 65536;  // of an answer that are made, and sent, at a time

class ClientShare;

struct HttpRequest {
  std::string method;
  std::string path;   // as it came, without the query; never decoded
  std::string query;  // without the question mark
  std::vector<Header> headers;
  std::string body;
  std::string peer = {};                    // the client's address; empty behind a Unix socket
  std::string local = {};                   // the address that it asked; empty behind a Unix socket
  std::shared_ptr<ClientShare> share = {};  // what it has of the memory; null where nothing counts

  std::string_view header(std::string_view name) const;       // empty without it; the first of several
  std::string_view last_header(std::string_view name) const;  // the same; the last of several
};

struct HttpResponse {
  int status = 200;
  std::vector<Header> headers = {};
  std::string body = {};
  // Replaces `body`: returns its next piece, empty at the end. Called while the client reads, by one thread at a time.
  // An exception breaks the answer off.
  std::function<std::string()> pieces = {};
  bool closes = false;                           // the connection, after this response
  std::function<void(bool is_whole)> sent = {};  // called once it is written, or broken off
};

// A request until its response. Functions may be called from any thread.
class Exchange {
 public:
  Exchange(HttpRequest request, std::function<void(HttpResponse)> send)
      : request_(std::move(request)), send_(std::move(send)) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();  // without a response so far: 500

  const HttpRequest& request() const { return request_; }
  std::string take_body() { return std::move(request_.body); }  // request() has none from now on

  void respond(HttpResponse response);  // the first counts

  // Called once if the client leaves before the response; at once if it has left.
  void on_disconnect(std::function<void()> leave);
  void disconnect();  // by the connection

 private:
  HttpRequest request_;
  std::mutex mutex_;
  std::function<void(HttpResponse)> send_;  // empty once it is called
  std::function<void()> leave_;
  bool has_left_ = false;
};

}  // namespace deberta::serve

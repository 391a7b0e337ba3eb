// The server: models behind routes. Reads texts on threads of its own, runs all requests of a model together, and
// answers in the words of the client's family.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deberta/model.h"
#include "serve/batch_queue.h"
#include "serve/browser.h"
#include "serve/http_server.h"
#include "serve/keys.h"
#include "serve/metrics.h"
#include "serve/model_set.h"

namespace deberta::serve {

struct ServerSettings {
  HttpSettings http;
  QueueLimits queue;
  std::vector<ModelSource> models;
  ModelOptions model;
  OpenOptions open;
  Keys keys;                             // none: everyone may ask for everything
  bool has_explorer = false;             // /explorer and what it asks for
  bool has_admin = false;                // /admin/...
  bool has_strict_fields = false;        // a field that nothing has read is refused
  std::optional<uint16_t> metrics_port;  // serves only /metrics, at the same address, without a key; 0: any free port
  bool has_tei_metrics = false;          // /metrics has the names of text-embeddings-inference too
  BrowserRules browser;
  std::vector<std::string> trusted_proxies;  // addresses whose X-Forwarded-For is believed
  double rate_limit = 0;                     // tokens a second of one client; 0: none
  std::optional<size_t> max_input_length;    // tokens of a text, at most those of the model; none: the model's, or 512
  size_t max_client_batch = 256;
  size_t max_answer = size_t{64} << 20;  // bytes of an answer, about
  ShareLimits shares;
  std::optional<bool> cuts = {};  // texts that are too long; nothing: as the client's family does
  int64_t deadline_ms = 30000;
  size_t readers = 1;                          // threads that read texts and write answers
  std::function<size_t()> dropped_lines = {};  // lines that the log has dropped, for /metrics
};

// One request, for the log.
struct RequestLog {
  std::string id, method, route, model;
  std::string client;  // the client's address; empty behind a Unix socket
  std::string key;     // the name of the client's key
  std::string trace;   // the request's `traceparent`
  int status = 200;    // 499: the client has left, or took no more of the answer
  std::string code;    // code of a refusal: "validation"
  std::string field;   // where in the body it is: "/inputs/3"
  std::string path;    // for a 404: the path as it came, with all but plain characters as %XX
  std::string detail;  // for a status from 500: what went wrong, one line
  size_t items = 0, tokens = 0;
  size_t cut_inputs = 0, cut_tokens = 0;  // texts that were too long, and what they lost
  double queue_ms = 0, inference_ms = 0, total_ms = 0;
};

class Server {
 public:
  // Listens; every model is reported as loading until open_models() has opened it. Throws kServe.
  Server(const ServerSettings& settings, std::function<void(const RequestLog&)> log);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Throws what opening a model throws.
  void open_models();
  // Replaces the keys, for requests that arrive from now on.
  void replace_keys(Keys keys);
  // Opens every model's folder anew, one after the other, while requests go on; `tell` receives each outcome: the name,
  // and the error, empty for none. After an error the old model stays.
  void reload_models(std::function<void(const std::string& name, const std::string& error)> tell);

  uint16_t port() const;
  uint16_t metrics_port() const;  // 0: there is none
  // Reports from now on that it is not ready, and goes on answering.
  void leave();
  // Refuses new requests and finishes those that have begun, within the given time. False: some were left.
  bool drain(double seconds);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace deberta::serve

// A server inside a process: models over HTTP, as the program's verb `serve` runs them (docs/reference/server.md says
// what clients ask and get). A program that uses it links deberta::serve, which is the whole library with the server,
// in place of deberta::deberta.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/checkpoint.h"
#include "deberta/error.h"
#include "deberta/find_model.h"
#include "deberta/model.h"
#include "deberta/pipeline.h"

namespace deberta {

struct ServerModel {
  std::string name;  // in requests: at most 64 letters, digits, dots, dashes and underscores
  std::string path;  // its folder, or another name that find_model() finds in ServerSettings::places
  // More names for the same weights and the same queue: each as `name`, or ORG/NAME of two such parts.
  std::vector<std::string> aliases = {};
  // What waits or runs for this model, so that others have room while it is full: requests, at most
  // ServerLimits::max_concurrent_requests, which is the default; and tokens, 64 batches of them by default.
  std::optional<size_t> max_requests = {};
  std::optional<size_t> max_queue_tokens = {};
};

// The numbers of a server. The program's options of these names have their defaults from here.
struct ServerLimits {
  size_t max_concurrent_requests = 512;  // that wait or run; further ones are refused (429)
  size_t max_client_batch = 256;         // texts, documents or candidate labels in a request
  size_t max_batch_items = 1024;         // sequences that run together
  // Bytes of a request's body, of an answer (about), and of all that the requests of one client and of all clients have
  // in memory: bodies, what was read from them, and answers that are not taken yet. The models come on top.
  size_t max_body = 2000000;
  size_t max_answer = size_t{64} << 20;
  size_t max_client_bytes = size_t{32} << 20;
  size_t memory_limit = size_t{1} << 30;
  size_t max_connections = 1024;
  size_t max_connections_per_address = 256;
  int64_t deadline_ms = 30000;      // after it a request without an answer is abandoned (504)
  double rate_limit = 0;            // tokens per second of one client; 0: none
  size_t http_threads = 2;          // that read and write connections; none computes
  size_t tokenization_workers = 0;  // threads that read texts and write answers; 0: half of the processors
};

// A request that was answered or refused, for a log. It has nothing of its texts, and no key.
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

struct ServerSettings {
  static constexpr std::string_view kDefaultHost = "127.0.0.1";
  static constexpr uint16_t kDefaultPort = 8080;

  std::vector<ServerModel> models;  // at least one, each with a name of its own
  ModelPlaces places = {};          // of models whose path is no directory
  ModelOptions model = {};          // of each of them; its `threads` compute
  OpenOptions open = {};

  // Where it listens.
  std::string host{kDefaultHost};             // an address, or localhost
  uint16_t port = kDefaultPort;               // 0: any free one, which Server::port() returns
  std::string uds = {};                       // path of a Unix socket, in place of host and port
  std::optional<uint32_t> uds_mode = {};      // its permissions, such as 0660; none: by the umask
  std::optional<uint16_t> metrics_port = {};  // of /metrics alone, without a key; 0: any free one; none: `port`

  // Who may ask for what. Without a key everyone who reaches the server may ask. Where other machines reach it, /admin
  // and /explorer need one.
  std::string api_key = {};                       // opens every route
  std::string api_key_file = {};                  // lines NAME:SCOPES:SHA256 (docs/guides/run-a-server.md#keys)
  bool has_admin = false;                         // /admin/...
  std::optional<bool> has_explorer = {};          // /explorer; none: where no other machine reaches the server
  std::vector<std::string> allowed_hosts = {};    // names by which it may be found without a key; "*": any
  std::vector<std::string> allowed_origins = {};  // origins of other sites' pages that may ask; "*": all
  std::vector<std::string> trusted_proxies = {};  // addresses whose X-Forwarded-For is believed

  // What it takes and answers.
  std::string default_model = {};  // a name of the model that requests get which name none; empty: the only model
  ServerLimits limits = {};
  size_t batch_tokens = 4500;  // that run together
  // Tokens of a text, at most those that the model's folder allows; none: those, up to 8,192, else 512.
  std::optional<size_t> max_input_length = {};
  std::optional<bool> cuts = {};  // longer texts, instead of refusing them; none: as the client's family does
  // What becomes of the windows of longer texts where labels are asked for, kMean or kMax; none: they are not read in
  // windows. A request that says what happens to long texts overrides both. The labels are as in SequenceOptions, and
  // every model that classifies must have them.
  std::optional<WindowScores> window_scores = {};
  std::vector<std::string> benign_labels = {};
  bool has_strict_fields = false;  // a field that nothing has read is refused
  bool has_tei_metrics = false;    // /metrics has the names of text-embeddings-inference too

  // Returns the memory of past answers to the system, by malloc_trim() on the whole heap, up to twice a second: for a
  // process that does little else.
  bool trims_heap = false;

  // Called with `context` by the server's threads, several at a time, until the server is destroyed. They must neither
  // throw nor call the server. Plain functions: <functional> would be a third of the compile time of this header.
  void (*log)(void* context, const RequestLog& request) = nullptr;  // with each request
  // With the outcome of reload_models() for a model; `error` is empty where it is open again.
  void (*reloaded)(void* context, const std::string& name, const std::string& error) = nullptr;
  size_t (*dropped_lines)(void* context) = nullptr;  // lines that the log has lost so far, for /metrics
  void* context = nullptr;
};

// Models behind a port. It prints nothing and installs no signal handler; its threads inherit the signal mask of those
// that construct and start it. Once start() has returned, any threads may call its functions, also at the same time.
class DEBERTA_API Server {
 public:
  // Checks the settings and reads the keys; it does not listen yet. Throws kUsage for settings that no server can have
  // and for what is no file of keys, and what find_model() and reading that file throw.
  explicit Server(ServerSettings settings);
  ~Server();  // as stop()
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Listens, and opens the models one after the other: until all are open, requests are refused (503). Called once.
  // Throws kServe where it cannot listen, kNotFinite for a model whose results are no numbers, and what
  // open_pipeline() throws; it is stopped then.
  void start();

  // Where it listens, or did; 0 before start() and with a Unix socket.
  uint16_t port() const;
  uint16_t metrics_port() const;  // 0 also where /metrics has no port of its own

  // Reads api_key_file again, for requests that arrive from now on. After an error, which it throws as the constructor
  // does, the old keys stay.
  void reload_keys();
  // Begins to open every open model again, one after the other, while requests go on; ServerSettings::reloaded receives
  // each outcome. After an error the old model stays.
  void reload_models();

  // Reports from now on that it is not ready (/health: 503), so that load balancers turn elsewhere, and goes on
  // answering.
  void leave();
  // Refuses new requests, and waits at most so many seconds for those that have begun. False: some are left.
  bool drain(double seconds);
  // Closes the port and ends the threads; requests that have begun get no answer. A second call waits for the first.
  void stop();
  // Returns once stop(), which another thread calls, has ended.
  void wait();

 private:
  struct State;
  // An owned pointer: <memory> would double the compile time of this header.
  State* state_;
};

}  // namespace deberta

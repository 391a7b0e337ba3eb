// The server: models behind routes. Reads texts on threads of its own, runs all requests of a model together, and
// answers in the words of the client's family.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "deberta/model.h"
#include "serve/batch_queue.h"
#include "serve/http_server.h"
#include "serve/metrics.h"

namespace deberta::serve {

struct ModelPlace {
  std::string name;  // under which it is served
  std::string path;  // of its folder
};

struct ServerSettings {
  HttpSettings http;
  QueueLimits queue;
  std::vector<ModelPlace> models;
  ModelOptions model;
  OpenOptions open;
  std::string api_key;            // empty: everyone may ask
  size_t max_input_length = 512;  // tokens of a text; the model's own limit stays in effect
  size_t max_client_batch = 256;
  bool cuts = true;
  int64_t deadline_ms = 30000;
  size_t readers = 1;  // threads that read texts and write answers
};

// One request, for the log.
struct RequestLog {
  std::string id, method, route, model;
  int status = 200;
  size_t items = 0, tokens = 0;
  double queue_ms = 0, inference_ms = 0, total_ms = 0;
};

class Server {
 public:
  // Opens the models and listens. Throws what opening a model throws, and kServe.
  Server(const ServerSettings& settings, std::function<void(const RequestLog&)> log);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const;
  // Refuses new requests, finishes what has begun, for at most so long. False: something was left.
  bool drain(double seconds);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace deberta::serve

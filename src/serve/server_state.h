// What the parts of the server share: the settings, the models, and what is counted. A request is a Call (call.h).
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "serve/answering.h"
#include "serve/browser.h"
#include "serve/client_shares.h"
#include "serve/explain.h"
#include "serve/explain_places.h"
#include "serve/http_server.h"
#include "serve/keys.h"
#include "serve/metrics.h"
#include "serve/model_set.h"
#include "serve/rate_limits.h"
#include "serve/read_turns.h"
#include "serve/routes.h"
#include "serve/settings.h"
#include "serve/work_pool.h"

namespace deberta::serve {

enum class LogLevel { kInfo, kWarning, kError };  // all requests, those with a status from 400, and from 500

// The id that a request brings, or a new one.
std::string id_of(const HttpRequest& request);

struct ServerState {
  // Throws what reading the keys and finding the models throw.
  explicit ServerState(ServerSettings settings_);

  std::shared_ptr<Served> open(const ModelSource& source);
  HttpHooks hooks(bool are_of_metrics);
  Admission admit(const HttpRequest& head, size_t body_bytes, bool is_of_metrics);
  std::optional<HttpResponse> answer_early(const HttpRequest& head, bool is_of_metrics) const;
  HttpResponse refuse(const HttpRequest& head, const ApiError& error);
  std::optional<HttpResponse> preflight(const HttpRequest& head, const std::string& methods) const;
  void check_head(const HttpRequest& head, bool is_of_metrics) const;
  std::shared_ptr<const Keys> keys() const;
  std::optional<Key> key_of(const HttpRequest& head) const;
  std::optional<Key> check_key(const HttpRequest& head) const;
  bool is_forwarded(const HttpRequest& head) const;
  std::string address_of(const HttpRequest& head) const;
  std::string client_of(const HttpRequest& head, const std::optional<Key>& key) const;
  void handle(const std::shared_ptr<Exchange>& exchange);
  std::vector<GaugeValue> gauges() const;
  std::string compute_type() const;
  void reload(const std::string& name, bool forces);
  void reload_keys();
  HttpResponse refuse_connection(int status, const std::string& why, const std::string& peer);
  // The headers that every response has.
  void add_headers(const HttpRequest& request, const std::string& id, HttpResponse& response) const;
  // Counts the request, and logs it once its response is sent. `error`: the reason of a refusal; null: none.
  void record(const RequestFacts& facts, const RequestLog& line, const ApiError* error, HttpResponse& response);
  RequestLog line_of(const HttpRequest& request, const std::string& id, const std::string& key) const;
  void write_line(RequestLog line, int least, bool is_whole);
  void expire();
  void trim();

  const ServerSettings settings;
  // What follows from them.
  const BrowserRules browser;
  const QueueLimits queue;
  const size_t readers;
  const bool has_explorer;
  mutable std::mutex keys_mutex;
  std::shared_ptr<const Keys> keys_;  // under the lock
  Metrics metrics;
  std::atomic<size_t> inflight = 0;
  std::atomic<bool> is_leaving = false;   // it says that it is not ready, and answers
  std::atomic<bool> is_draining = false;  // it refuses what has not begun
  ClientShares shares;
  ReadTurns turns;
  std::unique_ptr<HttpServer> http;          // its memory outlives late responses
  std::unique_ptr<HttpServer> metrics_http;  // null: /metrics is at the same port
  std::unique_ptr<WorkPool> pool;
  ModelSet models;
  RateLimits rates;
  std::atomic<LogLevel> log_level = LogLevel::kInfo;
  Explanations explanations;
  ExplainPlaces explain_places;
  std::atomic<size_t> reloads = 0, failed_reloads = 0, cut_answers = 0;
  std::atomic<bool> is_closing = false;
  uint64_t trimmed = 0;                                                 // bytes that clients had returned by then
  int64_t trimmed_at = 0;                                               // microseconds
  std::unique_ptr<WorkPool> loader = std::make_unique<WorkPool>(1);     // opens and closes models
  std::unique_ptr<WorkPool> explainer = std::make_unique<WorkPool>(1);  // one text at a time, beside what is served
};

}  // namespace deberta::serve

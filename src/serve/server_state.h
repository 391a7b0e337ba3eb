// What the parts of the server share: the settings, the models, and what is counted. A request is a Call (call.h).
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serve/answering.h"
#include "serve/explain.h"
#include "serve/model_set.h"
#include "serve/rate_limits.h"
#include "serve/routes.h"
#include "serve/server.h"
#include "serve/work_pool.h"

namespace deberta::serve {

enum class LogLevel { kInfo, kWarning, kError };  // all requests, those with a status from 400, and from 500

// The id that a request has of its own, or a new one.
std::string id_of(const HttpRequest& request);

struct Server::State {
  State(const ServerSettings& settings_, std::function<void(const RequestLog&)> log_)
      : settings(settings_),
        log(std::move(log_)),
        metrics(settings_.has_tei_metrics),
        pool(std::make_unique<WorkPool>(std::max<size_t>(1, settings_.readers))),
        models(settings_.models, [this](const ModelPlace& place) { return open(place); }),
        rates(settings_.rate_limit) {}

  std::shared_ptr<Served> open(const ModelPlace& place);
  std::optional<HttpResponse> refuse(const HttpRequest& head);
  const Key* check_key(const HttpRequest& head) const;
  void add_origin(const HttpRequest& head, std::vector<Header>& headers) const;
  std::string client_of(const HttpRequest& head) const;
  void handle(const std::shared_ptr<Exchange>& exchange);
  HttpResponse get(const RouteMatch& match, const HttpRequest& request);
  Json info() const;
  Json list() const;
  std::vector<GaugeValue> gauges() const;
  Json admin_models() const;
  Json admin_queue() const;
  std::string compute_type() const;
  void reload(const std::string& name, bool forces);
  void tell(const RequestFacts& facts, const std::string& id, const HttpRequest& request, const std::string& key);
  void expire();

  const ServerSettings settings;
  std::function<void(const RequestLog&)> log;
  Metrics metrics;
  std::atomic<size_t> inflight = 0;
  std::atomic<bool> is_leaving = false;   // it says that it is not ready, and answers
  std::atomic<bool> is_draining = false;  // it refuses what has not begun
  std::unique_ptr<HttpServer> http;       // its memory outlives the responses that come late
  std::unique_ptr<WorkPool> pool;
  ModelSet models;
  RateLimits rates;
  std::atomic<LogLevel> log_level = LogLevel::kInfo;
  Explanations explanations;
  std::atomic<size_t> explaining = 0;  // that wait or run
  std::atomic<size_t> reloads = 0, failed_reloads = 0;
  std::atomic<bool> is_closing = false;
  std::unique_ptr<WorkPool> loader = std::make_unique<WorkPool>(1);     // opens and closes models
  std::unique_ptr<WorkPool> explainer = std::make_unique<WorkPool>(1);  // one text at a time, beside what is served
};

}  // namespace deberta::serve

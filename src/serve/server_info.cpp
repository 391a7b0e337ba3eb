// What the server reports about itself: models, limits, gauges.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "deberta/library.h"
#include "heads/head_facts.h"
#include "serve/handlers.h"
#include "serve/server_state.h"

namespace deberta::serve {
namespace {

JsonObject labels_json(const ModelConfig& config) {
  JsonObject id2label, label2id;
  for (size_t i = 0; i < config.labels.size(); ++i) {
    id2label.emplace_back(std::to_string(i), config.labels[i]);
    label2id.emplace_back(config.labels[i], uint64_t{i});
  }
  return {{"id2label", std::move(id2label)}, {"label2id", std::move(label2id)}};
}

// The model's kind, in the words of text-embeddings-inference and beyond.
JsonObject model_type_json(const ServedModel& model) {
  const Model& m = model.pipeline.model;
  const HeadFacts& head = facts_of(m.head());
  JsonObject more;
  if (head.has_classes()) more = labels_json(model.pipeline.config);
  if (!head.has_logits()) more = JsonObject{{"pooling", "mean"}};
  const bool ranks = head.is_per_sequence() && m.labels() == 1;
  return {{ranks ? "reranker" : std::string(head.served_as), std::move(more)}};
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::string ServerState::compute_type() const {
  return fmt::format("cpu-{}", to_string(settings.model.precision));
}

namespace {

Json info_of_model(const Served& served) {
  const ServedModel& model = served.model;
  JsonArray aliases(model.aliases.begin(), model.aliases.end());
  return JsonObject{{"name", model.name},
                    {"aliases", std::move(aliases)},
                    {"model_type", model_type_json(model)},
                    {"task", hub::own_task(model)},
                    {"max_input_length", uint64_t{model.max_input_length}},
                    {"max_concurrent_requests", uint64_t{served.worker->limits().requests}},
                    {"max_queue_tokens", uint64_t{served.worker->limits().tokens}}};
}

}  // namespace

HttpResponse gets::info(ServerState& server, const GetRequest& request) {
  const ServerSettings& settings = server.settings;
  const std::vector<std::shared_ptr<Served>> open_ones = server.models.open_ones_of(request.match.model);
  if (open_ones.empty()) server.models.check_ready();
  if (open_ones.empty()) throw ApiError(ApiCode::kLoading, "models are being loaded");
  const ServedModel& model = open_ones.front()->model;
  JsonArray all;
  for (const std::shared_ptr<Served>& entry : open_ones) all.push_back(info_of_model(*entry));
  const size_t most_requests = request.match.model.empty() ? settings.limits.max_concurrent_requests
                                                           : open_ones.front()->worker->limits().requests;
  return json_response(JsonObject{{"model_id", model.name},
                                  {"model_sha", Json()},
                                  {"model_dtype", std::string(to_string(settings.model.precision))},
                                  {"served_model_name", model.name},
                                  {"model_type", model_type_json(model)},
                                  {"max_concurrent_requests", uint64_t{most_requests}},
                                  {"max_input_length", uint64_t{model.max_input_length}},
                                  {"max_batch_tokens", static_cast<uint64_t>(server.queue.batch_work)},
                                  {"max_batch_requests", uint64_t{settings.limits.max_batch_items}},
                                  {"max_client_batch_size", uint64_t{settings.limits.max_client_batch}},
                                  {"auto_truncate", settings.cuts.value_or(false)},
                                  {"tokenization_workers", uint64_t{server.readers}},
                                  {"version", version()},
                                  {"device", server.compute_type()},
                                  {"models", std::move(all)}});
}

namespace {

Json openai_model_json(const std::string& name) {
  return JsonObject{{"id", name}, {"object", "model"}, {"created", 0}, {"owned_by", "deberta"}};
}

}  // namespace

// Each name is an entry: OpenAI's clients take what they send as `model` from this list.
HttpResponse gets::models(ServerState& server, const GetRequest& request) {
  JsonArray all;
  for (const std::shared_ptr<Served>& entry : server.models.open_ones_of(request.match.model)) {
    all.push_back(openai_model_json(entry->model.name));
    for (const std::string& alias : entry->model.aliases) all.push_back(openai_model_json(alias));
  }
  return json_response(JsonObject{{"object", "list"}, {"data", std::move(all)}});
}

HttpResponse gets::openai_model(ServerState& server, const GetRequest& request) {
  server.models.find(request.match.model);  // throws
  return json_response(openai_model_json(request.match.model));
}

std::vector<GaugeValue> ServerState::gauges() const {
  std::vector<GaugeValue> values;
  const HttpCounts counts = http->counts();
  values.push_back({"connections", "", static_cast<double>(counts.connections)});
  values.push_back({"connections_total", "", static_cast<double>(counts.accepted)});
  values.push_back({"connections_refused_total", "", static_cast<double>(counts.refused)});
  values.push_back({"answers_cut_total", "", static_cast<double>(cut_answers)});
  if (settings.dropped_lines != nullptr)
    values.push_back({"log_lines_dropped_total", "", static_cast<double>(settings.dropped_lines(settings.context))});
  values.push_back({"requests_memory_bytes", "", static_cast<double>(shares.bytes())});
  values.push_back({"requests_memory_limit_bytes", "", static_cast<double>(settings.limits.memory_limit)});
  values.push_back({"inflight_requests", "", static_cast<double>(inflight)});
  values.push_back({"process_resident_memory_bytes", "", resident_bytes()});
  values.push_back(
      {"build_info", fmt::format("version=\"{}\",dtype=\"{}\"", version(), to_string(settings.model.precision)), 1});
  values.push_back({"reload_total", "result=\"done\"", static_cast<double>(reloads)});
  values.push_back({"reload_total", "result=\"failed\"", static_cast<double>(failed_reloads)});
  for (const ModelSet::Status& status : models.statuses())
    values.push_back({"model_loaded", fmt::format("model=\"{}\"", status.name), status.state == "open" ? 1.0 : 0.0});
  const auto add = [&](const std::string& name, const auto& value_of) {
    for (const std::shared_ptr<Served>& entry : models.open_ones())
      values.push_back({name, fmt::format("model=\"{}\"", entry->model.name),
                        static_cast<double>(value_of(entry->worker->gauges(), entry->worker->limits()))});
  };
  add("queue_items", [](const QueueGauges& g, const QueueLimits&) { return g.sequences; });
  add("queue_tokens", [](const QueueGauges& g, const QueueLimits&) { return g.tokens; });
  add("queue_tokens_limit", [](const QueueGauges&, const QueueLimits& most) { return most.tokens; });
  if (settings.has_tei_metrics) {
    double waiting = 0;
    for (const std::shared_ptr<Served>& entry : models.open_ones())
      waiting += static_cast<double>(entry->worker->gauges().sequences);
    values.push_back({"te_queue_size", "", waiting});
  }
  add("queue_requests", [](const QueueGauges& g, const QueueLimits&) { return g.requests; });
  add("queue_requests_limit", [](const QueueGauges&, const QueueLimits& most) { return most.requests; });
  return values;
}

HttpResponse gets::admin_models(ServerState& server, const GetRequest&) {
  JsonArray all;
  for (const ModelSet::Status& status : server.models.statuses())
    all.push_back(JsonObject{{"name", status.name}, {"path", status.path}, {"state", status.state}});
  return json_response(JsonObject{{"models", std::move(all)}});
}

HttpResponse gets::admin_queue(ServerState& server, const GetRequest&) {
  JsonArray all;
  for (const std::shared_ptr<Served>& served : server.models.open_ones()) {
    const QueueGauges gauges = served->worker->gauges();
    all.push_back(JsonObject{{"name", served->model.name},
                             {"requests", uint64_t{gauges.requests}},
                             {"sequences", uint64_t{gauges.sequences}},
                             {"tokens", uint64_t{gauges.tokens}},
                             {"ms_to_drain", served->worker->time_to_drain() / 1000}});
  }
  return json_response(JsonObject{{"models", std::move(all)}});
}

}  // namespace deberta::serve

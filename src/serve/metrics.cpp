// Counters and histograms by name and labels, written in Prometheus' text format.
#include "serve/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace deberta::serve {
namespace {

std::vector<double> powers(double first, double factor, size_t count) {
  std::vector<double> bounds;
  for (size_t k = 0; k < count; ++k) bounds.push_back(first * std::pow(factor, static_cast<double>(k)));
  return bounds;
}

const std::vector<double>& seconds_bounds() {
  static const std::vector<double> bounds = powers(10e-6, 1.5, 35);
  return bounds;
}
const std::vector<double>& size_bounds() {
  static const std::vector<double> bounds = powers(1, 2, 17);
  return bounds;
}
const std::vector<double>& share_bounds() {
  static const std::vector<double> bounds = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};
  return bounds;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string with(const std::string& labels, const std::string& more) {
  if (labels.empty() || more.empty()) return labels + more;
  return labels + "," + more;
}

std::string whole(std::string_view name) {
  return name.starts_with("te_") ? std::string(name) : fmt::format("deberta_{}", name);
}

std::string line(std::string_view name, const std::string& labels, const std::string& value) {
  return labels.empty() ? fmt::format("{} {}\n", whole(name), value)
                        : fmt::format("{}{{{}}} {}\n", whole(name), labels, value);
}

}  // namespace

void Metrics::Histogram::add(double value) {
  const auto at = std::lower_bound(bounds->begin(), bounds->end(), value) - bounds->begin();
  ++counts[static_cast<size_t>(at)];
  sum += value;
  ++count;
}

Metrics::Histogram* Metrics::histogram(const std::string& name, const Labels& labels,
                                       const std::vector<double>& bounds) {
  const auto [entry, is_new] = histograms_[name].try_emplace(labels);
  if (is_new) entry->second = {.bounds = &bounds, .counts = std::vector<uint64_t>(bounds.size() + 1)};
  return &entry->second;
}

Metrics::RequestFigures& Metrics::figures_of(const RequestFacts& facts) {
  const RequestKind kind{facts.model, facts.route, facts.is_batch};
  if (const auto entry = request_figures_.find(kind); entry != request_figures_.end()) return entry->second;
  const Labels model = fmt::format("model=\"{}\"", escaped(facts.model));
  const Labels labels =
      fmt::format("{},route=\"{}\",method=\"{}\"", model, escaped(facts.route), facts.is_batch ? "batch" : "single");
  return request_figures_
      .emplace(kind, RequestFigures{.labels = labels,
                                    .by_status = {},
                                    .successes = counter("request_success_total", labels),
                                    .items = counter("items_total", labels),
                                    .tokens = counter("tokens_total", labels),
                                    .cut_inputs = counter("truncated_inputs_total", model),
                                    .cut_tokens = counter("truncated_tokens_total", model),
                                    .duration = histogram("request_duration_seconds", labels, seconds_bounds()),
                                    .run = {}})
      .first->second;
}

Metrics::RunFigures Metrics::run_figures(const Labels& labels) {
  return {.tokenization = histogram("tokenization_duration_seconds", labels, seconds_bounds()),
          .queue = histogram("queue_duration_seconds", labels, seconds_bounds()),
          .inference = histogram("inference_duration_seconds", labels, seconds_bounds()),
          .overhead = histogram("overhead_duration_seconds", labels, seconds_bounds()),
          .tokens = histogram("input_tokens", labels, size_bounds())};
}

void Metrics::count(const RequestFacts& facts) {
  const std::lock_guard lock(mutex_);
  RequestFigures& all = figures_of(facts);
  uint64_t*& requests = all.by_status[facts.status];
  if (requests == nullptr)
    requests = counter("request_total", with(all.labels, fmt::format("status=\"{}\"", facts.status)));
  ++*requests;
  if (facts.failure.empty())
    ++*all.successes;
  else
    ++*counter("request_failure_total", with(all.labels, fmt::format("reason=\"{}\"", facts.failure)));
  *all.items += facts.items;
  *all.tokens += facts.tokens;
  *all.cut_inputs += facts.cut_inputs;
  *all.cut_tokens += facts.cut_tokens;
  all.duration->add(facts.total_s);
  if (has_tei_names_) count_as_tei(facts);
  if (facts.is_inference) count_for_model(facts);
  if (!facts.has_run) return;
  if (!all.run) all.run = run_figures(all.labels);
  all.run->tokenization->add(facts.tokenization_s);
  all.run->queue->add(facts.queue_s);
  all.run->inference->add(facts.inference_s);
  all.run->overhead->add(std::max(0.0, facts.total_s - facts.tokenization_s - facts.queue_s - facts.inference_s));
  all.run->tokens->add(static_cast<double>(facts.tokens));
}

void ModelStatistics::Times::add(double seconds) {
  ++count;
  nanoseconds += static_cast<uint64_t>(std::llround(std::max(0.0, seconds) * 1e9));
}

// A request that no model ran for, such as one for tokens, is counted only where it fails: what it would have been is
// not known then.
void Metrics::count_for_model(const RequestFacts& facts) {
  const bool is_answered = facts.failure.empty();
  if (is_answered && !facts.has_run) return;
  ModelStatistics& all = statistics_[facts.model];
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  all.last_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  if (!is_answered) return all.failed.add(facts.total_s);
  all.items += facts.items;
  all.answered.add(facts.total_s);
  all.queued.add(facts.queue_s);
  all.read.add(facts.tokenization_s);
  all.computed.add(facts.inference_s);
  all.made.add(facts.output_s);
}

ModelStatistics Metrics::statistics(const std::string& model) const {
  const std::lock_guard lock(mutex_);
  const auto entry = statistics_.find(model);
  return entry == statistics_.end() ? ModelStatistics() : entry->second;
}

void Metrics::count_as_tei(const RequestFacts& facts) {
  const std::string method = fmt::format("method=\"{}\"", facts.is_batch ? "batch" : "single");
  ++counters_["te_request_count"][method];
  if (facts.failure.empty())
    ++counters_["te_request_success"][method];
  else
    ++counters_["te_request_failure"][fmt::format("err=\"{}\"", facts.failure)];
  histogram("te_request_duration", method, seconds_bounds())->add(facts.total_s);
}

Metrics::BatchFigures& Metrics::figures_of_batch(const std::string& model) {
  if (const auto entry = batch_figures_.find(model); entry != batch_figures_.end()) return entry->second;
  const Labels labels = fmt::format("model=\"{}\"", escaped(model));
  return batch_figures_
      .emplace(model, BatchFigures{.batches = counter("batches_total", labels),
                                   .sequences = histogram("batch_items", labels, size_bounds()),
                                   .tokens = histogram("batch_tokens", labels, size_bounds()),
                                   .fill = histogram("batch_fill_ratio", labels, share_bounds()),
                                   .duration = histogram("batch_duration_seconds", labels, seconds_bounds()),
                                   .statistics = &statistics_[model]})
      .first->second;
}

void Metrics::count_batch(const std::string& model, size_t sequences, size_t tokens, double fill, double seconds) {
  const std::lock_guard lock(mutex_);
  const BatchFigures& all = figures_of_batch(model);
  ++*all.batches;
  all.sequences->add(static_cast<double>(sequences));
  all.tokens->add(static_cast<double>(tokens));
  all.fill->add(fill);
  all.duration->add(seconds);
  ++all.statistics->batches;
  all.statistics->by_sequences[sequences].add(seconds);
  if (!has_tei_names_) return;
  histogram("te_batch_next_size", "", size_bounds())->add(static_cast<double>(sequences));
  histogram("te_batch_next_tokens", "", size_bounds())->add(static_cast<double>(tokens));
}

std::string Metrics::text(const std::vector<GaugeValue>& gauges) const {
  std::string out;
  std::string_view last;
  for (const GaugeValue& gauge : gauges) {
    if (gauge.name != last)
      out += fmt::format("# TYPE {} {}\n", whole(gauge.name), gauge.name.ends_with("_total") ? "counter" : "gauge");
    last = gauge.name;
    out += line(gauge.name, gauge.labels, fmt::format("{}", gauge.value));
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [name, by_labels] : counters_) {
    out += fmt::format("# TYPE {} counter\n", whole(name));
    for (const auto& [labels, value] : by_labels) out += line(name, labels, fmt::format("{}", value));
  }
  for (const auto& [name, by_labels] : histograms_) {
    out += fmt::format("# TYPE {} histogram\n", whole(name));
    for (const auto& [labels, histogram] : by_labels) {
      uint64_t below = 0;
      for (size_t i = 0; i < histogram.bounds->size(); ++i) {
        below += histogram.counts[i];
        out += line(name + "_bucket", with(labels, fmt::format("le=\"{:.6g}\"", (*histogram.bounds)[i])),
                    fmt::format("{}", below));
      }
      out += line(name + "_bucket", with(labels, "le=\"+Inf\""), fmt::format("{}", histogram.count));
      out += line(name + "_sum", labels, fmt::format("{}", histogram.sum));
      out += line(name + "_count", labels, fmt::format("{}", histogram.count));
    }
  }
  return out;
}

}  // namespace deberta::serve

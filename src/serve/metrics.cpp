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

void Metrics::add(std::string_view name, const Labels& labels, double value, const std::vector<double>& bounds) {
  auto& [kept, by_labels] = histograms_[std::string(name)];
  kept = &bounds;
  Histogram& histogram = by_labels[labels];
  histogram.counts.resize(bounds.size() + 1);
  const auto at = std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin();
  ++histogram.counts[static_cast<size_t>(at)];
  histogram.sum += value;
  ++histogram.count;
}

void Metrics::count(const RequestFacts& facts) {
  const std::string model = fmt::format("model=\"{}\"", escaped(facts.model));
  const std::string labels =
      fmt::format("{},route=\"{}\",method=\"{}\"", model, escaped(facts.route), facts.is_batch ? "batch" : "single");
  const std::lock_guard lock(mutex_);
  ++counters_["request_total"][with(labels, fmt::format("status=\"{}\"", facts.status))];
  if (facts.failure.empty())
    ++counters_["request_success_total"][labels];
  else
    ++counters_["request_failure_total"][with(labels, fmt::format("reason=\"{}\"", facts.failure))];
  counters_["items_total"][labels] += facts.items;
  counters_["tokens_total"][labels] += facts.tokens;
  counters_["truncated_inputs_total"][model] += facts.cut_inputs;
  counters_["truncated_tokens_total"][model] += facts.cut_tokens;
  add("request_duration_seconds", labels, facts.total_s, seconds_bounds());
  if (has_tei_names_) count_as_tei(facts);
  if (facts.is_inference) count_for_model(facts);
  if (!facts.has_run) return;
  add("tokenization_duration_seconds", labels, facts.tokenization_s, seconds_bounds());
  add("queue_duration_seconds", labels, facts.queue_s, seconds_bounds());
  add("inference_duration_seconds", labels, facts.inference_s, seconds_bounds());
  add("overhead_duration_seconds", labels,
      std::max(0.0, facts.total_s - facts.tokenization_s - facts.queue_s - facts.inference_s), seconds_bounds());
  add("input_tokens", labels, static_cast<double>(facts.tokens), size_bounds());
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
  add("te_request_duration", method, facts.total_s, seconds_bounds());
}

void Metrics::count_batch(const std::string& model, size_t sequences, size_t tokens, double fill, double seconds) {
  const std::string labels = fmt::format("model=\"{}\"", escaped(model));
  const std::lock_guard lock(mutex_);
  ++counters_["batches_total"][labels];
  add("batch_items", labels, static_cast<double>(sequences), size_bounds());
  add("batch_tokens", labels, static_cast<double>(tokens), size_bounds());
  add("batch_fill_ratio", labels, fill, share_bounds());
  add("batch_duration_seconds", labels, seconds, seconds_bounds());
  ModelStatistics& all = statistics_[model];
  ++all.batches;
  all.by_sequences[sequences].add(seconds);
  if (!has_tei_names_) return;
  add("te_batch_next_size", "", static_cast<double>(sequences), size_bounds());
  add("te_batch_next_tokens", "", static_cast<double>(tokens), size_bounds());
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
  for (const auto& [name, kept] : histograms_) {
    out += fmt::format("# TYPE {} histogram\n", whole(name));
    for (const auto& [labels, histogram] : kept.second) {
      uint64_t below = 0;
      for (size_t i = 0; i < kept.first->size(); ++i) {
        below += histogram.counts[i];
        out += line(name + "_bucket", with(labels, fmt::format("le=\"{:.6g}\"", (*kept.first)[i])),
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

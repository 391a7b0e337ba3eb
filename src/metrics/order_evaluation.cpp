// The figures of each query once; a sample is a mean of them.
#include "metrics/order_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "deberta/error.h"

namespace deberta {
namespace {

double dcg(std::span<const double> by_rank, size_t k) {
  double sum = 0;
  for (size_t i = 0; i < std::min(k, by_rank.size()); ++i) sum += by_rank[i] / std::log2(static_cast<double>(i + 2));
  return sum;
}

// "ndcg@10": the number of documents that it looks at.
std::optional<size_t> cutoff_of(std::string_view metric, std::string_view prefix) {
  if (!metric.starts_with(prefix)) return std::nullopt;
  return parse_number<size_t>(metric.substr(prefix.size()));
}

double figure_of(const std::string& metric, std::span<const double> by_rank) {
  if (const auto k = cutoff_of(metric, "ndcg@")) return ndcg(by_rank, *k);
  if (const auto k = cutoff_of(metric, "mrr@")) return reciprocal_rank(by_rank, *k);
  if (metric == "map") return precision_by_rank(by_rank);
  throw Error(ErrorCode::kInternal, "metrics", fmt::format("unknown metric {}", metric));
}

class OrderEvaluation final : public Evaluation {
 public:
  OrderEvaluation(const std::vector<OrderOutcome>& outcomes, std::vector<std::string> metrics)
      : metrics_(std::move(metrics)) {
    for (const OrderOutcome& query : outcomes) {
      std::vector<double>& values = values_.emplace_back();
      const std::vector<double> by_rank = relevance_by_score(query);
      if (std::ranges::none_of(by_rank, [](double relevance) { return relevance > 0; })) continue;
      for (const std::string& metric : metrics_) values.push_back(figure_of(metric, by_rank));
    }
  }

  size_t units() const override { return values_.size(); }

  std::vector<Metric> metrics(std::span<const uint32_t> units) const override {
    std::vector<double> sums(metrics_.size(), 0);
    size_t counted = 0;
    for (const uint32_t unit : units) {
      if (values_[unit].empty()) continue;
      ++counted;
      std::ranges::transform(sums, values_[unit], sums.begin(), std::plus());
    }
    std::vector<Metric> results;
    for (size_t m = 0; m < metrics_.size(); ++m) {
      std::optional<double> mean;
      if (counted > 0) mean = sums[m] / static_cast<double>(counted);
      results.push_back({metrics_[m], mean});
    }
    const size_t without = units.size() - counted;
    if (without > 0 && !results.empty())
      results.front().note =
          fmt::format("{} of {} queries have no relevant document and are not counted", without, units.size());
    return results;
  }

 private:
  std::vector<std::string> metrics_;
  std::vector<std::vector<double>> values_;  // by query, then by metric; empty: no document is relevant
};

}  // namespace

std::vector<double> relevance_by_score(const OrderOutcome& query) {
  std::vector<size_t> order(query.relevance.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) {
    if (query.scores[a] != query.scores[b]) return query.scores[a] > query.scores[b];
    return query.relevance[a] < query.relevance[b];
  });
  std::vector<double> by_rank;
  for (const size_t document : order) by_rank.push_back(query.relevance[document]);
  return by_rank;
}

double ndcg(std::span<const double> by_rank, size_t k) {
  std::vector<double> best(by_rank.begin(), by_rank.end());
  std::ranges::sort(best, std::greater());
  return dcg(by_rank, k) / dcg(best, k);
}

double reciprocal_rank(std::span<const double> by_rank, size_t k) {
  for (size_t i = 0; i < std::min(k, by_rank.size()); ++i) {
    if (by_rank[i] > 0) return 1 / static_cast<double>(i + 1);
  }
  return 0;
}

double precision_by_rank(std::span<const double> by_rank) {
  double sum = 0, relevant = 0;
  for (size_t i = 0; i < by_rank.size(); ++i) {
    if (by_rank[i] <= 0) continue;
    ++relevant;
    sum += relevant / static_cast<double>(i + 1);
  }
  return sum / relevant;
}

std::unique_ptr<Evaluation> make_evaluation(const std::vector<OrderOutcome>& outcomes,
                                            std::vector<std::string> metrics) {
  return std::make_unique<OrderEvaluation>(outcomes, std::move(metrics));
}

}  // namespace deberta

// Walks down the distinct scores of a class once, and keeps the cut that is best by the metric asked for.
#include "metrics/threshold_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "metrics/label_evaluation.h"

namespace deberta {
namespace {

// Rows by falling score: of each row its place among the distinct scores.
struct RankedClass {
  ScoredClass of;
  std::vector<uint32_t> ranks = {};
  std::vector<double> scores = {};  // by rank

  explicit RankedClass(ScoredClass scored) : of(std::move(scored)), ranks(of.scores.size()) {
    std::vector<uint32_t> order(ranks.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, [&](uint32_t a, uint32_t b) { return of.scores[a] > of.scores[b]; });
    for (const uint32_t row : order) {
      if (scores.empty() || of.scores[row] != scores.back()) scores.push_back(of.scores[row]);
      ranks[row] = static_cast<uint32_t>(scores.size() - 1);
    }
  }
};

// What a threshold does.
struct Cut {
  double threshold = 0;
  uint64_t answered = 0;  // rows with at least that score
  uint64_t right = 0;     // those of them that have the class
  uint64_t positives = 0;

  double precision() const { return static_cast<double>(right) / static_cast<double>(answered); }
  double recall() const { return static_cast<double>(right) / static_cast<double>(positives); }
  double f(double beta) const {
    const double square = beta * beta;
    return (1 + square) * static_cast<double>(right) /
           (square * static_cast<double>(positives) + static_cast<double>(answered));
  }
};

// By falling threshold, one for each score that a row of the sample has.
std::vector<Cut> cuts_of(const RankedClass& ranked, std::span<const uint32_t> units) {
  std::vector<std::pair<uint32_t, bool>> rows;
  uint64_t positives = 0;
  for (const uint32_t row : units) {
    rows.emplace_back(ranked.ranks[row], ranked.of.is_positive[row]);
    positives += ranked.of.is_positive[row];
  }
  std::ranges::sort(rows);
  std::vector<Cut> cuts;
  uint64_t right = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    right += rows[i].second;
    const bool is_last_of_score = i + 1 == rows.size() || rows[i + 1].first != rows[i].first;
    if (is_last_of_score) cuts.push_back({ranked.scores[rows[i].first], i + 1, right, positives});
  }
  return cuts;
}

// The first cut with the largest `value` among those that may be taken.
template <typename Value, typename MayTake>
std::optional<Cut> best_of(const std::vector<Cut>& cuts, const Value& value, const MayTake& may_take) {
  std::optional<Cut> best;
  for (const Cut& cut : cuts) {
    if (may_take(cut) && (!best || value(cut) > value(*best))) best = cut;
  }
  return best;
}

class ThresholdEvaluation final : public Evaluation {
 public:
  ThresholdEvaluation(std::unique_ptr<Evaluation> classes, std::vector<ScoredClass> scored, ThresholdRules rules)
      : classes_(std::move(classes)), rules_(std::move(rules)) {
    for (ScoredClass& scored_class : scored) scored_.emplace_back(std::move(scored_class));
  }

  size_t units() const override { return classes_->units(); }

  std::vector<Metric> metrics(std::span<const uint32_t> units) const override {
    std::vector<Metric> results = classes_->metrics(units);
    for (const RankedClass& ranked : scored_) add_class(ranked, cuts_of(ranked, units), results);
    return results;
  }

 private:
  void add_class(const RankedClass& ranked, std::vector<Cut> cuts, std::vector<Metric>& results) const {
    if (!cuts.empty() && cuts.front().positives == 0) cuts.clear();
    const char* none =
        cuts.empty() ? "not defined: no row has the class" : "not defined: no threshold has this precision";
    const auto add = [&](const std::string& point, const std::optional<Cut>& cut, std::optional<double> f = {}) {
      const auto add_metric = [&](const std::string& metric, std::optional<double> value) {
        results.push_back({fmt::format("{}@{}/{}", metric, point, ranked.of.name), value});
      };
      add_metric("threshold", cut ? std::optional(cut->threshold) : std::nullopt);
      if (!cut) results.back().note = none;
      if (point == best_name()) add_metric(f_name(), f);
      add_metric("precision", cut ? std::optional(cut->precision()) : std::nullopt);
      add_metric("recall", cut ? std::optional(cut->recall()) : std::nullopt);
    };
    if (rules_.seeks_best) {
      const auto best = best_of(
          cuts, [&](const Cut& cut) { return cut.f(rules_.beta); }, [](const Cut&) { return true; });
      add(best_name(), best, best ? std::optional(best->f(rules_.beta)) : std::nullopt);
    }
    for (const double least : rules_.precisions) {
      const auto may_take = [&](const Cut& cut) { return cut.precision() >= least; };
      add(fmt::format("precision={}", least), best_of(cuts, std::mem_fn(&Cut::recall), may_take));
    }
    std::ranges::reverse(cuts);  // among equal precisions the one with the higher recall comes first
    for (const double least : rules_.recalls) {
      const auto may_take = [&](const Cut& cut) { return cut.recall() >= least; };
      add(fmt::format("recall={}", least), best_of(cuts, std::mem_fn(&Cut::precision), may_take));
    }
  }

  std::string f_name() const { return with_beta("f_beta", rules_.beta); }
  std::string best_name() const { return "best_" + f_name(); }

  std::unique_ptr<Evaluation> classes_;
  std::vector<RankedClass> scored_;
  ThresholdRules rules_;
};

}  // namespace

double as_shown(float score) {
  return *parse_number<double>(fmt::format("{}", score));
}

std::unique_ptr<Evaluation> with_thresholds(std::unique_ptr<Evaluation> classes, std::vector<ScoredClass> scored,
                                            ThresholdRules rules) {
  return std::make_unique<ThresholdEvaluation>(std::move(classes), std::move(scored), std::move(rules));
}

}  // namespace deberta

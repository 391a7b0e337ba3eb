// Sorts the scores of benign rows and of findings; a threshold is read off where the benign ones reach their share.
#include "metrics/finding_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

namespace deberta {
namespace {

std::optional<double> share(size_t part, size_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

size_t count_from(const std::vector<double>& falling, double threshold) {
  return static_cast<size_t>(std::ranges::upper_bound(falling, threshold, std::greater()) - falling.begin());
}

// Scores of the rows of each kind, highest first.
struct KindScores {
  std::vector<double> benign, findings;

  void sort() {
    std::ranges::sort(benign, std::greater());
    std::ranges::sort(findings, std::greater());
  }

  // The lowest score above that of the first benign row that may not be reported; none: no row scores so high.
  std::optional<double> threshold(size_t most_reported) const {
    const double limit = benign[std::min(most_reported, benign.size() - 1)];
    std::optional<double> lowest;
    for (const std::vector<double>* kind : {&benign, &findings}) {
      const auto above = std::ranges::lower_bound(*kind, limit, std::greater());
      if (above != kind->begin() && (!lowest || *std::prev(above) < *lowest)) lowest = *std::prev(above);
    }
    return lowest;
  }
};

class FindingEvaluation final : public Evaluation {
 public:
  FindingEvaluation(std::unique_ptr<Evaluation> classes, FindingOutcomes outcomes, std::vector<double> rates)
      : classes_(std::move(classes)), outcomes_(std::move(outcomes)), rates_(std::move(rates)) {}

  size_t units() const override { return classes_->units(); }

  std::vector<Metric> metrics(std::span<const uint32_t> units) const override {
    std::vector<Metric> results = classes_->metrics(units);
    KindScores scores;
    size_t false_positives = 0, false_negatives = 0;
    for (const uint32_t row : units) {
      (outcomes_.is_finding[row] ? scores.findings : scores.benign).push_back(outcomes_.scores[row]);
      false_positives += !outcomes_.is_finding[row] && outcomes_.is_reported[row];
      false_negatives += outcomes_.is_finding[row] && !outcomes_.is_reported[row];
    }
    scores.sort();
    add("false_positive_rate", share(false_positives, scores.benign.size()), kNoBenign, results);
    add("false_negative_rate", share(false_negatives, scores.findings.size()), kNoFindings, results);
    for (const double rate : rates_) add_rate(rate, scores, results);
    return results;
  }

 private:
  static constexpr const char* kNoBenign = "not defined: no row is benign";
  static constexpr const char* kNoFindings = "not defined: no row is a finding";

  static void add(std::string name, std::optional<double> value, std::string note, std::vector<Metric>& results) {
    results.push_back({std::move(name), value, value ? std::string() : std::move(note)});
  }

  static void add_rate(double rate, const KindScores& scores, std::vector<Metric>& results) {
    const size_t benign = scores.benign.size();
    const auto name = [&](const char* metric) { return fmt::format("{}@{}", metric, rate); };
    std::optional<double> threshold;
    std::string note = kNoBenign;
    if (benign > 0) {
      threshold = scores.threshold(static_cast<size_t>(std::floor(rate * static_cast<double>(benign) + 1e-9)));
      note = "not defined: no row scores higher than the benign rows that may not be reported";
    }
    add(name("threshold"), threshold, note, results);
    if (threshold && rate * static_cast<double>(benign) < 1)
      results.back().note =
          fmt::format("{} benign rows cannot show a rate of {}: none of them is reported", benign, rate);
    const auto reported = [&](const std::vector<double>& kind) -> std::optional<size_t> {
      if (!threshold) return std::nullopt;
      return count_from(kind, *threshold);
    };
    const auto positives = reported(scores.benign), caught = reported(scores.findings);
    add(name("false_positive_rate"), positives ? share(*positives, benign) : std::nullopt, note, results);
    const size_t findings = scores.findings.size();
    add(name("false_negative_rate"), caught ? share(findings - *caught, findings) : std::nullopt,
        findings == 0 ? kNoFindings : note, results);
  }

  std::unique_ptr<Evaluation> classes_;
  FindingOutcomes outcomes_;
  std::vector<double> rates_;
};

}  // namespace

std::unique_ptr<Evaluation> with_findings(std::unique_ptr<Evaluation> classes, FindingOutcomes outcomes,
                                          std::vector<double> rates) {
  return std::make_unique<FindingEvaluation>(std::move(classes), std::move(outcomes), std::move(rates));
}

}  // namespace deberta

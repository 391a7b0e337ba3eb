// Gathers the rows of a sample and asks class_metrics.h.
#include "metrics/label_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "deberta/error.h"
#include "metrics/class_metrics.h"

namespace deberta {
namespace {

[[noreturn]] void refuse(const std::string& metric) {
  throw Error(ErrorCode::kInternal, "metrics", fmt::format("unknown metric {}", metric));
}

Metric defined_or(const std::string& name, std::optional<double> value, const char* note) {
  return {name, value, value ? "" : note};
}

constexpr const char* kNoRows = "no rows";
constexpr const char* kConstant = "not defined: all values are the same";
constexpr const char* kOneClass = "not defined: all rows and all answers are of one class";

// `rows` must not be empty.
double mean_loss(const std::vector<double>& losses, std::span<const uint32_t> rows) {
  double sum = 0;
  for (const uint32_t row : rows) sum += losses[row];
  return sum / static_cast<double>(rows.size());
}

class ClassEvaluation final : public Evaluation {
 public:
  ClassEvaluation(ClassOutcomes outcomes, std::vector<std::string> metrics, MetricRules rules)
      : outcomes_(std::move(outcomes)), metrics_(std::move(metrics)), rules_(std::move(rules)) {
    for (uint32_t row = 0; row < outcomes_.groups.size(); ++row) {
      const size_t group = outcomes_.groups[row];
      if (group >= members_.size()) members_.resize(group + 1);
      members_[group].push_back(row);
    }
  }

  size_t units() const override { return outcomes_.groups.empty() ? outcomes_.gold.size() : members_.size(); }

  std::vector<Metric> metrics(std::span<const uint32_t> units) const override {
    const std::vector<uint32_t> rows = rows_of(units);
    std::vector<int32_t> gold, predicted;
    for (const uint32_t row : rows) {
      gold.push_back(outcomes_.gold[row]);
      predicted.push_back(outcomes_.predicted[row]);
    }
    std::vector<Metric> results;
    for (const std::string& name : metrics_) {
      if (name == "exact_match")
        results.push_back(defined_or(name, exact_match(units), kNoRows));
      else if (name == "log_loss" && !rows.empty())
        results.push_back({name, mean_loss(outcomes_.losses, rows)});
      else if ((name == "roc_auc" || name == "average_precision") && !rows.empty())
        results.push_back(of_scores(name, rows, gold));
      else
        results.push_back(metric(name, gold, predicted));
    }
    if (outcomes_.genre_names.size() > 1) add_genres(rows, gold, predicted, results);
    return results;
  }

 private:
  std::vector<uint32_t> rows_of(std::span<const uint32_t> units) const {
    if (outcomes_.groups.empty()) return {units.begin(), units.end()};
    std::vector<uint32_t> rows;
    for (const uint32_t group : units) rows.insert(rows.end(), members_[group].begin(), members_[group].end());
    return rows;
  }

  Metric metric(const std::string& name, Classes gold, Classes predicted) const {
    const int32_t positive = rules_.positive;
    if (gold.empty()) return {with_beta(name, rules_.beta), std::nullopt, kNoRows};
    if (name == "accuracy") return {name, accuracy(gold, predicted)};
    if (name == "f1") return {name, f1(gold, predicted, positive)};
    if (name == "f_beta") return {with_beta(name, rules_.beta), f_beta(gold, predicted, rules_.beta, positive)};
    if (name == "f1_macro") return {name, f1_macro(gold, predicted)};
    if (name == "f_beta_macro") return {with_beta(name, rules_.beta), f_beta_macro(gold, predicted, rules_.beta)};
    if (name == "precision")
      return defined_or(name, precision(gold, predicted, positive), "not defined: no answer is the class");
    if (name == "recall")
      return defined_or(name, recall(gold, predicted, positive), "not defined: no row has the class");
    if (name == "matthews_correlation") return {name, matthews_correlation(gold, predicted)};
    if (name == "quadratic_weighted_kappa")
      return defined_or(name, quadratic_weighted_kappa(numbers_of(gold), numbers_of(predicted)), kOneClass);
    if (name == "combined_score") return {name, (*accuracy(gold, predicted) + f1(gold, predicted, positive)) / 2};
    refuse(name);
  }

  Metric of_scores(const std::string& name, std::span<const uint32_t> rows, Classes gold) const {
    std::vector<double> scores;
    for (const uint32_t row : rows) scores.push_back(outcomes_.scores[row]);
    const auto metric = name == "roc_auc" ? roc_auc : average_precision;
    return defined_or(name, metric(gold, scores, rules_.positive), "not defined: all rows have the class, or none has");
  }

  std::vector<double> numbers_of(Classes classes) const {
    std::vector<double> numbers;
    for (const int32_t label : classes) numbers.push_back(rules_.class_numbers[static_cast<size_t>(label)]);
    return numbers;
  }

  // The share of groups whose rows are all correct.
  std::optional<double> exact_match(std::span<const uint32_t> units) const {
    if (units.empty()) return std::nullopt;
    size_t right = 0;
    for (const uint32_t group : units) {
      right += std::all_of(members_[group].begin(), members_[group].end(),
                           [&](uint32_t row) { return outcomes_.gold[row] == outcomes_.predicted[row]; });
    }
    return static_cast<double>(right) / static_cast<double>(units.size());
  }

  void add_genres(std::span<const uint32_t> rows, Classes gold, Classes predicted, std::vector<Metric>& results) const {
    std::vector<std::vector<int32_t>> gold_of(outcomes_.genre_names.size()), predicted_of(outcomes_.genre_names.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const size_t genre = outcomes_.genres[rows[i]];
      gold_of[genre].push_back(gold[i]);
      predicted_of[genre].push_back(predicted[i]);
    }
    for (size_t genre = 0; genre < gold_of.size(); ++genre) {
      results.push_back(defined_or("accuracy/" + outcomes_.genre_names[genre],
                                   accuracy(gold_of[genre], predicted_of[genre]), kNoRows));
    }
  }

  ClassOutcomes outcomes_;
  std::vector<std::string> metrics_;
  MetricRules rules_;
  std::vector<std::vector<uint32_t>> members_;  // rows of each group
};

std::vector<double> rounded(Scores scores) {
  std::vector<double> whole;
  for (const double score : scores) whole.push_back(std::nearbyint(score));
  return whole;
}

class ScoreEvaluation final : public Evaluation {
 public:
  ScoreEvaluation(ScoreOutcomes outcomes, std::vector<std::string> metrics)
      : outcomes_(std::move(outcomes)), metrics_(std::move(metrics)) {}

  size_t units() const override { return outcomes_.gold.size(); }

  std::vector<Metric> metrics(std::span<const uint32_t> units) const override {
    std::vector<double> gold, predicted;
    for (const uint32_t row : units) {
      gold.push_back(outcomes_.gold[row]);
      predicted.push_back(outcomes_.predicted[row]);
    }
    const auto linear = pearson(gold, predicted), by_rank = spearman(gold, predicted);
    std::vector<Metric> results;
    for (const std::string& name : metrics_) {
      if (gold.empty())
        results.push_back({name, std::nullopt, kNoRows});
      else if (name == "pearson")
        results.push_back(defined_or(name, linear, kConstant));
      else if (name == "spearmanr")
        results.push_back(defined_or(name, by_rank, kConstant));
      else if (name == "combined_score")
        results.push_back(
            defined_or(name, linear && by_rank ? std::optional((*linear + *by_rank) / 2) : std::nullopt, kConstant));
      else if (name == "mse")
        results.push_back({name, mean_squared_error(gold, predicted)});
      else if (name == "quadratic_weighted_kappa")
        results.push_back(defined_or(name, quadratic_weighted_kappa(rounded(gold), rounded(predicted)), kConstant));
      else
        refuse(name);
    }
    return results;
  }

 private:
  ScoreOutcomes outcomes_;
  std::vector<std::string> metrics_;
};

// Scores of several targets.
class ScoresEvaluation final : public Evaluation {
 public:
  ScoresEvaluation(std::vector<ScoreOutcomes> outcomes, std::vector<std::string> names,
                   const std::vector<std::string>& metrics)
      : names_(std::move(names)), metrics_(metrics) {
    for (ScoreOutcomes& outcome : outcomes) targets_.emplace_back(std::move(outcome), metrics);
  }

  size_t units() const override { return targets_.front().units(); }

  std::vector<Metric> metrics(std::span<const uint32_t> units) const override {
    std::vector<Metric> results, of_targets;
    for (size_t t = 0; t < targets_.size(); ++t) {
      for (Metric& metric : targets_[t].metrics(units)) {
        metric.name += "_" + names_[t];
        of_targets.push_back(std::move(metric));
      }
    }
    for (size_t m = 0; m < metrics_.size(); ++m) results.push_back(mean_of(m, of_targets));
    results.insert(results.end(), of_targets.begin(), of_targets.end());
    return results;
  }

 private:
  // The mean of that metric over the targets; undefined where one of them is.
  Metric mean_of(size_t number, const std::vector<Metric>& of_targets) const {
    double sum = 0;
    for (size_t i = number; i < of_targets.size(); i += metrics_.size()) {
      if (!of_targets[i].value) return {metrics_[number], std::nullopt, of_targets[i].note};
      sum += *of_targets[i].value;
    }
    return {metrics_[number], sum / static_cast<double>(targets_.size())};
  }

  std::vector<ScoreEvaluation> targets_;
  std::vector<std::string> names_, metrics_;
};

class ClassSetEvaluation final : public Evaluation {
 public:
  ClassSetEvaluation(ClassSetOutcomes outcomes, std::vector<std::string> metrics, MetricRules rules)
      : outcomes_(std::move(outcomes)), metrics_(std::move(metrics)), beta_(rules.beta) {
    for (const auto* sets : {&outcomes_.gold, &outcomes_.predicted}) {
      for (const auto& set : *sets) {
        for (const uint32_t label : set) classes_ = std::max(classes_, size_t{label} + 1);
      }
    }
  }

  size_t units() const override { return outcomes_.gold.size(); }

  std::vector<Metric> metrics(std::span<const uint32_t> units) const override {
    std::vector<Counts> counts(classes_);
    uint64_t equal = 0;
    for (const uint32_t row : units) {
      add(outcomes_.gold[row], outcomes_.predicted[row], counts);
      equal += outcomes_.gold[row] == outcomes_.predicted[row];
    }
    std::vector<Metric> results;
    for (const std::string& metric : metrics_) {
      const std::string name = with_beta(metric, beta_);
      const double beta = name == metric ? 1 : beta_;
      if (units.empty())
        results.push_back({name, std::nullopt, kNoRows});
      else if (metric == "accuracy")
        results.push_back({name, static_cast<double>(equal) / static_cast<double>(units.size())});
      else if (metric == "f1_micro" || metric == "f_beta_micro")
        results.push_back({name, micro(counts, beta)});
      else if (metric == "f1_macro" || metric == "f_beta_macro")
        results.push_back(defined_or(name, macro(counts, beta), "not defined: no class occurs"));
      else if (metric == "log_loss")
        results.push_back({name, mean_loss(outcomes_.losses, units)});
      else
        refuse(metric);
    }
    return results;
  }

 private:
  struct Counts {
    uint64_t both = 0;
    uint64_t gold = 0;
    uint64_t predicted = 0;
  };

  static void add(const std::vector<uint32_t>& gold, const std::vector<uint32_t>& predicted,
                  std::vector<Counts>& counts) {
    for (const uint32_t label : gold) ++counts[label].gold;
    for (const uint32_t label : predicted) ++counts[label].predicted;
    std::vector<uint32_t> both;
    std::set_intersection(gold.begin(), gold.end(), predicted.begin(), predicted.end(), std::back_inserter(both));
    for (const uint32_t label : both) ++counts[label].both;
  }
  static double f_of(const Counts& counts, double beta) {
    const double whole = beta * beta * static_cast<double>(counts.gold) + static_cast<double>(counts.predicted);
    return whole == 0 ? 0 : (1 + beta * beta) * static_cast<double>(counts.both) / whole;
  }
  static double micro(const std::vector<Counts>& counts, double beta) {
    Counts sum;
    for (const Counts& count : counts)
      sum = {sum.both + count.both, sum.gold + count.gold, sum.predicted + count.predicted};
    return f_of(sum, beta);
  }
  static std::optional<double> macro(const std::vector<Counts>& counts, double beta) {
    double sum = 0;
    size_t classes = 0;
    for (const Counts& count : counts) {
      if (count.gold + count.predicted == 0) continue;
      sum += f_of(count, beta);
      ++classes;
    }
    return classes == 0 ? std::nullopt : std::optional(sum / static_cast<double>(classes));
  }

  ClassSetOutcomes outcomes_;
  std::vector<std::string> metrics_;
  double beta_;
  size_t classes_ = 0;
};

}  // namespace

std::string with_beta(const std::string& metric, double beta) {
  constexpr std::string_view kName = "f_beta";
  return metric.starts_with(kName) ? fmt::format("f{}{}", beta, metric.substr(kName.size())) : metric;
}

std::unique_ptr<Evaluation> make_evaluation(ClassOutcomes outcomes, std::vector<std::string> metrics,
                                            MetricRules rules) {
  return std::make_unique<ClassEvaluation>(std::move(outcomes), std::move(metrics), std::move(rules));
}
std::unique_ptr<Evaluation> make_evaluation(ScoreOutcomes outcomes, std::vector<std::string> metrics) {
  return std::make_unique<ScoreEvaluation>(std::move(outcomes), std::move(metrics));
}
std::unique_ptr<Evaluation> make_evaluation(std::vector<ScoreOutcomes> outcomes, std::vector<std::string> names,
                                            const std::vector<std::string>& metrics) {
  return std::make_unique<ScoresEvaluation>(std::move(outcomes), std::move(names), metrics);
}
std::unique_ptr<Evaluation> make_evaluation(ClassSetOutcomes outcomes, std::vector<std::string> metrics,
                                            MetricRules rules) {
  return std::make_unique<ClassSetEvaluation>(std::move(outcomes), std::move(metrics), std::move(rules));
}

}  // namespace deberta

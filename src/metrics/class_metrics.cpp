// Counts in integers, sums in double.
#include "metrics/class_metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace deberta {
namespace {

double to_double(uint64_t count) {
  return static_cast<double>(count);
}

struct ClassCounts {
  uint64_t gold = 0;
  uint64_t predicted = 0;
  uint64_t both = 0;
};
// By class, including those that never occur.
std::vector<ClassCounts> count(Classes gold, Classes predicted) {
  std::vector<ClassCounts> counts;
  const auto of = [&](int32_t label) -> ClassCounts& {
    const auto index = static_cast<size_t>(label);
    if (index >= counts.size()) counts.resize(index + 1);
    return counts[index];
  };
  for (size_t i = 0; i < gold.size(); ++i) {
    ++of(gold[i]).gold;
    ++of(predicted[i]).predicted;
    if (gold[i] == predicted[i]) ++of(gold[i]).both;
  }
  return counts;
}

double f_beta_of(const ClassCounts& counts, double beta) {
  const double square = beta * beta;
  const double whole = square * to_double(counts.gold) + to_double(counts.predicted);
  return whole == 0 ? 0 : (1 + square) * to_double(counts.both) / whole;
}

ClassCounts count_of(int32_t label, Classes gold, Classes predicted) {
  ClassCounts counts;
  for (size_t i = 0; i < gold.size(); ++i) {
    counts.gold += gold[i] == label;
    counts.predicted += predicted[i] == label;
    counts.both += gold[i] == label && predicted[i] == label;
  }
  return counts;
}

std::optional<double> share_if_any(uint64_t part, uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return to_double(part) / to_double(whole);
}

bool is_constant(Scores values) {
  return std::all_of(values.begin(), values.end(), [&](double x) { return x == values.front(); });
}

double mean_of(Scores values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / to_double(values.size());
}

std::vector<double> centred(Scores values) {
  const double mean = mean_of(values);
  std::vector<double> result;
  for (const double x : values) result.push_back(x - mean);
  return result;
}

double dot(Scores a, Scores b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

std::optional<double> accuracy(Classes gold, Classes predicted) {
  if (gold.empty()) return std::nullopt;
  uint64_t right = 0;
  for (size_t i = 0; i < gold.size(); ++i) right += gold[i] == predicted[i];
  return to_double(right) / to_double(gold.size());
}

double f_beta(Classes gold, Classes predicted, double beta, int32_t positive) {
  return f_beta_of(count_of(positive, gold, predicted), beta);
}

double f1(Classes gold, Classes predicted, int32_t positive) {
  return f_beta(gold, predicted, 1, positive);
}

std::optional<double> f_beta_macro(Classes gold, Classes predicted, double beta) {
  if (gold.empty()) return std::nullopt;
  double sum = 0;
  uint64_t classes = 0;
  for (const ClassCounts& counts : count(gold, predicted)) {
    if (counts.gold + counts.predicted == 0) continue;
    sum += f_beta_of(counts, beta);
    ++classes;
  }
  return sum / to_double(classes);
}

std::optional<double> f1_macro(Classes gold, Classes predicted) {
  return f_beta_macro(gold, predicted, 1);
}

std::optional<double> precision(Classes gold, Classes predicted, int32_t positive) {
  const ClassCounts counts = count_of(positive, gold, predicted);
  return share_if_any(counts.both, counts.predicted);
}

std::optional<double> recall(Classes gold, Classes predicted, int32_t positive) {
  const ClassCounts counts = count_of(positive, gold, predicted);
  return share_if_any(counts.both, counts.gold);
}

std::optional<double> matthews_correlation(Classes gold, Classes predicted) {
  if (gold.empty()) return std::nullopt;
  const double all = to_double(gold.size());
  double both = 0, mixed = 0, gold_squares = 0, predicted_squares = 0;
  for (const ClassCounts& counts : count(gold, predicted)) {
    both += to_double(counts.both);
    mixed += to_double(counts.gold) * to_double(counts.predicted);
    gold_squares += to_double(counts.gold) * to_double(counts.gold);
    predicted_squares += to_double(counts.predicted) * to_double(counts.predicted);
  }
  const double product = (all * all - gold_squares) * (all * all - predicted_squares);
  return product == 0 ? 0 : (both * all - mixed) / std::sqrt(product);
}

std::optional<double> quadratic_weighted_kappa(Scores gold, Scores predicted) {
  if (gold.empty()) return std::nullopt;
  if (is_constant(gold) && is_constant(predicted) && gold.front() == predicted.front()) return std::nullopt;
  const std::vector<double> x = centred(gold), y = centred(predicted);
  const double between = mean_of(gold) - mean_of(predicted);
  const double by_chance = dot(x, x) + dot(y, y) + to_double(gold.size()) * between * between;
  return 2 * dot(x, y) / by_chance;  // what chance gives less what is observed, without rounding either
}

std::optional<double> mean_squared_error(Scores gold, Scores predicted) {
  if (gold.empty()) return std::nullopt;
  double sum = 0;
  for (size_t i = 0; i < gold.size(); ++i) sum += (gold[i] - predicted[i]) * (gold[i] - predicted[i]);
  return sum / to_double(gold.size());
}

std::optional<double> pearson(Scores gold, Scores predicted) {
  if (gold.size() < 2 || is_constant(gold) || is_constant(predicted)) return std::nullopt;
  const std::vector<double> x = centred(gold), y = centred(predicted);
  const double length = std::sqrt(dot(x, x)) * std::sqrt(dot(y, y));
  if (length == 0) return std::nullopt;  // so close to constant that the squares vanish
  return std::clamp(dot(x, y) / length, -1.0, 1.0);
}

std::vector<double> ranks(Scores values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) result[order[i]] = to_double(begin + end + 1) / 2;
    begin = end;
  }
  return result;
}

std::optional<double> roc_auc(Classes gold, Scores scores, int32_t positive) {
  const std::vector<double> ranked = ranks(scores);
  double sum = 0, positives = 0;
  for (size_t i = 0; i < gold.size(); ++i) {
    if (gold[i] != positive) continue;
    sum += ranked[i];
    ++positives;
  }
  const double pairs = positives * (to_double(gold.size()) - positives);
  if (pairs == 0) return std::nullopt;
  return (sum - positives * (positives + 1) / 2) / pairs;
}

std::optional<double> average_precision(Classes gold, Scores scores, int32_t positive) {
  std::vector<std::pair<double, bool>> rows;
  for (size_t i = 0; i < gold.size(); ++i) rows.emplace_back(-scores[i], gold[i] == positive);
  std::sort(rows.begin(), rows.end());
  uint64_t right = 0, right_before = 0;  // before this score
  double sum = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    right += rows[i].second;
    if (i + 1 < rows.size() && rows[i + 1].first == rows[i].first) continue;
    sum += to_double(right - right_before) * to_double(right) / to_double(i + 1);
    right_before = right;
  }
  if (right == 0 || right == gold.size()) return std::nullopt;
  return sum / to_double(right);
}

std::optional<double> spearman(Scores gold, Scores predicted) {
  return pearson(ranks(gold), ranks(predicted));
}

}  // namespace deberta

// Metrics of classes and of scores: accuracy, F, Matthews, kappa, Pearson and Spearman correlations. Pure functions of
// two spans of equal length; those with std::optional return nothing where the definition divides by zero.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace deberta {

using Classes = std::span<const int32_t>;  // at least 0
using Scores = std::span<const double>;

std::optional<double> accuracy(Classes gold, Classes predicted);

// 2 tp / (2 tp + fp + fn) of one class; 0 where it never occurs.
double f1(Classes gold, Classes predicted, int32_t positive = 1);
// (1 + beta^2) tp / ((1 + beta^2) tp + beta^2 fn + fp) of one class; 0 where it never occurs.
double f_beta(Classes gold, Classes predicted, double beta, int32_t positive = 1);
// The mean over the classes that occur in either.
std::optional<double> f_beta_macro(Classes gold, Classes predicted, double beta);
std::optional<double> f1_macro(Classes gold, Classes predicted);

// tp / (tp + fp) and tp / (tp + fn) of one class.
std::optional<double> precision(Classes gold, Classes predicted, int32_t positive);
std::optional<double> recall(Classes gold, Classes predicted, int32_t positive);

// For any number of classes (Gorodkin 2004); 0 if all answers, or all labels, are one class.
std::optional<double> matthews_correlation(Classes gold, Classes predicted);

// How well scores tell one class from the others: the share of pairs of a row that has it and one that has not in which
// the first scores higher, equal scores half; and the mean over recalls of the precision, by steps at each distinct
// score. Nothing where all rows have the class, or none has.
std::optional<double> roc_auc(Classes gold, Scores scores, int32_t positive);
std::optional<double> average_precision(Classes gold, Scores scores, int32_t positive);

// 1 less the mean squared difference, as a share of what it would be if each value met every one of the others (Cohen
// 1968, weights (i - j)^2).
std::optional<double> quadratic_weighted_kappa(Scores gold, Scores predicted);

std::optional<double> mean_squared_error(Scores gold, Scores predicted);
std::optional<double> pearson(Scores gold, Scores predicted);
// Pearson correlation of the ranks; equal values share the mean of their ranks.
std::optional<double> spearman(Scores gold, Scores predicted);
std::vector<double> ranks(Scores values);  // from 1

}  // namespace deberta

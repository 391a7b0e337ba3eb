// Metrics of classes and of scores: accuracy, F1, Matthews, Pearson and Spearman correlations. Pure functions of two
// spans of equal length; those with std::optional return nothing where the definition divides by zero.
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
// The mean over the classes that occur in either.
std::optional<double> f1_macro(Classes gold, Classes predicted);

// For any number of classes (Gorodkin 2004); 0 if all answers, or all labels, are one class.
std::optional<double> matthews_correlation(Classes gold, Classes predicted);

std::optional<double> mean_squared_error(Scores gold, Scores predicted);
std::optional<double> pearson(Scores gold, Scores predicted);
// Pearson correlation of the ranks; equal values share the mean of their ranks.
std::optional<double> spearman(Scores gold, Scores predicted);
std::vector<double> ranks(Scores values);  // from 1

}  // namespace deberta

// Sums in double.
#include "decode/pooling.h"

#include <algorithm>
#include <cmath>

namespace deberta {

std::string_view to_string(Pooling pooling) {
  switch (pooling) {
    case Pooling::kCls:
      return "cls";
    case Pooling::kMean:
      return "mean";
    case Pooling::kMax:
      return "max";
    case Pooling::kMeanSqrt:
      return "mean-sqrt";
    case Pooling::kWeightedMean:
      return "weighted mean";
    case Pooling::kLast:
      return "last token";
  }
  return {};
}

namespace {

std::vector<float> row_of(std::span<const float> rows_LD, size_t columns, size_t row) {
  const std::span<const float> row_D = rows_LD.subspan(row * columns, columns);
  return {row_D.begin(), row_D.end()};
}

std::vector<float> weighted_mean(std::span<const float> rows_LD, size_t columns) {
  const size_t rows = rows_LD.size() / columns;
  const double weights = static_cast<double>(rows) * static_cast<double>(rows + 1) / 2;
  std::vector<float> result(columns);
  for (size_t d = 0; d < columns; ++d) {
    double sum = 0;
    for (size_t l = 0; l < rows; ++l) sum += static_cast<double>(l + 1) * rows_LD[l * columns + d];
    result[d] = static_cast<float>(sum / weights);
  }
  return result;
}

}  // namespace

std::vector<float> pool(std::span<const float> rows_LD, size_t columns, Pooling pooling) {
  const size_t rows = rows_LD.size() / columns;
  if (pooling == Pooling::kLast) return row_of(rows_LD, columns, rows - 1);
  if (pooling == Pooling::kWeightedMean) return weighted_mean(rows_LD, columns);
  std::vector<float> result = row_of(rows_LD, columns, 0);
  if (pooling == Pooling::kCls) return result;
  for (size_t d = 0; d < columns; ++d) {
    double sum = 0;
    for (size_t l = 0; l < rows; ++l) {
      sum += rows_LD[l * columns + d];
      result[d] = std::max(result[d], rows_LD[l * columns + d]);
    }
    if (pooling == Pooling::kMean) result[d] = static_cast<float>(sum / static_cast<double>(rows));
    if (pooling == Pooling::kMeanSqrt) result[d] = static_cast<float>(sum / std::sqrt(static_cast<double>(rows)));
  }
  return result;
}

void normalize(std::span<float> vector) {
  double squares = 0;
  for (const float x : vector) squares += double{x} * x;
  if (squares == 0) return;
  const double inverse = 1 / std::sqrt(squares);
  for (float& x : vector) x = static_cast<float>(x * inverse);
}

float cosine(std::span<const float> a, std::span<const float> b) {
  double product = 0, squares_a = 0, squares_b = 0;
  for (size_t d = 0; d < a.size(); ++d) {
    product += double{a[d]} * b[d];
    squares_a += double{a[d]} * a[d];
    squares_b += double{b[d]} * b[d];
  }
  if (squares_a == 0 || squares_b == 0) return 0;
  return static_cast<float>(std::clamp(product / std::sqrt(squares_a * squares_b), -1.0, 1.0));
}

}  // namespace deberta

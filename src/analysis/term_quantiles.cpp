// Sorted scores of each head, and five places among them.
#include <algorithm>
#include <cmath>

#include "deberta/analysis.h"

namespace deberta {
namespace {

// Between the two nearest values, as numpy.quantile does.
double quantile(const std::vector<float>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(std::floor(place));
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(double{sorted[below]}, double{sorted[above]}, place - std::floor(place));
}

std::optional<Quantiles> quantiles_of(const std::vector<float>& term_HLL, size_t head, size_t count) {
  if (term_HLL.empty() || count == 0) return std::nullopt;
  const auto begin = term_HLL.begin() + static_cast<std::ptrdiff_t>(head * count);
  std::vector<float> sorted(begin, begin + static_cast<std::ptrdiff_t>(count));
  std::sort(sorted.begin(), sorted.end());
  return Quantiles{quantile(sorted, 0), quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75),
                   quantile(sorted, 1)};
}

}  // namespace

std::vector<HeadQuantiles> term_quantiles(const AttentionTerms& terms) {
  const size_t count = terms.tokens * terms.tokens;
  std::vector<HeadQuantiles> all;
  for (const LayerTerms& layer : terms.layers) {
    for (size_t head = 0; head < terms.heads; ++head)
      all.push_back({layer.layer, head, quantiles_of(layer.c2c_HLL, head, count).value_or(Quantiles()),
                     quantiles_of(layer.c2p_HLL, head, count), quantiles_of(layer.p2c_HLL, head, count),
                     quantiles_of(layer.sum_HLL, head, count).value_or(Quantiles())});
  }
  return all;
}

}  // namespace deberta

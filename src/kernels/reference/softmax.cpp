// Rows of logits: cross-entropy with its gradient, and sampling; plain sums in double.
#include <algorithm>
#include <cmath>

#include "kernels/cross_entropy.h"
#include "kernels/reference/reference.h"
#include "kernels/sample_ids.h"

namespace deberta {
namespace {

struct Softmax {
  const float* x_V;
  double largest;
  double sum = 0;

  Softmax(const float* x, size_t classes) : x_V(x), largest(double{*std::max_element(x, x + classes)}) {
    for (size_t v = 0; v < classes; ++v) sum += exponential(v);
  }
  double exponential(size_t v) const { return std::exp(double{x_V[v]} - largest); }
};

}  // namespace

void reference_cross_entropy(const CrossEntropyParams& p, size_t row) {
  const size_t offset = row * (p.stride > 0 ? p.stride : p.classes);
  const float* x_V = p.logits_RV + offset;
  const auto label = static_cast<size_t>(p.labels_R[row]);
  const Softmax softmax(x_V, p.classes);
  p.loss_R[row] = std::log(softmax.sum) + softmax.largest - double{x_V[label]};
  if (p.is_correct_R != nullptr) {
    const bool is_first = std::max_element(x_V, x_V + p.classes) == x_V + label;
    p.is_correct_R[row] = is_first && !std::isnan(softmax.sum) ? 1 : 0;
  }
  if (p.gradient_RV == nullptr) return;
  for (size_t v = 0; v < p.classes; ++v) {  // may be the logits
    const double probability = softmax.exponential(v) / softmax.sum;
    p.gradient_RV[offset + v] = static_cast<float>(double{p.scale} * (probability - (v == label ? 1 : 0)));
  }
}

int32_t reference_sample_id(const SampleIdsParams& p, size_t row) {
  const Softmax softmax(p.logits_RV + row * (p.stride > 0 ? p.stride : p.classes), p.classes);
  if (!std::isfinite(softmax.sum)) return -1;
  const double target = sample_uniform(p.key, p.samples_R[row], p.positions_R[row]) * softmax.sum;
  double sum = 0;
  size_t last = 0;
  for (size_t v = 0; v < p.classes; ++v) {
    sum += softmax.exponential(v);
    if (sum > target) return static_cast<int32_t>(v);
    if (softmax.exponential(v) > 0) last = v;
  }
  return static_cast<int32_t>(last);
}

}  // namespace deberta

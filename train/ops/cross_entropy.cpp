#include "train/ops/cross_entropy.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "train/ops/linear.h"

namespace deberta::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Gradients {
  at::Tensor h_PE, table_VE, bias_V;
};

// Logits of a chunk become their gradient, softmax - 1[label].
at::Tensor to_gradient(const at::Tensor& logits_NV, const at::Tensor& log_sums_N, const at::Tensor& labels_N) {
  at::Tensor g_NV = (logits_NV - log_sums_N).exp_();
  g_NV.scatter_add_(1, labels_N, at::full({1, 1}, -1, g_NV.options()).expand(labels_N.sizes()));
  return g_NV;
}

class TiedCrossEntropy : public torch::autograd::Function<TiedCrossEntropy> {
 public:
  // Gives (sum, rows that are right).
  static variable_list forward(AutogradContext* context, const Compute* compute, const at::Tensor& h_PE,
                               const at::Tensor& table_VE, const at::Tensor& bias_V, const at::Tensor& labels_P,
                               int64_t chunk_rows, bool wants_gradients) {
    Gradients gradients;
    if (wants_gradients) gradients = {at::empty_like(h_PE), at::zeros_like(table_VE), at::zeros_like(bias_V)};
    at::Tensor sum = at::full({}, 0, h_PE.options().dtype(at::kDouble).requires_grad(false));
    at::Tensor correct = at::full({}, 0, labels_P.options());
    for (int64_t first = 0; first < h_PE.size(0); first += chunk_rows) {
      const int64_t count = std::min(chunk_rows, h_PE.size(0) - first);
      const at::Tensor h_NE = h_PE.narrow(0, first, count), labels_N1 = labels_P.narrow(0, first, count).unsqueeze(1);
      const at::Tensor logits_NV = linear(*compute, h_NE, table_VE, bias_V);
      const at::Tensor log_sums_N1 = logits_NV.logsumexp(1, true);
      sum += (log_sums_N1 - logits_NV.gather(1, labels_N1)).sum(at::kDouble);
      correct += logits_NV.argmax(1, true).eq(labels_N1).sum();
      if (!wants_gradients) continue;
      const at::Tensor g_NV = to_gradient(logits_NV, log_sums_N1, labels_N1);
      gradients.h_PE.narrow(0, first, count).copy_(g_NV.matmul(table_VE));
      gradients.table_VE.addmm_(g_NV.t(), h_NE);
      gradients.bias_V += g_NV.sum(0);
    }
    context->save_for_backward({gradients.h_PE, gradients.table_VE, gradients.bias_V});
    context->mark_non_differentiable({correct});
    return {sum, correct};
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const variable_list saved = context->get_saved_variables();
    const auto scaled = [&](size_t n) { return saved[n] * outputs[0].to(saved[n].scalar_type()); };
    const at::Tensor none;
    return {none, scaled(0), scaled(1), scaled(2), none, none, none};
  }
};

}  // namespace

CrossEntropy cross_entropy(const Compute& compute, const at::Tensor& h_PE, const TiedOutput& output,
                           const at::Tensor& labels_P, int64_t chunk_rows) {
  const bool wants_gradients = at::GradMode::is_enabled() && (h_PE.requires_grad() || output.table_VE.requires_grad() ||
                                                              output.bias_V.requires_grad());
  const variable_list results =
      TiedCrossEntropy::apply(&compute, h_PE, output.table_VE, output.bias_V, labels_P, chunk_rows, wants_gradients);
  return {results[0], results[1].item<int64_t>()};
}

}  // namespace deberta::train

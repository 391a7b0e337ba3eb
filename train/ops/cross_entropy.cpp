// Multiplies a chunk by the packed table, takes loss and gradient from it, and adds both up before the next.
#include "train/ops/cross_entropy.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/cross_entropy.h"
#include "kernels/gemm.h"
#include "kernels/linear_gradient.h"
#include "kernels/sample_ids.h"
#include "train/ops/kernel_call.h"
#include "train/ops/linear.h"
#include "train/ops/linear_call.h"
#include "train/ops/packed_store.h"

namespace deberta::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Sums {
  double loss = 0;
  int64_t correct = 0;
};

// Where gradients are added; undefined: not wanted.
struct Gradients {
  at::Tensor h_PE, table_VE, bias_V;
};

struct Chunk {
  at::Tensor h_NE, labels_N;  // h an operand where kernels run
  at::Tensor dh_NE;
  size_t first = 0;  // first of its rows
};

// Where drawn words go; without a draw nowhere.
struct Drawing {
  const WordDraw* draw = nullptr;
  std::vector<int32_t>* ids_P = nullptr;
};

void draw_words(const Compute& compute, const Drawing& drawing, const Chunk& chunk, const at::Tensor& logits_NV) {
  if (drawing.draw == nullptr) return;
  const at::Tensor logits = logits_NV.to(at::kCPU, at::kFloat).contiguous();
  SampleIdsParams p{};
  p.logits_RV = logits.const_data_ptr<float>();
  p.rows = rows_of(logits);
  p.classes = columns_of(logits);
  p.key = drawing.draw->key;
  p.samples_R = drawing.draw->samples_P.data() + chunk.first;
  p.positions_R = drawing.draw->positions_P.data() + chunk.first;
  p.ids_R = drawing.ids_P->data() + chunk.first;
  p.parallel = compute.parallel;
  sample_ids(compute.kernels, p);
}

Sums compose_chunk(const Compute& compute, const TiedOutput& output, const Chunk& chunk, const Gradients& gradients,
                   const Drawing& drawing) {
  const at::Tensor labels_N1 = chunk.labels_N.to(at::kLong).unsqueeze(1);
  const at::Tensor logits_NV = linear(compute, chunk.h_NE, output.table_VE, output.bias_V);
  draw_words(compute, drawing, chunk, logits_NV);
  const at::Tensor log_sums_N1 = logits_NV.logsumexp(1, true);
  const Sums sums{(log_sums_N1 - logits_NV.gather(1, labels_N1)).sum(at::kDouble).item<double>(),
                  logits_NV.argmax(1, true).eq(labels_N1).sum().item<int64_t>()};
  if (!chunk.dh_NE.defined()) return sums;
  at::Tensor g_NV = (logits_NV - log_sums_N1).exp_();  // softmax - 1[label]
  g_NV.scatter_add_(1, labels_N1, at::full({1, 1}, -1, g_NV.options()).expand(labels_N1.sizes()));
  chunk.dh_NE.copy_(g_NV.matmul(output.table_VE));
  gradients.table_VE.addmm_(g_NV.t(), chunk.h_NE);
  gradients.bias_V.add_(g_NV.sum(0));
  return sums;
}

// The table, packed once for all chunks.
struct PackedTable {
  PackedTensor forward, backward;  // the second where gradients are wanted
};

void add_gradients(const Compute& compute, const TiedOutput& output, const PackedTable& table, const Chunk& chunk,
                   const at::Tensor& g_NV, const Gradients& gradients) {
  LinearGradientParams p{};
  set_operand(compute, chunk.h_NE, p);
  p.dy_TN = g_NV.const_data_ptr<float>();
  p.packed_w = &table.backward.weights;
  p.rows = rows_of(chunk.h_NE);
  p.outputs = rows_of(output.table_VE);
  p.inputs = columns_of(output.table_VE);
  p.dx_TK = chunk.dh_NE.mutable_data_ptr<float>();
  p.dw_NK = gradients.table_VE.mutable_data_ptr<float>();
  p.db_N = gradients.bias_V.mutable_data_ptr<float>();
  p.adds_weights = true;
  p.parallel = compute.parallel;
  const at::Tensor scratch = new_scratch(linear_gradient_scratch_bytes(compute.kernels, p));
  p.scratch = scratch.mutable_data_ptr();
  linear_gradient(compute.kernels, p);
}

Sums run_chunk(const Compute& compute, const TiedOutput& output, const PackedTable& table, const Chunk& chunk,
               const Gradients& gradients, const Drawing& drawing) {
  const size_t rows = rows_of(chunk.h_NE);
  const at::Tensor logits_NV = new_floats({chunk.h_NE.size(0), output.table_VE.size(0)});
  GemmParams product{};
  product.a_MK = chunk.h_NE.const_data_ptr();
  product.a_stride = columns_of(chunk.h_NE);
  product.rows = rows;
  product.weights = table.forward.weights;
  product.bias_N = output.bias_V.const_data_ptr<float>();
  product.c_MN = logits_NV.mutable_data_ptr<float>();
  product.parallel = compute.parallel;
  gemm(compute.kernels, product);
  draw_words(compute, drawing, chunk, logits_NV);
  std::vector<double> losses(rows);
  std::vector<uint8_t> is_correct(rows);
  CrossEntropyParams p{};
  p.logits_RV = logits_NV.const_data_ptr<float>();
  p.rows = rows;
  p.classes = rows_of(output.table_VE);
  p.labels_R = chunk.labels_N.const_data_ptr<int32_t>();
  p.loss_R = losses.data();
  p.is_correct_R = is_correct.data();
  p.gradient_RV = chunk.dh_NE.defined() ? logits_NV.mutable_data_ptr<float>() : nullptr;
  p.parallel = compute.parallel;
  deberta::cross_entropy(compute.kernels, p);
  if (chunk.dh_NE.defined()) add_gradients(compute, output, table, chunk, logits_NV, gradients);
  return {std::accumulate(losses.begin(), losses.end(), 0.0),
          std::accumulate(is_correct.begin(), is_correct.end(), int64_t{0})};
}

class TiedCrossEntropy : public torch::autograd::Function<TiedCrossEntropy> {
 public:
  static at::Tensor forward(AutogradContext* context, const Compute* compute, const at::Tensor& h,
                            const at::Tensor& table, const at::Tensor& bias, const at::Tensor& labels_P,
                            int64_t chunk_rows, bool wants_gradients, const Drawing* drawing, int64_t* correct) {
    const at::Tensor h_PE = h.contiguous();
    const TiedOutput output{table.contiguous(), bias.contiguous()};
    const bool has_kernels = runs_kernels(*compute, h_PE);
    PackedTable packed;
    if (has_kernels) packed.forward = packed_weight(*compute, output.table_VE, Direction::kForward);
    if (has_kernels && wants_gradients)
      packed.backward = packed_weight(*compute, output.table_VE, Direction::kBackward);
    Gradients gradients;
    if (wants_gradients) {
      gradients = {at::zeros_like(h_PE), at::zeros_like(output.table_VE), at::zeros_like(output.bias_V)};
    }
    Sums sums;
    for (int64_t first = 0; first < h_PE.size(0); first += chunk_rows) {
      const int64_t count = std::min(chunk_rows, h_PE.size(0) - first);
      const at::Tensor h_NE = h_PE.narrow(0, first, count);
      Chunk chunk{has_kernels ? to_operand(*compute, h_NE) : h_NE,
                  labels_P.narrow(0, first, count),
                  {},
                  static_cast<size_t>(first)};
      if (wants_gradients) chunk.dh_NE = gradients.h_PE.narrow(0, first, count);
      const Sums of_chunk = has_kernels ? run_chunk(*compute, output, packed, chunk, gradients, *drawing)
                                        : compose_chunk(*compute, output, chunk, gradients, *drawing);
      sums.loss += of_chunk.loss;
      sums.correct += of_chunk.correct;
    }
    *correct = sums.correct;
    context->save_for_backward({gradients.h_PE, gradients.table_VE, gradients.bias_V});
    return at::full({}, sums.loss, h_PE.options().dtype(at::kDouble).requires_grad(false));
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const variable_list saved = context->get_saved_variables();
    const double factor = outputs[0].item<double>();
    const auto scaled = [&](size_t n) { return factor == 1 ? saved[n] : saved[n] * factor; };
    const at::Tensor none;
    return {none, scaled(0), scaled(1), scaled(2), none, none, none, none, none};
  }
};

}  // namespace

CrossEntropy cross_entropy(const Compute& compute, const at::Tensor& h_PE, const TiedOutput& output,
                           const at::Tensor& labels_P, int64_t chunk_rows, const WordDraw* draw) {
  const bool wants_gradients = at::GradMode::is_enabled() && (h_PE.requires_grad() || output.table_VE.requires_grad() ||
                                                              output.bias_V.requires_grad());
  CrossEntropy result;
  if (draw != nullptr) result.drawn_P.resize(rows_of(h_PE));
  const Drawing drawing{draw, &result.drawn_P};
  result.sum = TiedCrossEntropy::apply(&compute, h_PE, output.table_VE, output.bias_V, labels_P, chunk_rows,
                                       wants_gradients, &drawing, &result.correct);
  return result;
}

}  // namespace deberta::train

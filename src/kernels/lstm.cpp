// Plain loops: the products around a step take the time.
#include "kernels/lstm.h"

#include <cmath>

#include "kernels/row_blocks.h"

namespace deberta {
namespace {

float sigmoid(float x) {
  return 1 / (1 + std::exp(-x));
}

void step_row(const LstmStepParams& p, size_t n) {
  const float* i_H = p.gates_N4H + n * 4 * p.columns;
  const float *f_H = i_H + p.columns, *g_H = f_H + p.columns, *o_H = g_H + p.columns;
  float* c_H = p.cell_NH + n * p.columns;
  float* h_H = p.hidden_NH + n * p.columns;
  for (size_t k = 0; k < p.columns; ++k) {
    const float kept = p.is_first ? 0 : sigmoid(f_H[k]) * c_H[k];
    c_H[k] = kept + sigmoid(i_H[k]) * std::tanh(g_H[k]);
    h_H[k] = sigmoid(o_H[k]) * std::tanh(c_H[k]);
  }
}

}  // namespace

void lstm_step(const KernelSet& kernels, const LstmStepParams& params) {
  const OperationScope scope(kernels, {params.gates_N4H, params.cell_NH, params.hidden_NH});
  for_each_row(params.parallel, params.rows, params.columns, [&](size_t n) { step_row(params, n); });
}

}  // namespace deberta

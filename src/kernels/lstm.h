// One step of a long short-term memory (Hochreiter and Schmidhuber 1997), with the gates in torch's order:
//   c = sigmoid(f) c + sigmoid(i) tanh(g)
//   h = sigmoid(o) tanh(c)
// i, f, g and o are what the input and the last h make of them, W_x x + W_h h + b: products have summed them (gemm.h).
// Computed in fp32; a row depends on itself alone.
// N rows  H columns of h
#pragma once
#include <cstddef>

#include "base/parallel.h"
#include "kernels/dispatch.h"

namespace deberta {

struct LstmStepParams {
  const float* gates_N4H = nullptr;  // of each row i, f, g, o, one behind the other
  size_t rows = 0;                   // N
  size_t columns = 0;                // H
  float* cell_NH = nullptr;          // c, in place
  bool is_first = false;             // c is 0 before this step, and not read
  float* hidden_NH = nullptr;        // h
  Parallel parallel = serial();
};
void lstm_step(const KernelSet& kernels, const LstmStepParams& params);

}  // namespace deberta

// The projections of attention, attention (attention.h) and the linear layer behind it as one operation, where queries
// and keys are the same rows:
//   y = attention(x Wq^T + bq, x Wk^T + bk, x Wv^T + bv, Kr, Qr) Wo^T + bo
// One product makes q, k and v, and one their gradients; x is kept once.
// T tokens  D hidden  O = D
#pragma once
#include "train/ops/attention.h"

namespace deberta::train {

struct SelfAttentionWeights {
  struct Projection {
    at::Tensor weight_DD, bias_D;  // the bias may be undefined
  };
  Projection query, key, value, output;
};

// `inputs` has no q, k and v yet, and the same rows of queries and keys.
at::Tensor self_attention(const Compute& compute, const at::Tensor& x_TD, const AttentionInputs& inputs,
                          const SelfAttentionWeights& weights);

}  // namespace deberta::train

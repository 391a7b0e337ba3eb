// Disentangled attention of a pack (kernels/attention.h has the equation), with gradients for q, k, v, Kr and Qr.
// A query without any allowed key gets zeros.
// N query rows  T rows of keys  H heads  K head size  D = H K  R relative rows
#pragma once
#include <ATen/core/Tensor.h>

#include <memory>

#include "kernels/dropout.h"
#include "kernels/rel_lut.h"
#include "train/ops/compute.h"
#include "train/ops/rows.h"

namespace deberta::train {

struct AttentionInputs {
  at::Tensor q_ND, k_TD, v_TD;        // the columns of a head lie together
  at::Tensor kr_RD, qr_RD;            // undefined: the model has no c2p, no p2c
  SharedRows queries, keys;           // rows of the same sequences
  std::shared_ptr<const RelLut> lut;  // needed with a term; as long as the largest position
  int64_t heads = 1;
  double scale = 1;        // 1 / sqrt(K * terms)
  bool is_causal = false;  // a query sees the keys at its position and before
  Dropout dropout;         // dropout of the probabilities
};

at::Tensor attention(const Compute& compute, const AttentionInputs& inputs);

}  // namespace deberta::train

// What one forward pass reads besides the weights: the rows of the batch by position, the table of distances, and which
// numbers dropout draws.
// T packed tokens
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>

#include "kernels/dropout.h"
#include "kernels/rel_lut.h"
#include "train/model/form.h"
#include "train/model/parameter.h"
#include "train/ops/compute.h"
#include "train/ops/layer_norm.h"
#include "train/ops/random_domains.h"
#include "train/ops/rows.h"

namespace deberta::train {

// Packed sequences; fields as in TrainBatch (objectives/batch.h), read while the pass is made.
struct ModelInput {
  std::span<const int32_t> ids_T, starts;
  std::span<const int32_t> type_ids_T = {}, position_ids_T = {};
  std::span<const uint8_t> mask_T = {};
  uint32_t first_sequence = 0;
};

// What dropout draws from: nothing else decides which elements are dropped.
struct DropoutStream {
  bool is_training = false;  // false: none is
  uint64_t seed = 0;
  uint32_t step = 0;
};

struct Pass {
  const ModelForm& form;
  const Compute& compute;
  SharedRows tokens;
  std::shared_ptr<const RelLut> lut;  // limited to the distances of the pass; null without relative attention
  at::Tensor ids_T = {}, type_ids_T = {}, position_ids_T = {};  // int32; without types or absolute positions undefined
  DropoutStream dropout_stream = {};
  uint32_t first_sequence = 0;

  // `layer` counts from 0; further passes of the mask decoder follow the last layer.
  Dropout dropout(RandomDomain domain, double p, size_t layer) const {
    return {.p = dropout_stream.is_training ? p : 0,
            .seed = random_key(dropout_stream.seed, domain),
            .step = dropout_stream.step,
            .layer = static_cast<uint32_t>(layer),
            .sequence_offset = first_sequence};
  }
  NormWeights norm(const Norm& norm) const { return {norm.weight_D, norm.bias_D, form.config.layer_norm_eps}; }
};

// x W^T + b, of rows of any number of dimensions.
at::Tensor apply(const Pass& pass, const Linear& linear, const at::Tensor& x);

// Some rows of the pack, ascending, as rows of their own.
SharedRows choose_rows(const Rows& tokens, std::span<const int32_t> rows);

// int32 on the device of `like`.
at::Tensor to_index(std::span<const int32_t> values, const at::Tensor& like);

// Rows of x_TD, those of choose_rows().
at::Tensor take_rows(const at::Tensor& x_TD, std::span<const int32_t> rows);

}  // namespace deberta::train

// Fused disentangled attention on a card, forward (attention_kernel.h): head size 64, fp16 or bf16, sm_80 and later.
#pragma once
#include <cuda_runtime_api.h>

#include "kernels/cuda/attention_kernel.h"

namespace deberta::cuda {

struct AttentionLaunch {
  AttentionTile tile = AttentionTile::kWide;  // the one of the plan
  bool is_half = false;                       // fp16, otherwise bf16
  int blocks = 0;                             // those of the plan
  cudaStream_t stream = nullptr;
};

// A null table leaves out its term. An error of the runtime, cudaErrorInvalidValue where the tables do not fit into the
// shared memory of the card.
cudaError_t launch_attention(const AttentionArguments& arguments, const AttentionLaunch& how);

}  // namespace deberta::cuda

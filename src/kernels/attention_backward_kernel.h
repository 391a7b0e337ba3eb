// What one instruction set offers for the gradient of attention. Types only, as attention_kernel.h.
#pragma once
#include "kernels/attention_kernel.h"

namespace deberta {

// One sequence and one head; q, k and v of `forward` may be bf16, all else is fp32.
struct AttentionBackwardTask {
  AttentionTask forward;  // inputs, packed tables, masks, dropout; its outputs are not read
  float scale;            // not times log2(e)
  const float* lse;       // [queries]
  const float* out;       // rows of queries, as are dout and dq
  const float* dout;
  float *dq, *dk, *dv;
  size_t out_stride, dout_stride, dq_stride, dk_stride, dv_stride;
  const float *kr, *qr;  // rows of the tables
  size_t kr_stride, qr_stride;
  float *dkr, *dqr;  // [R][head_size]: sums to which this task adds
};

struct AttentionBackwardKernel {
  size_t (*scratch_bytes)(const AttentionExtent& extent);
  // `scratch` is 64-byte aligned and may hold anything.
  void (*add_gradients)(const AttentionBackwardTask& task, const AttentionExtent& extent, void* scratch);
};

const AttentionBackwardKernel& attention_backward_fp32_avx2_kernel();  // these two: also bf16, widened
const AttentionBackwardKernel& attention_backward_fp32_avx512_kernel();
const AttentionBackwardKernel& attention_backward_bf16_avx512bf16_kernel();  // these two: bf16 only, heads of whole 32
const AttentionBackwardKernel& attention_backward_bf16_amx_kernel();

}  // namespace deberta

#include "kernels/cuda/attention.h"

#include <type_traits>

#include "kernels/cuda/ptx.h"

namespace deberta::cuda {
namespace {

template <class Form>
__global__ void __launch_bounds__(Form::kThreads, 1) attention_forward(const AttentionArguments arguments) {
  extern __shared__ __align__(16) uint8_t shared[];
  AttentionWarp<Ptx, Form> warp(arguments, static_cast<uint32_t>(__cvta_generic_to_shared(shared)));
  warp.run(static_cast<int>(blockIdx.x));
}

template <class Form>
cudaError_t launch(const AttentionArguments& arguments, int blocks, cudaStream_t stream) {
  const uint32_t size = AttentionMemory<Form>(arguments.rows, arguments.reach).size;
  const cudaError_t error = cudaFuncSetAttribute(attention_forward<Form>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                 static_cast<int>(size));
  if (error != cudaSuccess) return error;
  attention_forward<Form><<<static_cast<unsigned>(blocks), Form::kThreads, size, stream>>>(arguments);
  return cudaGetLastError();
}

template <class C2p, class P2c, class Half>
cudaError_t launch(const AttentionArguments& arguments, AttentionTile tile, int blocks, cudaStream_t stream) {
  if (tile == AttentionTile::kWide)
    return launch<WideAttention<C2p::value, P2c::value, Half::value>>(arguments, blocks, stream);
  return launch<NarrowAttention<C2p::value, P2c::value, Half::value>>(arguments, blocks, stream);
}

template <class C2p, class P2c>
cudaError_t launch(const AttentionArguments& arguments, const AttentionLaunch& how) {
  return how.is_half ? launch<C2p, P2c, std::true_type>(arguments, how.tile, how.blocks, how.stream)
                     : launch<C2p, P2c, std::false_type>(arguments, how.tile, how.blocks, how.stream);
}

}  // namespace

cudaError_t launch_attention(const AttentionArguments& arguments, const AttentionLaunch& how) {
  const bool has_c2p = arguments.kr != nullptr, has_p2c = arguments.qr != nullptr;
  if (has_c2p && has_p2c) return launch<std::true_type, std::true_type>(arguments, how);
  if (has_c2p) return launch<std::true_type, std::false_type>(arguments, how);
  if (has_p2c) return launch<std::false_type, std::true_type>(arguments, how);
  return launch<std::false_type, std::false_type>(arguments, how);
}

}  // namespace deberta::cuda

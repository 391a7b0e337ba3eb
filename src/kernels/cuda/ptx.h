// What a thread of a card does in the kernels of this folder: one PTX instruction each, sm_80 and later. Included by
// .cu files only.
#pragma once
#include <cuda_fp16.h>

#include <cstdint>

namespace deberta::cuda {

struct Ptx {
  __device__ static __forceinline__ int thread() { return static_cast<int>(threadIdx.x); }
  __device__ static __forceinline__ void barrier_all() { __syncthreads(); }
  __device__ static __forceinline__ void barrier(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
  }
  __device__ static __forceinline__ void warp_sync() { __syncwarp(); }
  __device__ static __forceinline__ bool any(bool value) { return __any_sync(0xffffffffu, value); }
  __device__ static __forceinline__ uint32_t shuffle(uint32_t value, int from) {
    return __shfl_sync(0xffffffffu, value, from);
  }
  __device__ static __forceinline__ float shuffle_xor(float value, int mask) {
    return __shfl_xor_sync(0xffffffffu, value, mask);
  }
  __device__ static __forceinline__ uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
    return __byte_perm(a, b, selector);
  }

  // 16 bytes from global to shared memory; zeros where not `inside`.
  __device__ static __forceinline__ void copy_16(uint32_t shared, const void* global, bool inside) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(inside ? 16 : 0)
                 : "memory");
  }
  __device__ static __forceinline__ void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
  __device__ static __forceinline__ void copy_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }
  __device__ static __forceinline__ void store_32(uint32_t shared, uint32_t value) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared), "r"(value) : "memory");
  }
  __device__ static __forceinline__ uint32_t load_32(uint32_t shared) {
    uint32_t value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(shared));
    return value;
  }
  __device__ static __forceinline__ void store_global(uint16_t* global, uint32_t value) {
    *reinterpret_cast<uint32_t*>(global) = value;
  }

  __device__ static __forceinline__ void load_matrices(uint32_t (&r)[4], uint32_t at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
  }
  __device__ static __forceinline__ void load_matrices_transposed(uint32_t (&r)[4], uint32_t at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
  }

  // c += a . b, fp32 sums.
  template <bool kHalf>
  __device__ static __forceinline__ void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    if constexpr (kHalf) {
      asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
          "%2, %3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    } else {
      asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
          "%2, %3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
  }

  // Two numbers in a register, the first in the lower half.
  template <bool kHalf>
  __device__ static __forceinline__ uint32_t pack(float low, float high) {
    if constexpr (kHalf) return pack_half(low, high);
    uint32_t packed;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
  }
  // fp16, saturated at 65504.
  __device__ static __forceinline__ uint32_t pack_half(float low, float high) {
    uint32_t packed;
    asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
  }
  __device__ static __forceinline__ uint32_t add_half(uint32_t a, uint32_t b) {
    uint32_t sum;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
  }
  __device__ static __forceinline__ void unpack_half(float& low, float& high, uint32_t packed) {
    const __half2 both = *reinterpret_cast<const __half2*>(&packed);
    low = __low2float(both);
    high = __high2float(both);
  }
  __device__ static __forceinline__ float maximum(float a, float b) { return fmaxf(a, b); }
  __device__ static __forceinline__ float power_of_2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
  }
  __device__ static __forceinline__ float logarithm_2(float x) { return __log2f(x); }
};

}  // namespace deberta::cuda

// The rows, and what follows from them alone.
#include "kernels/implementations.h"

#include <array>

#include "deberta/error.h"
#include "kernels/attention_backward_kernel.h"
#include "kernels/attention_kernel.h"
#include "kernels/gemm_kernel.h"
#include "kernels/peak_kernel.h"
#include "kernels/row_kernel.h"

namespace deberta {
namespace {

#if DEBERTA_HAS_X86
#define DEBERTA_X86(getter) getter

const GemmKernel& gemm_bf16_amx_kernel() {
  return gemm_amx_kernels().bf16;
}
const GemmKernel& gemm_int8_amx_kernel() {
  return gemm_amx_kernels().int8;
}
#else
#define DEBERTA_X86(getter) not_built

// No other processor has the features that would run it.
template <class Kernel>
const Kernel& not_built() {
  throw Error(ErrorCode::kInternal, "kernels", "an implementation for another kind of processor");
}
#endif

constexpr std::array kTable = {
#define DEBERTA_IMPLEMENTATION(enumerator, text, ...) \
  ImplementationRow{.level = KernelLevel::enumerator, .name = text, __VA_ARGS__},
#include "kernels/implementations.inc"
#undef DEBERTA_IMPLEMENTATION
};

size_t index_of(KernelLevel level) {
  return static_cast<size_t>(level);
}

bool can_run(const ImplementationRow& row, Device device, FeatureSet features) {
  return row.device == device && has_all(features, row.needs);
}

}  // namespace

std::span<const ImplementationRow> implementation_table() {
  return kTable;
}

const ImplementationRow& implementation(KernelLevel level) {
  return kTable[index_of(level)];
}

std::span<const ImplementationRow> rows_up_to(KernelLevel level) {
  return implementation_table().first(index_of(level) + 1);
}

bool exists(Operation operation, Precision precision, KernelLevel level) {
  if (level == KernelLevel::kReference) return true;
  const ImplementationRow& row = implementation(level);
  switch (operation) {
    case Operation::kGemm:
      return row.gemm.of(precision) != nullptr;
    case Operation::kAttention:
      return row.attention.of(precision) != nullptr;
    case Operation::kAttentionBackward:
      return row.attention_backward.of(precision) != nullptr;
    case Operation::kConvolution:
      return row.gemm.fp32 != nullptr;
    case Operation::kLayerNorm:
    case Operation::kQuantize:
    case Operation::kEmbedding:
    case Operation::kLayerNormGradient:
    case Operation::kActivation:
    case Operation::kSoftmax:
      break;
  }
  return row.rows != nullptr;
}

LevelSet runnable_levels(Device device, FeatureSet features) {
  LevelSet levels = 0;
  for (const ImplementationRow& row : kTable) {
    if (can_run(row, device, features)) levels |= level_bit(row.level);
  }
  return levels;
}

LevelSet usable_levels() {
  return runnable_levels(Device::kCpu, processor_features());
}

}  // namespace deberta

// The table of implementations: for each its name, where it runs, what it needs of a processor, and which operations it
// provides in which precision. Not here: which one runs (choice.h, dispatch.h). Not for files compiled with wider
// flags.
#pragma once
#include <span>
#include <string_view>

#include "kernels/dispatch.h"
#include "kernels/processor.h"

namespace deberta {

struct AttentionBackwardKernel;
struct AttentionKernel;
struct GemmFinishKernel;
struct GemmKernel;
struct GemmPackKernel;
struct PeakKernels;
struct RowKernel;

template <class Value>
struct ByPrecision {
  Value fp32{}, bf16{}, int8{};

  constexpr const Value& of(Precision precision) const {
    switch (precision) {
      case Precision::kFp32:
        return fp32;
      case Precision::kBf16:
        return bf16;
      case Precision::kInt8:
        break;
    }
    return int8;
  }
};

// Null: the row provides none.
template <class Kernel>
using Getter = const Kernel& (*)();

struct ImplementationRow {
  KernelLevel level;
  std::string_view name;  // as users type and read it
  Device device;
  FeatureSet needs = 0;  // processor features behind the flags that its files are compiled with
  // gemm also for convolution, through products in fp32; rows for all other operations, in every precision.
  ByPrecision<Getter<GemmKernel>> gemm = {};
  ByPrecision<Getter<AttentionKernel>> attention = {};
  ByPrecision<Getter<AttentionBackwardKernel>> attention_backward = {};
  Getter<RowKernel> rows = nullptr;
  // What GEMM needs beside its products: packed weights, and the epilogue.
  Getter<GemmPackKernel> pack = nullptr;
  Getter<GemmFinishKernel> finish = nullptr;
  // bf16 is multiplied in pairs, not widened: attention wants tables of pairs, and heads of whole pairs of vectors.
  bool multiplies_pairs = false;
  // The instruction that the GEMM of a precision is made of, what measures it, and the part of its peak that products
  // reach, roughly.
  ByPrecision<std::string_view> multipliers = {};
  Getter<PeakKernels> peaks = nullptr;
  double reached = 1;
};

// In the order of KernelLevel. The reference is a row without kernels: plain loops for every operation.
std::span<const ImplementationRow> implementation_table();
const ImplementationRow& implementation(KernelLevel level);
// That of `level` and those before it.
std::span<const ImplementationRow> rows_up_to(KernelLevel level);

// Whether the operation has an implementation of its own at this level.
bool exists(Operation operation, Precision precision, KernelLevel level);

// The levels of a device that can run with these features, and those that this processor can run.
LevelSet runnable_levels(Device device, FeatureSet features);
LevelSet usable_levels();

// The kernel that runs at `level`: its own, else that of the last row before it that needs nothing which `level` does
// not need (packing, for AMX, is that of AVX-512). Null: plain loops.
template <class Kernel, class PartOf>
const Kernel* kernel_within(KernelLevel level, PartOf&& part_of) {
  const auto rows = rows_up_to(level);
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    const Getter<Kernel> part = part_of(*row);
    if (part != nullptr && has_all(rows.back().needs, row->needs)) return &part();
  }
  return nullptr;
}
template <class Kernel>
const Kernel* kernel_of(KernelLevel level, Getter<Kernel> ImplementationRow::*part) {
  return kernel_within<Kernel>(level, [&](const ImplementationRow& row) { return row.*part; });
}
template <class Kernel>
const Kernel* kernel_of(KernelLevel level, ByPrecision<Getter<Kernel>> ImplementationRow::*part, Precision precision) {
  return kernel_within<Kernel>(level, [&](const ImplementationRow& row) { return (row.*part).of(precision); });
}

}  // namespace deberta

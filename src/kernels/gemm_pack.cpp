// Packing of weights into panels, for every precision and implementation.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/arena.h"
#include "deberta/error.h"
#include "kernels/gemm_layout.h"
#include "kernels/implementations.h"
#include "kernels/operand.h"
#include "kernels/row_blocks.h"

namespace deberta {
namespace {

// Plain loops, for the reference and other processors.
float divided(const float* w_K, const float* reciprocal_K, size_t k) {
  if (reciprocal_K == nullptr) return w_K[k];
  return reciprocal_K[k] != 0 ? w_K[k] / reciprocal_K[k] : 0.0f;
}

template <class Number, class Round>
void pair_plain_rows(const Number* low, const Number* high, Bf16* pairs, size_t count, Round round) {
  for (size_t i = 0; i < count; ++i) {
    pairs[2 * i] = round(low[i]);
    pairs[2 * i + 1] = high != nullptr ? round(high[i]) : Bf16{0};
  }
}

constexpr GemmPackKernel kPlain = {
    .transpose =
        [](const float* rows, size_t stride, size_t columns, size_t groups, float* panel, size_t width) {
          for (size_t g = 0; g < groups; ++g) {
            for (size_t w = 0; w < columns; ++w) panel[g * width + w] = rows[w * stride + g];
          }
        },
    .add_rows =
        [](const float* x, size_t stride, size_t rows, size_t columns, float* sums) {
          for (size_t i = 0; i < rows; ++i) {
            for (size_t c = 0; c < columns; ++c) sums[c] += x[i * stride + c];
          }
        },
    .pair_rows = [](const float* low, const float* high, Bf16* pairs,
                    size_t count) { pair_plain_rows(low, high, pairs, count, to_bf16); },
    .pair_bf16_rows = [](const Bf16* low, const Bf16* high, Bf16* pairs,
                         size_t count) { pair_plain_rows(low, high, pairs, count, [](Bf16 x) { return x; }); },
    .largest =
        [](const float* w_K, const float* reciprocal_K, size_t count) {
          float most = 0, not_finite = 0;
          for (size_t k = 0; k < count; ++k) {
            const float w = divided(w_K, reciprocal_K, k);
            most = std::max(most, std::abs(w));
            not_finite += w * 0;
          }
          return most + not_finite;
        },
    .to_int8 =
        [](const float* w_K, const float* reciprocal_K, float scale, int8_t* q_K, size_t count) {
          for (size_t k = 0; k < count; ++k) {
            q_K[k] = static_cast<int8_t>(std::nearbyint(divided(w_K, reciprocal_K, k) / scale));
          }
        }};

// What packing one panel needs to know.
struct Packing {
  Precision precision;
  const WeightSource& source;
  PanelLayout layout;
  const GemmPackKernel& kernel;
  const RowKernel* rows;
  std::byte* panels = nullptr;
  float* scales_N = nullptr;  // int8, as the two below
  int32_t* compensation_N = nullptr;
  float* outliers_ON = nullptr;

  size_t row_bytes() const { return layout.groups * layout.group * layout.element; }
};

// The next `count` numbers of the packed memory. Zeros fill their last cache line: equal weights are equal bytes.
template <class T>
T* take(std::byte*& at, size_t count) {
  T* values = reinterpret_cast<T*>(at);
  at += Arena::bytes_for<T>(count);
  std::fill(reinterpret_cast<std::byte*>(values + count), at, std::byte{});
  return values;
}

void place(Packing& p, std::byte* at) {
  p.panels = take<std::byte>(at, p.layout.panels(p.source.outputs) * p.layout.panel_bytes());
  if (p.precision != Precision::kInt8) return;
  p.scales_N = take<float>(at, p.source.outputs);
  p.compensation_N = take<int32_t>(at, p.source.outputs);
  p.outliers_ON = take<float>(at, p.source.quantizer.outliers * p.source.outputs);
}

// Row n as q[n,k], and what belongs to it outside the panels.
void quantize_output(const Packing& p, const float* w_K, size_t n, int8_t* q_K) {
  const WeightSource& source = p.source;
  const Quantizer& quantizer = source.quantizer;
  if (source.q_NK != nullptr) {
    std::copy_n(source.q_NK + n * source.depth, source.depth, q_K);
    p.scales_N[n] = source.scales_N[n];
  } else {
    const float largest = p.kernel.largest(w_K, quantizer.reciprocal_K, source.depth);
    p.scales_N[n] = largest == 0 ? 1 : largest / 127;
    p.kernel.to_int8(w_K, quantizer.reciprocal_K, std::isfinite(largest) ? p.scales_N[n] : 1, q_K, source.depth);
  }
  p.compensation_N[n] = -128 * std::accumulate(q_K, q_K + source.depth, int32_t{0});
  for (size_t o = 0; o < quantizer.outliers; ++o) {
    p.outliers_ON[o * source.outputs + n] = from_bf16(to_bf16(w_K[quantizer.outliers_O[o]]));
  }
}

// Row n in the panels' number format, padded with the zeros that `out` holds.
void convert_row(const Packing& p, const float* w_K, size_t n, std::byte* out, int8_t* q_K) {
  if (p.precision == Precision::kFp32) {
    std::memcpy(out, w_K, p.source.depth * sizeof(float));
  } else if (p.precision == Precision::kBf16) {
    narrow_row(p.rows, w_K, reinterpret_cast<Bf16*>(out), p.source.depth);
  } else if (p.layout.element == sizeof(int16_t)) {
    quantize_output(p, w_K, n, q_K);
    std::copy_n(q_K, p.source.depth, reinterpret_cast<int16_t*>(out));
  } else {
    quantize_output(p, w_K, n, reinterpret_cast<int8_t*>(out));
  }
}

void check_outliers(const Quantizer& quantizer) {
  for (size_t o = 0; o < quantizer.outliers; ++o) {
    if (quantizer.reciprocal_K != nullptr && quantizer.reciprocal_K[quantizer.outliers_O[o]] == 0) continue;
    throw Error(ErrorCode::kInternal, "gemm_pack", "an outlier column whose reciprocal is not 0");
  }
}

constexpr size_t kRowsAtOnce = 16;

size_t turned_stride(const WeightSource& source) {
  return source.w_KN_stride > 0 ? source.w_KN_stride : source.outputs;
}

// A plain [N, K] from [K, N]: of output n.
void turn_output(const Packing& p, size_t n, std::byte* out) {
  const WeightSource& source = p.source;
  for (size_t k = 0; k < source.depth; ++k) {
    const size_t at = k * turned_stride(source) + n;
    if (p.precision == Precision::kFp32) {
      reinterpret_cast<float*>(out)[k] = source.w_KN[at];
    } else {
      reinterpret_cast<Bf16*>(out)[k] = source.w_KN != nullptr ? to_bf16(source.w_KN[at]) : source.w_bf16_KN[at];
    }
  }
}

// Rows k and k + 1 of [K, N] side by side.
template <class Number, class PairRows>
void pair_up(const Packing& p, const Number* w_KN, size_t k, size_t columns, std::byte* out, PairRows pair_rows) {
  const Number* low = w_KN + k * turned_stride(p.source);
  const Number* high = k + 1 < p.source.depth ? low + turned_stride(p.source) : nullptr;
  pair_rows(low, high, reinterpret_cast<Bf16*>(out), columns);
}

// A panel of [K, N]: its rows are pieces of the source's rows, in bf16 of two rows.
void copy_panel(const Packing& p, size_t first, size_t columns, std::byte* out) {
  const WeightSource& source = p.source;
  const size_t row_bytes = p.layout.width * p.layout.group * p.layout.element;
  for (size_t g = 0; g < p.layout.groups; ++g, out += row_bytes) {
    const size_t k = g * p.layout.group;
    if (columns < p.layout.width || k >= source.depth) std::memset(out, 0, row_bytes);
    if (k >= source.depth) continue;
    if (p.precision == Precision::kFp32) {
      std::memcpy(out, source.w_KN + k * turned_stride(source) + first, columns * sizeof(float));
    } else if (source.w_KN != nullptr) {
      pair_up(p, source.w_KN + first, k, columns, out, p.kernel.pair_rows);
    } else {
      pair_up(p, source.w_bf16_KN + first, k, columns, out, p.kernel.pair_bf16_rows);
    }
  }
}

// A few rows at a time are converted and then transposed, so that both steps work within the cache.
void pack_panel(const Packing& p, size_t panel) {
  const size_t first = panel * p.layout.width;
  const size_t columns = std::min(p.layout.width, p.source.outputs - first);
  std::byte* out = p.panels + panel * p.layout.panel_bytes();
  if (p.source.w_KN != nullptr || p.source.w_bf16_KN != nullptr) {
    return p.layout.width == 1 ? turn_output(p, first, out) : copy_panel(p, first, columns, out);
  }
  std::vector<int8_t> q_K(p.precision == Precision::kInt8 ? p.source.depth : 0);
  if (p.layout.width == 1) return convert_row(p, p.source.w_NK + first * p.source.depth, first, out, q_K.data());
  if (columns < p.layout.width) std::memset(out, 0, p.layout.panel_bytes());
  std::vector<std::byte> rows(kRowsAtOnce * p.row_bytes());
  for (size_t w = 0; w < columns; w += kRowsAtOnce) {
    const size_t count = std::min(kRowsAtOnce, columns - w);
    const float* source = p.source.w_NK + (first + w) * p.source.depth;
    for (size_t i = 0; i < count; ++i) {
      convert_row(p, source + i * p.source.depth, first + w + i, rows.data() + i * p.row_bytes(), q_K.data());
    }
    p.kernel.transpose(reinterpret_cast<const float*>(rows.data()), p.layout.groups, count, p.layout.groups,
                       reinterpret_cast<float*>(out) + w, p.layout.width);
  }
}

}  // namespace

const GemmPackKernel& gemm_pack_kernel(KernelLevel level) {
  const GemmPackKernel* kernel = kernel_of(level, &ImplementationRow::pack);
  return kernel != nullptr ? *kernel : kPlain;
}

PanelLayout::PanelLayout(Precision precision, KernelLevel level, size_t depth) {
  size_t unit = 1;
  if (const GemmKernel* kernel = kernel_of(level, &ImplementationRow::gemm, precision)) {
    width = kernel->panel_width;
    group = kernel->group;
    unit = kernel->unit;
  }
  groups = (depth + unit - 1) / unit * unit / group;
  const bool is_widened = precision == Precision::kInt8 && group == 2;  // to s16
  element = is_widened ? sizeof(int16_t) : element_bytes(precision);
}

size_t gemm_packed_bytes(const KernelSet& kernels, Precision precision, const WeightSource& source) {
  const PanelLayout layout(precision, kernels.level_of(Operation::kGemm, precision), source.depth);
  const size_t panels = Arena::bytes_for<std::byte>(layout.panels(source.outputs) * layout.panel_bytes());
  if (precision != Precision::kInt8) return panels;
  const size_t row = Arena::bytes_for<float>(source.outputs);
  return panels + 2 * row + Arena::bytes_for<float>(source.quantizer.outliers * source.outputs);
}

PackedWeights gemm_pack(const KernelSet& kernels, Precision precision, const WeightSource& source, void* memory,
                        const Parallel& parallel) {
  const OperationScope scope(kernels, {memory});
  const KernelLevel level = kernels.level_of(Operation::kGemm, precision);
  const PanelLayout layout(precision, level, source.depth);
  Packing p{.precision = precision,
            .source = source,
            .layout = layout,
            .kernel = gemm_pack_kernel(level),
            .rows = kernel_of(level, &ImplementationRow::rows)};
  require(Operation::kGemm, source.w_bf16_KN == nullptr || precision == Precision::kBf16, "a weight of bf16");
  if (precision == Precision::kInt8) {
    require(Operation::kGemm, source.w_KN == nullptr && source.w_bf16_KN == nullptr,
            "an int8 weight cannot be packed transposed");
    check_outliers(source.quantizer);
  }
  place(p, static_cast<std::byte*>(memory));
  parallel_for(parallel, layout.panels(source.outputs), [&](size_t panel, size_t) { pack_panel(p, panel); });
  return {.panels = memory,
          .outputs = source.outputs,
          .depth = source.depth,
          .precision = precision,
          .level = level,
          .scales_N = p.scales_N,
          .compensation_N = p.compensation_N,
          .outliers_ON = p.outliers_ON,
          .quantizer = source.quantizer};
}

}  // namespace deberta

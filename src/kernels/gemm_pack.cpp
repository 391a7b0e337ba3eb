// Packing of weights into panels, for every precision and implementation.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/gemm_layout.h"

namespace deberta {
namespace {

constexpr size_t kAlignment = 64;

size_t aligned(size_t size_bytes) {
  return (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

size_t element_bytes(Precision precision, size_t group) {
  if (precision == Precision::kFp32) return sizeof(float);
  if (precision == Precision::kBf16) return sizeof(Bf16);
  return group == 2 ? sizeof(int16_t) : sizeof(int8_t);
}

bool is_outlier(const Quantizer& quantizer, size_t k) {
  const int32_t* end = quantizer.outliers_O + quantizer.outliers;
  return std::binary_search(quantizer.outliers_O, end, static_cast<int32_t>(k));
}

// One row of W as int8: smoothed, outlier columns 0; returns the scale.
float quantize_row(const WeightSource& source, size_t n, int8_t* q_K) {
  if (source.q_NK != nullptr) {
    std::copy_n(source.q_NK + n * source.depth, source.depth, q_K);
    return source.scales_N[n];
  }
  const float* w_K = source.w_NK + n * source.depth;
  const Quantizer& quantizer = source.quantizer;
  const auto value = [&](size_t k) {
    if (quantizer.outliers > 0 && is_outlier(quantizer, k)) return 0.0f;
    return quantizer.reciprocal_K != nullptr ? w_K[k] / quantizer.reciprocal_K[k] : w_K[k];
  };
  float largest = 0;
  for (size_t k = 0; k < source.depth; ++k) largest = std::max(largest, std::abs(value(k)));
  const float scale = largest > 0 ? largest / 127 : 1;
  for (size_t k = 0; k < source.depth; ++k) q_K[k] = static_cast<int8_t>(std::nearbyint(value(k) / scale));
  return scale;
}

// The parts of int8 weights behind the panels.
struct Int8Parts {
  float* scales_N;
  int32_t* compensation_N;
  float* outliers_ON;
};

void place(void* memory, const PanelLayout& layout, const WeightSource& source, Int8Parts& parts) {
  auto* at = static_cast<std::byte*>(memory) + aligned(layout.panels(source.outputs) * layout.panel_bytes());
  parts.scales_N = reinterpret_cast<float*>(at);
  at += aligned(source.outputs * sizeof(float));
  parts.compensation_N = reinterpret_cast<int32_t*>(at);
  at += aligned(source.outputs * sizeof(int32_t));
  parts.outliers_ON = reinterpret_cast<float*>(at);
}

// Writes column w of a panel from the row of output n.
template <class Element, class Value>
void fill_column(Element* panel, const PanelLayout& layout, size_t w, size_t depth, const Value& value) {
  Element* out = panel + w * layout.group;
  const size_t row = layout.width * layout.group;
  for (size_t k = 0; k < depth; ++k) out[k / layout.group * row + k % layout.group] = value(k);
}

constexpr size_t kTranspose = 16;

// fp32 panels in blocks of 16 x 16: reads and writes whole cache lines.
void pack_fp32(const WeightSource& source, const PanelLayout& layout, size_t n, size_t columns, float* panel) {
  for (size_t k = 0; k < source.depth; k += kTranspose) {
    const size_t steps = std::min(kTranspose, source.depth - k);
    for (size_t w = 0; w < columns; ++w) {
      const float* w_K = source.w_NK + (n + w) * source.depth + k;
      for (size_t i = 0; i < steps; ++i) panel[(k + i) * layout.width + w] = w_K[i];
    }
  }
}

void pack_bf16(const WeightSource& source, const PanelLayout& layout, size_t n, size_t columns, Bf16* panel) {
  for (size_t k = 0; k < source.depth; k += kTranspose) {
    const size_t end = std::min(source.depth, k + kTranspose);
    for (size_t w = 0; w < columns; ++w) {
      const float* w_K = source.w_NK + (n + w) * source.depth;
      Bf16* out = panel + w * layout.group;
      for (size_t i = k; i < end; ++i) {
        out[i / layout.group * layout.width * layout.group + i % layout.group] = to_bf16(w_K[i]);
      }
    }
  }
}

// Not vectorised: q is written byte by byte. `row_K` holds one quantised row.
void pack_int8(const WeightSource& source, const PanelLayout& layout, size_t n, size_t columns, std::byte* panel,
               const Int8Parts& parts) {
  std::vector<int8_t> row_K(source.depth);
  for (size_t w = 0; w < columns; ++w) {
    parts.scales_N[n + w] = quantize_row(source, n + w, row_K.data());
    int32_t sum = 0;
    for (const int8_t q : row_K) sum += q;
    parts.compensation_N[n + w] = -128 * sum;
    const auto value = [&](size_t k) { return row_K[k]; };
    if (layout.element == sizeof(int16_t)) {
      fill_column(reinterpret_cast<int16_t*>(panel), layout, w, source.depth, value);
    } else {
      fill_column(reinterpret_cast<int8_t*>(panel), layout, w, source.depth, value);
    }
    for (size_t o = 0; o < source.quantizer.outliers; ++o) {
      const auto k = static_cast<size_t>(source.quantizer.outliers_O[o]);
      parts.outliers_ON[o * source.outputs + n + w] = from_bf16(to_bf16(source.w_NK[(n + w) * source.depth + k]));
    }
  }
}

void pack_panel(Precision precision, const WeightSource& source, const PanelLayout& layout, size_t panel,
                std::byte* memory, const Int8Parts& parts) {
  const size_t n = panel * layout.width;
  const size_t columns = std::min(layout.width, source.outputs - n);
  std::byte* out = memory + panel * layout.panel_bytes();
  if (columns < layout.width || source.depth < layout.groups * layout.group) std::memset(out, 0, layout.panel_bytes());
  switch (precision) {
    case Precision::kFp32:
      return pack_fp32(source, layout, n, columns, reinterpret_cast<float*>(out));
    case Precision::kBf16:
      return pack_bf16(source, layout, n, columns, reinterpret_cast<Bf16*>(out));
    case Precision::kInt8:
      return pack_int8(source, layout, n, columns, out, parts);
  }
}

}  // namespace

PanelLayout::PanelLayout(Precision precision, KernelLevel level, size_t depth) {
  size_t unit = 1;
  if (const GemmKernel* kernel = gemm_kernel(precision, level)) {
    width = kernel->panel_width;
    group = kernel->group;
    unit = kernel->unit;
  }
  groups = (depth + unit - 1) / unit * unit / group;
  element = element_bytes(precision, group);
}

double packed_weight(const PackedWeights& weights, const PanelLayout& layout, size_t n, size_t k) {
  const size_t index = layout.index(n, k);
  if (weights.precision == Precision::kFp32) return double{static_cast<const float*>(weights.panels)[index]};
  if (weights.precision == Precision::kBf16) return double{from_bf16(static_cast<const Bf16*>(weights.panels)[index])};
  if (layout.element == sizeof(int16_t)) return static_cast<const int16_t*>(weights.panels)[index];
  return static_cast<const int8_t*>(weights.panels)[index];
}

size_t gemm_packed_bytes(const KernelSet& kernels, Precision precision, const WeightSource& source) {
  const PanelLayout layout(precision, kernels.level_of(Operation::kGemm, precision), source.depth);
  const size_t panels = aligned(layout.panels(source.outputs) * layout.panel_bytes());
  if (precision != Precision::kInt8) return panels;
  const size_t row = aligned(source.outputs * sizeof(float));
  return panels + 2 * row + aligned(source.quantizer.outliers * source.outputs * sizeof(float));
}

PackedWeights gemm_pack(const KernelSet& kernels, Precision precision, const WeightSource& source, void* memory,
                        const Parallel& parallel) {
  const KernelLevel level = kernels.level_of(Operation::kGemm, precision);
  const PanelLayout layout(precision, level, source.depth);
  Int8Parts parts{};
  if (precision == Precision::kInt8) place(memory, layout, source, parts);
  parallel_for(parallel, layout.panels(source.outputs), [&](size_t panel, size_t) {
    pack_panel(precision, source, layout, panel, static_cast<std::byte*>(memory), parts);
  });
  return {memory,         source.outputs,       source.depth,      precision,       level,
          parts.scales_N, parts.compensation_N, parts.outliers_ON, source.quantizer};
}

}  // namespace deberta

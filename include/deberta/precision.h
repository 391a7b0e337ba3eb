// The number format that matrix products and attention multiply in, and the device that they run on.
#pragma once
#include <string_view>

#include "deberta/error.h"

namespace deberta {

// Sums, softmax, norms and the residual stream are fp32 in all of them.
enum class Precision {
  kFp32,
  kBf16,  // operands rounded to bf16, to nearest even
  kInt8,  // linear layers in int8 (weights per channel, activations per token), attention in bf16
};

enum class Device { kCpu, kCuda };

DEBERTA_API std::string_view to_string(Precision precision);  // "fp32", "bf16", "int8"
DEBERTA_API std::string_view to_string(Device device);        // "cpu", "cuda"

}  // namespace deberta

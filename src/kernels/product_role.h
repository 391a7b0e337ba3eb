// Which product of a model a `gemm` is: for the profile, and for counts of operations by part. It changes no result.
#pragma once
#include <cstdint>
#include <string_view>

namespace deberta {

enum class ProductRole : uint8_t {
  kUnnamed,
  kEmbedding,  // E to D
  kQuery,
  kKeyValue,
  kAttentionOutput,
  kUp,
  kDown,
  kConvolution,
  kRelativeTable,  // a projection of it
  kHead,
};

constexpr std::string_view to_string(ProductRole role) {
  switch (role) {
    case ProductRole::kUnnamed:
      return "";
    case ProductRole::kEmbedding:
      return "embedding";
    case ProductRole::kQuery:
      return "query";
    case ProductRole::kKeyValue:
      return "key, value";
    case ProductRole::kAttentionOutput:
      return "attention output";
    case ProductRole::kUp:
      return "up";
    case ProductRole::kDown:
      return "down";
    case ProductRole::kConvolution:
      return "convolution";
    case ProductRole::kRelativeTable:
      return "relative table";
    case ProductRole::kHead:
      return "head";
  }
  return "";
}

}  // namespace deberta

// The estimate follows load_weights: every tensor in fp32, the word table once more for a language model's head, and
// the relative tables of each layer.
#include "engine/memory_check.h"

#include <fmt/format.h>

#include <string>

#include "checkpoint/tensor_table.h"
#include "cost/operations.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr const char* kWordTable = "embeddings.word_embeddings.weight";

bool stays_mapped(const TensorView& tensor) {
  const bool is_table = tensor.name == kWordTable || tensor.name == "embeddings.position_embeddings.weight" ||
                        tensor.name == "embeddings.token_type_embeddings.weight";
  return is_table && tensor.dtype != DType::kF64;
}

}  // namespace

uint64_t estimate_weight_bytes(const Checkpoint& checkpoint, const Variant& variant) {
  const ModelConfig& config = variant.config;
  uint64_t count = 0;
  for (const TensorSpec& spec : list_tensors(config, *variant.head.facts, count_labels(checkpoint))) {
    const TensorView* tensor = checkpoint.find(spec.name);
    if (tensor != nullptr && !stays_mapped(*tensor)) count += tensor->count();
  }
  if (variant.head.facts->predicts_words() && own_output_table(checkpoint, config) == nullptr)
    count += checkpoint.find(kWordTable)->count();
  return (count + table_elements(config)) * sizeof(float);
}

void check_memory(const Checkpoint& checkpoint, const Variant& variant, uint64_t limit_bytes) {
  const uint64_t needed_bytes = estimate_weight_bytes(checkpoint, variant);
  if (needed_bytes <= limit_bytes) return;
  constexpr uint64_t kMebi = 1 << 20;
  throw Error(
      ErrorCode::kOutOfMemory, checkpoint.paths().front(),
      fmt::format("the weights need {} MiB, this process may use {} MiB; choose a smaller model or raise the limit",
                  (needed_bytes + kMebi - 1) / kMebi, limit_bytes / kMebi));
}

}  // namespace deberta

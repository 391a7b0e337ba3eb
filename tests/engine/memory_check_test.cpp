// The estimate against what loading allocates, and the refusal.
#include "engine/memory_check.h"

#include <gtest/gtest.h>

#include "engine/engine_case.h"
#include "support/expect_error.h"
#include "support/test_device.h"

namespace deberta::memory_check_test {
namespace {

using namespace test;

// The store also rounds each block up to whole cache lines and panels, which is much of a tiny model: the sizes here
// are whole panels.
ModelConfig wide_config() {
  ModelConfig config = with_fast_heads();
  config.intermediate_size = 128;
  return config;
}

// Bytes of the embedding tables that the model reads.
uint64_t table_bytes(const Checkpoint& checkpoint, const Variant& variant) {
  uint64_t bytes = checkpoint.find("embeddings.word_embeddings.weight")->bytes.size();
  if (variant.config.type_vocab_size > 0)
    bytes += checkpoint.find("embeddings.token_type_embeddings.weight")->bytes.size();
  if (variant.reads_positions()) bytes += checkpoint.find("embeddings.position_embeddings.weight")->bytes.size();
  return bytes;
}

TEST(Memory, TheEstimateIsWhatLoadingAllocates) {
  for (const Head head : {Head::kNone, Head::kSequence, Head::kMaskedLm, Head::kReplacedToken}) {
    const TemporaryFolder folder;
    write_tiny_model(folder.path(), wide_config(), head);
    const Checkpoint checkpoint = Checkpoint::open(folder.path());
    const ModelConfig config = load_model_config(folder.path("config.json"));
    const Variant variant = find_variant(checkpoint, config, MaskDecoder::kAuto);
    const uint64_t tables = test_memory() == nullptr ? 0 : table_bytes(checkpoint, variant);  // a device copies them
    const auto estimate = static_cast<double>(estimate_weight_bytes(checkpoint, variant) + tables);
    const Model model = load_model(checkpoint, config, {.threads = 1});
    EXPECT_NEAR(static_cast<double>(model.memory_bytes()) / estimate, 1, 0.1) << to_string(head);
  }
}

TEST(Memory, AModelAboveTheLimitIsRefusedWithBothNumbers) {
  const TemporaryFolder folder;
  write_tiny_model(folder.path(), wide_config(), Head::kSequence);
  const Checkpoint checkpoint = Checkpoint::open(folder.path());
  const Variant variant = find_variant(checkpoint, load_model_config(folder.path("config.json")), MaskDecoder::kAuto);
  const uint64_t needed_bytes = estimate_weight_bytes(checkpoint, variant);
  EXPECT_NO_THROW(check_memory(checkpoint, variant, needed_bytes));
  EXPECT_ERROR(check_memory(checkpoint, variant, needed_bytes - 1), kOutOfMemory,
               "model.safetensors: the weights need 1 MiB, this process may use 0 MiB");
}

}  // namespace
}  // namespace deberta::memory_check_test

// Discriminators trained with shared embeddings carry `_weight`, the difference from the generator's table, beside the
// whole table: inference reads the whole table.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "checkpoint/safetensors.h"
#include "deberta/model.h"
#include "support/paths.h"
#include "support/test_device.h"
#include "support/tiny_model.h"

namespace deberta::delta_test {
namespace {

std::vector<float> last_hidden(const std::string& folder) {
  const ModelConfig config = load_model_config(folder + "/config.json");
  const Model model = test::load_model(Checkpoint::open(folder), config);
  Batch batch;
  batch.add(std::vector<int32_t>{1, 7, 9, 2});
  ForwardResult result;
  ForwardOptions options;
  options.layers = {static_cast<int32_t>(config.num_hidden_layers)};
  options.wants_logits = false;
  model.forward(batch, options, result);
  return result.hidden.at(0).rows_TD;
}

TEST(DeltaTable, TheWholeTableIsReadAndTheDifferenceIgnored) {
  const test::TemporaryFolder folder;
  const ModelConfig config = test::tiny_config();
  const std::string plain = folder.path("plain"), both = folder.path("both");
  std::filesystem::create_directory(plain);
  std::filesystem::create_directory(both);
  test::write_tiny_model(plain, config);
  test::write_tiny_model(both, config);

  const SafetensorsFile file(plain + "/model.safetensors");
  std::vector<TensorView> tensors = file.tensors();
  const std::vector<float> delta(static_cast<size_t>(config.vocab_size * config.embedding_size), 0.5f);
  for (const TensorView& tensor : file.tensors()) {
    if (!tensor.name.ends_with("embeddings.word_embeddings.weight")) continue;
    const std::string name = tensor.name.substr(0, tensor.name.size() - 6) + "_weight";
    tensors.push_back({name, DType::kF32, tensor.shape, std::as_bytes(std::span(delta))});
  }
  ASSERT_EQ(tensors.size(), file.tensors().size() + 1);
  write_safetensors(both + "/model.safetensors", tensors);
  EXPECT_EQ(last_hidden(plain), last_hidden(both));
}

}  // namespace
}  // namespace deberta::delta_test

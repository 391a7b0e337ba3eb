// Where the weights of a model lie.
#include "engine/weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/engine_case.h"
#include "engine/weight_loader.h"
#include "support/implementations.h"
#include "support/sanitizers.h"
#include "support/test_device.h"

namespace deberta::weights_test {
namespace {

using namespace test;

// Sizes that no panel divides.
ModelConfig config_of(Layout layout, bool has_c2p, bool has_p2c) {
  ModelConfig config = with_fast_heads();
  config.intermediate_size = 520;
  config.has_c2p = has_c2p;
  config.has_p2c = has_p2c;
  config.relative_attention = has_c2p || has_p2c;
  if (layout == Layout::kV1) make_version_1(config);
  return config;
}

// Two columns of each input are outliers.
Calibration calibration_of(const ModelConfig& config) {
  Calibration calibration;
  for (int64_t n = 0; n < config.num_hidden_layers; ++n) {
    auto& layer = calibration.layers.emplace_back();
    for (const CalibratedInput input : {CalibratedInput::kProjections, CalibratedInput::kAttentionOutput,
                                        CalibratedInput::kUp, CalibratedInput::kDown}) {
      const auto columns = input == CalibratedInput::kDown ? config.intermediate_size : config.hidden_size;
      InputCalibration& channels = layer[static_cast<size_t>(input)];
      channels.reciprocal_K.assign(static_cast<size_t>(columns), 1.0F);
      channels.outliers_O = {1, 5};
      for (const int32_t column : channels.outliers_O) channels.reciprocal_K[static_cast<size_t>(column)] = 0;
    }
  }
  return calibration;
}

class Weights : public testing::TestWithParam<Implementation> {
 protected:
  // What `use(checkpoint, variant, calibration)` is called with: every layout, all terms of attention.
  template <class Use>
  void for_models(Use use) const {
    for (const Layout layout : {Layout::kV2, Layout::kV1}) {
      for (const auto& [has_c2p, has_p2c] : {std::pair{true, true}, {true, false}, {false, true}, {false, false}}) {
        const ModelConfig config = config_of(layout, has_c2p, has_p2c);
        const TemporaryFolder folder;
        write_tiny_model(folder.path(), config);
        const Checkpoint checkpoint = Checkpoint::open(folder.path());
        const Variant variant =
            find_variant(checkpoint, load_model_config(folder.path("config.json")), MaskDecoder::kAuto);
        use(checkpoint, variant, Calibration{});
        if (GetParam().precision == Precision::kInt8) use(checkpoint, variant, calibration_of(config));
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(All, Weights,
                         testing::ValuesIn(implementations(Operation::kGemm,
                                                           {Precision::kFp32, Precision::kBf16, Precision::kInt8})),
                         kNameOfImplementation);

TEST_P(Weights, OfALayerHaveTheSizeThatIsReserved) {
  const KernelSet kernels = GetParam().kernels();  // of the host: a device has no block for all layers
  for_models([&](const Checkpoint& checkpoint, const Variant& variant, const Calibration& calibration) {
    WeightStore store, temporary;
    WeightLoader loader(checkpoint, variant.config, GetParam().precision, kernels, serial(), store);
    const RelativeRows relative_RD = loader.relative_table(temporary);
    loader.layer(0, relative_RD, calibration);
    EXPECT_EQ(loader.layer_bytes(0, relative_RD, calibration), store.size_bytes());
  });
}

// Processes that share pages find the same bytes.
TEST_P(Weights, LieInEqualBlocksEachTime) {
  KernelSet kernels = GetParam().kernels();
  kernels.memory = test_memory();
  for_models([&](const Checkpoint& checkpoint, const Variant& variant, const Calibration& calibration) {
    std::vector<std::vector<std::byte>> blocks[2];
    for (auto& found : blocks) {
      const std::vector<unsigned char> leaves_traces(1 << 20, found.empty() ? 0x55 : 0xAA);
      const ModelWeights w = load_weights(checkpoint, variant, {GetParam().precision, calibration}, kernels, serial());
      for (const std::span<std::byte> block : w.store.paged_blocks()) found.emplace_back(block.begin(), block.end());
    }
    EXPECT_EQ(blocks[0], blocks[1]);
    EXPECT_TRUE(kSanitized || test_memory() != nullptr || blocks[0].size() == 1) << "all layers";
  });
}

}  // namespace
}  // namespace deberta::weights_test

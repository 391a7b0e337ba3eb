// Where the parameters of a model lie in its flat buffers.
#include "train/optim/flat_buffers.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "support/expect_error.h"

namespace deberta::train::flat_buffers_test {
namespace {

const std::vector<NamedShape> kParameters = {{"embeddings.word_embeddings.weight", {50, 3}},
                                             {"encoder.layer.0.attention.self.q_bias", {3}},
                                             {"encoder.layer.0.LayerNorm.weight", {3}},
                                             {"encoder.layer.0.LayerNorm.bias", {}},
                                             {"empty", {0, 7}},
                                             {"encoder.rel_embeddings.weight", {90, 100}}};

TEST(FlatBuffers, GiveEachParameterASlotAtABorderOf64Bytes) {
  const ParameterLayout layout = make_layout(kParameters);
  ASSERT_EQ(layout.slots.size(), kParameters.size());
  const std::vector<size_t> counts = {150, 3, 3, 1, 0, 9000}, offsets = {0, 160, 176, 192, 208, 208};
  for (size_t i = 0; i < counts.size(); ++i) {
    EXPECT_EQ(layout.slots[i].name, kParameters[i].name);
    EXPECT_EQ(layout.slots[i].shape, kParameters[i].shape);
    EXPECT_EQ(layout.slots[i].count, counts[i]);
    EXPECT_EQ(layout.slots[i].offset, offsets[i]);
  }
  EXPECT_EQ(layout.size, 208u + 9008);
  EXPECT_EQ(layout.find("encoder.layer.0.LayerNorm.bias"), &layout.slots[3]);
  EXPECT_EQ(layout.find("encoder.layer.0"), nullptr);
}

TEST(FlatBuffers, ExemptBiasesAndNormsFromDecay) {
  for (const char* name : {"dense.bias", "q_bias", "attention.self.v_bias", "output.LayerNorm.weight",
                           "encoder.LayerNorm.bias", "lm_predictions.lm_head.bias"})
    EXPECT_FALSE(is_decayed(name)) << name;
  for (const char* name : {"dense.weight", "embeddings.word_embeddings.weight", "encoder.rel_embeddings.weight",
                           "embeddings.word_embeddings._weight", "layernorm.weight"})
    EXPECT_TRUE(is_decayed(name)) << name;
  std::vector<bool> decays;
  for (const ParameterSlot& slot : make_layout(kParameters).slots) decays.push_back(slot.decays);
  EXPECT_EQ(decays, (std::vector<bool>{true, false, false, false, true, true}));
}

TEST(FlatBuffers, BeginWithZerosAndNeverMove) {
  const ParameterLayout layout = make_layout(kParameters);
  FlatBuffer first(layout);
  EXPECT_EQ(first.size(), layout.size);
  for (const float value : first.all()) EXPECT_EQ(value, 0);
  float* const data = first.data();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
  first.of(layout.slots[1])[2] = 5;
  const FlatBuffer second = std::move(first);
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(data[162], 5);
  EXPECT_EQ(second.of(layout.slots[1]).size(), 3u);
  EXPECT_EQ(FlatBuffer(make_layout({})).size(), 0u);
}

TEST(FlatBuffers, AreDividedIntoBlocksThatCoverEachSlotOnce) {
  const ParameterLayout layout = make_layout(kParameters);
  size_t at = 0;
  std::vector<size_t> blocks_of(layout.slots.size());
  for (const auto& [slot, begin, count] : make_blocks(layout)) {
    EXPECT_EQ(begin, at);
    EXPECT_TRUE(count > 0 && count <= kBlockElements && count % kSlotElements == 0) << count;
    EXPECT_GE(begin, layout.slots[slot].offset);
    ++blocks_of[slot];
    at += count;
  }
  EXPECT_EQ(at, layout.size);
  EXPECT_EQ(blocks_of, (std::vector<size_t>{1, 1, 1, 1, 0, 2}));
}

TEST(FlatBuffers, RefuseANameTwiceAndWrongShapes) {
  EXPECT_ERROR(make_layout({{"a", {1}}, {"b", {1}}, {"a", {2}}}), kTensors, "a: expected each parameter once");
  EXPECT_ERROR(make_layout({{"a", {3, -1}}}), kTensors, "a: expected a shape of less than 2^48 bytes, got [3, -1]");
  EXPECT_ERROR(make_layout({{"a", {int64_t{1} << 40, 1 << 20}}}), kTensors, "less than 2^48 bytes");
}

}  // namespace
}  // namespace deberta::train::flat_buffers_test

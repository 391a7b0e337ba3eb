// Version 1, the convolution, 3-D masks, explicit relative positions, mentions and replaced tokens: what the golden
// models do not show by themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/engine_case.h"
#include "support/expect_error.h"

namespace deberta::variants_test {
namespace {

using namespace test;

const ModelOptions kOneThread{.threads = 1};

std::vector<float> hidden_of(const Model& model, const Batch& batch, int32_t layer) {
  ForwardOptions options;
  options.layers = {layer};
  options.wants_logits = false;
  return run(model, batch, options).hidden[0].rows_TD;
}

ModelConfig unshared() {
  ModelConfig config = tiny_config();
  config.share_att_key = false;
  return config;
}

void clear_key_biases(Tensors& tensors) {
  for (auto& [name, tensor] : tensors) {
    if (name.ends_with("key_proj.bias")) std::fill(tensor.values.begin(), tensor.values.end(), 0.0f);
  }
}

// Rows of query, key and value of each head in turn: 2 heads of 8 rows of 16.
NamedTensor fuse(Tensors& tensors, const std::string& self) {
  NamedTensor fused{{48, 16}, {}};
  for (size_t head = 0; head < 2; ++head) {
    for (const char* name : {"query_proj.weight", "key_proj.weight", "value_proj.weight"}) {
      const std::vector<float> rows = slice(tensors.at(self + name).values, head * 128, head * 128 + 128);
      fused.values.insert(fused.values.end(), rows.begin(), rows.end());
    }
  }
  return fused;
}

void to_version_1(Tensors& tensors) {
  clear_key_biases(tensors);
  for (const char* layer : {"0", "1"}) {
    const std::string self = "deberta.encoder.layer." + std::string(layer) + ".attention.self.";
    tensors[self + "in_proj.weight"] = fuse(tensors, self);
    tensors[self + "q_bias"] = tensors.at(self + "query_proj.bias");
    tensors[self + "v_bias"] = tensors.at(self + "value_proj.bias");
    tensors[self + "pos_proj.weight"] = tensors.at(self + "pos_key_proj.weight");
    tensors[self + "pos_q_proj.weight"] = tensors.at(self + "pos_query_proj.weight");
    tensors[self + "pos_q_proj.bias"] = tensors.at(self + "pos_query_proj.bias");
    for (const char* name : {"query", "key", "value", "pos_key", "pos_query"}) {
      tensors.erase(self + name + "_proj.weight");
      tensors.erase(self + name + "_proj.bias");
    }
  }
}

Json without_model_type(const ModelConfig& config) {
  Json json = to_json(config);
  std::erase_if(json.as_object(), [](const auto& member) { return member.first == "model_type"; });
  return json;
}

TEST(Version1, IsVersion2WithUnsharedProjectionsAndNoKeyBias) {
  const Batch batch = make_batch({make_ids(1, 20), make_ids(2, 5)});
  ModelConfig v1 = unshared();
  v1.layout = Layout::kV1;
  const Model split = load_edited(unshared(), Head::kMaskedLm, kOneThread, to_json(unshared()), clear_key_biases);
  const Model fused = load_edited(unshared(), Head::kMaskedLm, kOneThread, to_json(v1), to_version_1);
  EXPECT_EQ(last_hidden(fused, batch), last_hidden(split, batch));
  const Batch short_batch = make_batch({make_ids(2, 5)});
  EXPECT_EQ(run(fused, short_batch).logits, run(split, short_batch).logits) << "the mask decoder splits as well";
}

TEST(Version1, IsRecognisedByItsTensorsWhenTheFileDoesNotSay) {
  const Model model = load_edited(unshared(), Head::kNone, kOneThread, without_model_type(unshared()), to_version_1);
  EXPECT_EQ(model.config().layout, Layout::kV1);
  const auto leave = [](Tensors&) {};
  EXPECT_EQ(load_edited(unshared(), Head::kNone, kOneThread, without_model_type(unshared()), leave).config().layout,
            Layout::kV2);
  EXPECT_ERROR(load_edited(unshared(), Head::kNone, kOneThread, to_json(unshared()), to_version_1), kTensors,
               "query_proj.weight");
}

ModelConfig convolutional() {
  ModelConfig config = tiny_config();
  config.conv_kernel_size = 5;
  config.conv_groups = 2;
  config.conv_act = Activation::kSigmoid;
  return config;
}

TEST(Convolution, SequencesOfAPackDoNotSeeEachOther) {
  const Model model = load_tiny(convolutional());
  const std::vector<std::vector<int32_t>> rows = {make_ids(1, 7), {}, make_ids(2, 1), make_ids(3, 2), make_ids(4, 12)};
  std::vector<float> alone;
  for (const auto& row : rows) {
    const std::vector<float> hidden = last_hidden(model, make_batch({row}));
    alone.insert(alone.end(), hidden.begin(), hidden.end());
  }
  EXPECT_EQ(last_hidden(model, make_batch(rows)), alone);
  EXPECT_EQ(last_hidden(load_tiny(convolutional(), Head::kNone, {.threads = 3}), make_batch(rows)), alone);
}

TEST(Convolution, MaskedTokensAreZeroAfterIt) {
  Batch batch = make_batch({make_ids(1, 9), make_ids(2, 9)});
  batch.mask_T.assign(18, 1);
  batch.mask_T[4] = batch.mask_T[9] = 0;
  const std::vector<float> first = hidden_of(load_tiny(convolutional()), batch, 1);
  for (const size_t row : {4u, 9u}) EXPECT_EQ(slice(first, row * 16, row * 16 + 16), std::vector<float>(16, 0.0f));
  const std::vector<float> plain = hidden_of(load_tiny(tiny_config()), batch, 1);
  EXPECT_NE(slice(plain, 64, 80), std::vector<float>(16, 0.0f)) << "layers alone do not mask";
}

// Bits of a mask [L, L], L at most 64.
template <class Rule>
std::vector<uint64_t> make_mask(size_t length, Rule is_allowed) {
  std::vector<uint64_t> mask(length);
  for (size_t i = 0; i < length; ++i) {
    for (size_t j = 0; j < length; ++j) {
      if (is_allowed(i, j)) mask[i] |= uint64_t{1} << j;
    }
  }
  return mask;
}

TEST(Masks3d, AllowingAllIsNoMaskAndTheOuterProductIsThe2dMask) {
  for (const ModelConfig& config : {tiny_config(), convolutional()}) {
    const Model model = load_tiny(config);
    Batch plain = make_batch({make_ids(1, 10), make_ids(2, 6)});
    Batch all = plain;
    all.masks_B = {make_mask(10, [](size_t, size_t) { return true; }), {}};
    EXPECT_EQ(last_hidden(model, all), last_hidden(model, plain));
    plain.mask_T.assign(16, 1);
    plain.mask_T[3] = plain.mask_T[9] = 0;
    Batch outer = plain;
    outer.mask_T.clear();
    outer.masks_B = {make_mask(10, [](size_t i, size_t j) { return i != 3 && i != 9 && j != 3 && j != 9; }), {}};
    EXPECT_EQ(last_hidden(model, outer), last_hidden(model, plain));
  }
}

TEST(Masks3d, UnderACausalMaskATokenDoesNotSeeLaterOnes) {
  const Model model = load_tiny(tiny_config());
  std::vector<int32_t> ids = make_ids(1, 12);
  Batch batch = make_batch({ids});
  batch.masks_B = {make_mask(12, [](size_t i, size_t j) { return j <= i; })};
  const std::vector<float> before = last_hidden(model, batch);
  batch.ids_T[8] = 51 - batch.ids_T[8];
  const std::vector<float> after = last_hidden(model, batch);
  EXPECT_EQ(slice(after, 0, 8 * 16), slice(before, 0, 8 * 16));
  EXPECT_NE(slice(after, 8 * 16, 9 * 16), slice(before, 8 * 16, 9 * 16));
}

TEST(CausalModel, IsTheModelUnderACausalMask) {
  ModelConfig config = tiny_config();
  for (const Head head : {Head::kNone, Head::kMaskedLm}) {
    config.is_causal = false;
    const Model plain = load_tiny(config, head, {.threads = 1, .mask_decoder = MaskDecoder::kOff});
    config.is_causal = true;
    const Model causal = load_tiny(config, head);
    EXPECT_FALSE(causal.has_mask_decoder());
    Batch batch = make_batch({make_ids(1, 12), make_ids(2, 5)});
    ForwardResult expected, result;
    ForwardOptions options;
    options.layers = {2};
    if (head == Head::kMaskedLm) options.rows = {0, 3, 11, 12, 15};
    causal.forward(batch, options, result);
    const auto is_before = [](size_t i, size_t j) { return j <= i; };
    batch.masks_B = {make_mask(12, is_before), make_mask(5, is_before)};
    plain.forward(batch, options, expected);
    EXPECT_EQ(result.hidden[0].rows_TD, expected.hidden[0].rows_TD);
    EXPECT_EQ(result.logits, expected.logits);
  }
}

TEST(CausalModel, WithADecoderOfMaskedTokensOrAConvolutionIsRefused) {
  ModelConfig config = tiny_config();
  config.is_causal = true;
  EXPECT_ERROR(load_tiny(config, Head::kMaskedLm, {.mask_decoder = MaskDecoder::kOn}), kUnsupported,
               "mask decoder: is_decoder is true");
  config.conv_kernel_size = 3;
  EXPECT_ERROR(load_tiny(config), kUnsupported, "is_decoder with a convolution");
}

TEST(Masks3d, ATokenThatNoQuerySeesIsNoInputButStillAsks) {
  const Model model = load_tiny(tiny_config());
  Batch batch = make_batch({make_ids(1, 6), make_ids(2, 70)});
  batch.masks_B = {make_mask(6, [](size_t, size_t j) { return j != 2; }), {}};
  EXPECT_EQ(slice(hidden_of(model, batch, 0), 32, 48), std::vector<float>(16, 0.0f));
  const std::vector<float> before = last_hidden(model, batch);
  batch.ids_T[2] = 51 - batch.ids_T[2];
  EXPECT_EQ(last_hidden(model, batch), before);
  batch.ids_T[4] = 51 - batch.ids_T[4];
  EXPECT_NE(slice(last_hidden(model, batch), 32, 48), slice(before, 32, 48));
}

TEST(Masks3d, OfTheWrongSizeAreRefused) {
  const Model model = load_tiny(tiny_config());
  Batch batch = make_batch({make_ids(1, 6), make_ids(2, 70)});
  batch.masks_B.resize(1);
  EXPECT_ERROR(run(model, batch), kInput, "3-D masks: expected one for each of 2 sequences, got 1");
  batch.masks_B = {{}, std::vector<uint64_t>(70)};
  EXPECT_ERROR(run(model, batch), kInput, "row 1: 3-D mask: expected 140 words for 70 tokens, got 70");
}

// The distance itself, for a table without buckets.
std::vector<int32_t> make_distances(int32_t length, int32_t sign) {
  std::vector<int32_t> buckets;
  for (int32_t i = 0; i < length; ++i) {
    for (int32_t j = 0; j < length; ++j) buckets.push_back(sign * (i - j));
  }
  return buckets;
}

TEST(GivenPositions, DistancesGivenAreDistancesFound) {
  ModelConfig config = tiny_config();
  config.position_buckets = -1;
  const Model model = load_tiny(config);
  Batch batch = make_batch({make_ids(1, 9), make_ids(2, 12)});
  const std::vector<float> expected = last_hidden(model, batch);
  batch.given_length = 13;
  batch.given_buckets_LL = make_distances(13, 1);
  EXPECT_EQ(last_hidden(model, batch), expected);
  batch.given_buckets_LL = make_distances(13, -1);
  EXPECT_NE(last_hidden(model, batch), expected);
}

TEST(GivenPositions, OfTheWrongSizeAreRefused) {
  const Model model = load_tiny(tiny_config());
  Batch batch = make_batch({make_ids(1, 9)});
  batch.given_length = 9;
  batch.given_buckets_LL.resize(80);
  EXPECT_ERROR(run(model, batch), kInput, "relative positions: expected 9 x 9 bucket numbers, got 80");
  batch.given_length = 8;
  batch.given_buckets_LL.resize(64);
  EXPECT_ERROR(run(model, batch), kInput, "row 0: relative positions: expected at most 8 tokens, got 9");
  batch.given_length = -3;
  EXPECT_ERROR(run(model, batch), kInput, "relative positions");
  ModelConfig config = tiny_config();
  config.relative_attention = false;
  batch.given_length = 9;
  batch.given_buckets_LL.resize(81);
  EXPECT_ERROR(run(load_tiny(config), batch), kInput, "the model has no relative attention");
}

TEST(ReplacedToken, LogitsFollowTheFirstTokenOfTheirOwnSequence) {
  const Model model = load_tiny(tiny_config(), Head::kReplacedToken);
  EXPECT_EQ(model.labels(), 1);
  const ForwardResult alone = run(model, make_batch({make_ids(2, 5)}));
  const ForwardResult pack = run(model, make_batch({make_ids(1, 3), {}, make_ids(2, 5)}));
  ASSERT_EQ(pack.logits.size(), 8u);
  EXPECT_EQ(slice(pack.logits, 3, 8), alone.logits);
}

TEST(Mentions, OfOnePieceAreTheTokenAndWithoutPiecesHaveNoChance) {
  const Model model = load_tiny(tiny_config(), Head::kTokenOriginal, kOneThread, 1);
  const Batch batch = make_batch({make_ids(1, 4), make_ids(2, 6)});
  const ForwardResult tokens = run(model, batch);
  ForwardOptions options;
  options.groups = {{0, {2}}, {1, {}}, {1, {7}}, {1, {7, 8}}};
  const ForwardResult mentions = run(model, batch, options);
  ASSERT_EQ(mentions.logits_rows, 4u);
  EXPECT_EQ(mentions.logits[0], tokens.logits[2]);
  EXPECT_EQ(mentions.logits[1], -10000);
  EXPECT_EQ(mentions.logits[2], tokens.logits[7]);
  EXPECT_NE(mentions.logits[3], tokens.logits[7]);
}

TEST(Mentions, OfSeveralClassesHaveARowOfThemEach) {
  const Model model = load_tiny(tiny_config(), Head::kTokenOriginal);
  const Batch batch = make_batch({make_ids(1, 4), make_ids(2, 6)});
  ForwardOptions options;
  options.groups = {{0, {2}}, {1, {}}};
  const ForwardResult mentions = run(model, batch, options);
  ASSERT_EQ(mentions.logits_rows, 2u);
  EXPECT_EQ(slice(mentions.logits, 0, 3), slice(run(model, batch).logits, 6, 9));
  EXPECT_EQ(slice(mentions.logits, 3, 6), std::vector<float>(3, -10000));
}

TEST(Mentions, OutsideTheirSequenceOrForAnotherHeadAreRefused) {
  const Batch batch = make_batch({make_ids(1, 4), make_ids(2, 6)});
  const Model model = load_tiny(tiny_config(), Head::kTokenOriginal, kOneThread, 1);
  ForwardOptions options;
  options.groups = {{0, {1}}, {1, {3}}};
  EXPECT_ERROR(run(model, batch, options), kInput, "group 1: expected rows 4 to 9 of sequence 1, got 3");
  options.groups = {{2, {}}};
  EXPECT_ERROR(run(model, batch, options), kInput, "group 0: expected a sequence below 2, got 2");
  options.groups = {{0, {1}}};
  EXPECT_ERROR(run(load_tiny(tiny_config(), Head::kToken), batch, options), kInput,
               "groups: expected a head that takes groups of rows, got the head token");
  options.rows = {1};
  EXPECT_ERROR(run(model, batch, options), kInput, "groups: expected rows or groups, got both");
}

TEST(Rows, AreRefusedByHeadsThatReadNoTokens) {
  const Batch batch = make_batch({make_ids(1, 4), make_ids(2, 6)});
  ForwardOptions options;
  options.rows = {1};
  EXPECT_ERROR(run(load_tiny(tiny_config(), Head::kSequence), batch, options), kInput,
               "rows: expected a head that reads tokens, got the head sequence");
  EXPECT_ERROR(run(load_tiny(tiny_config()), batch, options), kInput, "got the head none");
}

}  // namespace
}  // namespace deberta::variants_test

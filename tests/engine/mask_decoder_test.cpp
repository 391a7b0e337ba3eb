// When the mask decoder runs, what it reads, and its limits. Its numbers: golden_test.cpp, original_goldens_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/engine_case.h"
#include "support/expect_error.h"

namespace deberta::mask_decoder_test {
namespace {

using namespace test;

constexpr const char* kTable = "deberta.embeddings.position_embeddings.weight";

Model load_with(MaskDecoder mask_decoder, const ModelConfig& config = tiny_config(), Head head = Head::kMaskedLm) {
  return load_tiny(config, head, {.threads = 1, .mask_decoder = mask_decoder});
}

Model load_without_table(MaskDecoder mask_decoder) {
  return load_edited(tiny_config(), Head::kMaskedLm, {.threads = 1, .mask_decoder = mask_decoder},
                     to_json(tiny_config()), [](Tensors& tensors) { tensors.erase(kTable); });
}

ModelConfig position_biased() {
  ModelConfig config = tiny_config();
  config.position_biased_input = true;
  return config;
}

TEST(MaskDecoder, RunsWhereTheTableIsAndPositionsAreNotAlreadyInTheInput) {
  EXPECT_TRUE(load_with(MaskDecoder::kAuto).has_mask_decoder());
  EXPECT_TRUE(load_with(MaskDecoder::kOn).has_mask_decoder());
  EXPECT_FALSE(load_with(MaskDecoder::kOff).has_mask_decoder());
  EXPECT_FALSE(load_with(MaskDecoder::kAuto, position_biased()).has_mask_decoder());
  EXPECT_FALSE(load_with(MaskDecoder::kAuto, tiny_config(), Head::kSequence).has_mask_decoder());
  EXPECT_FALSE(load_without_table(MaskDecoder::kAuto).has_mask_decoder());
}

TEST(MaskDecoder, AskedForWhereItCannotRunIsAnErrorWithTheReason) {
  EXPECT_ERROR(load_without_table(MaskDecoder::kOn), kUnsupported,
               "mask decoder: the weights have no embeddings.position_embeddings.weight");
  EXPECT_ERROR(load_with(MaskDecoder::kOn, position_biased()), kUnsupported, "position_biased_input is true");
  EXPECT_ERROR(load_with(MaskDecoder::kOn, tiny_config(), Head::kToken), kUnsupported,
               "expected a masked language model");
}

TEST(MaskDecoder, NeedsTwoLayersAndTablesAsWideAsTheModel) {
  ModelConfig config = tiny_config();
  config.num_hidden_layers = 1;
  EXPECT_ERROR(load_with(MaskDecoder::kAuto, config), kUnsupported, "expected at least 2 layers");
  EXPECT_FALSE(load_with(MaskDecoder::kOff, config).has_mask_decoder());
  config = tiny_config();
  config.embedding_size = 8;
  EXPECT_ERROR(load_with(MaskDecoder::kAuto, config), kUnsupported, "expected embedding_size equal to hidden_size 16");
}

TEST(MaskDecoder, RunsAsManyPassesAsTheFileSays) {
  const Batch batch = make_batch({make_ids(1, 9), make_ids(2, 4)});
  std::vector<std::vector<float>> logits;
  for (const int64_t passes : {0, 1, 2, 3}) {
    ModelConfig config = tiny_config();
    config.mask_decoder_passes = passes;
    const Model model = load_with(MaskDecoder::kAuto, config);
    EXPECT_EQ(model.has_mask_decoder(), passes > 0);
    logits.push_back(run(model, batch).logits);
  }
  EXPECT_EQ(logits[0], run(load_with(MaskDecoder::kOff), batch).logits);
  EXPECT_EQ(logits[2], run(load_with(MaskDecoder::kAuto), batch).logits);
  for (size_t passes = 1; passes < 4; ++passes) EXPECT_NE(logits[passes], logits[passes - 1]);
  ModelConfig none = tiny_config();
  none.mask_decoder_passes = 0;
  EXPECT_ERROR(load_with(MaskDecoder::kOn, none), kUnsupported, "mask_decoder_passes is 0");
}

TEST(MaskDecoder, OffAndWithoutATableTheHeadStandsOnTheLastLayer) {
  const Batch batch = make_batch({make_ids(1, 9), make_ids(2, 4)});
  const ForwardResult off = run(load_with(MaskDecoder::kOff), batch);
  EXPECT_EQ(off.logits, run(load_without_table(MaskDecoder::kAuto), batch).logits);
  EXPECT_NE(off.logits, run(load_with(MaskDecoder::kAuto), batch).logits);
}

TEST(MaskDecoder, SkippedForOnePassTheHeadStandsOnTheLastLayer) {
  const Batch batch = make_batch({make_ids(1, 9), make_ids(2, 4)});
  const Model model = load_with(MaskDecoder::kOn), off = load_with(MaskDecoder::kOff);
  ForwardOptions options;
  options.skips_mask_decoder = true;
  EXPECT_EQ(run(model, batch, options).logits, run(off, batch).logits);
  options.rows = {3, 10};
  EXPECT_EQ(run(model, batch, options).logits, run(off, batch, options).logits);
  options.layers = {1, 2};
  EXPECT_EQ(run(model, batch, options).logits, run(off, batch, options).logits);
  EXPECT_EQ(run(model, batch).logits, run(load_with(MaskDecoder::kAuto), batch).logits) << "the next pass is as before";
  options.rows.clear();
  options.wants_decoder_scores = true;
  EXPECT_ERROR(run(model, batch, options), kInput, "wants_decoder_scores: expected a mask decoder that runs");
}

TEST(MaskDecoder, TheLastHiddenStateIsTheOrdinaryOneAndAskingChangesNoLogit) {
  const Batch batch = make_batch({make_ids(1, 9), make_ids(2, 4)});
  const Model model = load_with(MaskDecoder::kOn);
  ForwardOptions options;
  options.layers = {1, 2};
  const ForwardResult both = run(model, batch, options);
  const ForwardResult plain = run(load_with(MaskDecoder::kOff), batch, options);
  EXPECT_EQ(both.hidden[0].rows_TD, plain.hidden[0].rows_TD);
  EXPECT_EQ(both.hidden[1].rows_TD, plain.hidden[1].rows_TD);
  EXPECT_EQ(both.logits, run(model, batch).logits);
  EXPECT_TRUE(run(model, batch).hidden.empty());
}

TEST(MaskDecoder, ScoresAreThoseOfTheOrdinaryLayers) {
  const Batch batch = make_batch({make_ids(1, 5)});
  ForwardOptions options;
  options.wants_scores = true;
  const auto with = run(load_with(MaskDecoder::kOn), batch, options).scores;
  const auto without = run(load_with(MaskDecoder::kOff), batch, options).scores;
  ASSERT_EQ(with.size(), 2u);
  EXPECT_EQ(with[1].layer, 2);
  EXPECT_EQ(with[1].probabilities_HLL, without[1].probabilities_HLL);
}

// Where the table of positions is zero, the first pass is the ordinary last layer; the second reads what it gave.
TEST(MaskDecoder, ScoresOfItsPassesAreGivenToo) {
  const Batch batch = make_batch({make_ids(1, 5), make_ids(2, 3)});
  ForwardOptions options;
  options.wants_scores = options.wants_decoder_scores = true;
  const Model model = load_changed(tiny_config(), Head::kMaskedLm, {.threads = 1, .mask_decoder = MaskDecoder::kOn},
                                   [](const std::string& name, std::vector<float>& values) {
                                     if (name == kTable) std::fill(values.begin(), values.end(), 0.0f);
                                   });
  const ForwardResult result = run(model, batch, options);
  ASSERT_EQ(result.decoder_scores.size(), 4u);  // of two sequences in two passes
  for (size_t sequence = 0; sequence < 2; ++sequence) {
    const AttentionScores& first = result.decoder_scores[sequence];
    const AttentionScores& second = result.decoder_scores[2 + sequence];
    const AttentionScores& ordinary = result.scores[2 + sequence];
    EXPECT_EQ(first.layer, 1);
    EXPECT_EQ(second.layer, 2);
    EXPECT_EQ(first.sequence, static_cast<int32_t>(sequence));
    EXPECT_EQ(ordinary.layer, 2);
    EXPECT_EQ(first.c2c_HLL, ordinary.c2c_HLL);
    EXPECT_EQ(first.c2p_HLL, ordinary.c2p_HLL);
    EXPECT_EQ(first.probabilities_HLL, ordinary.probabilities_HLL);
    EXPECT_NE(second.c2c_HLL, first.c2c_HLL);
    EXPECT_EQ(second.p2c_HLL, first.p2c_HLL) << "keys stay the hidden states";
  }
  EXPECT_EQ(result.logits, run(model, batch).logits);
  EXPECT_TRUE(run(model, batch).decoder_scores.empty());
}

TEST(MaskDecoder, ScoresOfItsPassesNeedItForAllRows) {
  const Batch batch = make_batch({make_ids(1, 5)});
  ForwardOptions options;
  options.wants_decoder_scores = true;
  EXPECT_ERROR(run(load_with(MaskDecoder::kOff), batch, options), kInput, "expected a mask decoder");
  options.rows = {2};
  EXPECT_ERROR(run(load_with(MaskDecoder::kOn), batch, options), kInput, "that runs for all rows");
  options.rows.clear();
  options.wants_logits = false;
  EXPECT_ERROR(run(load_with(MaskDecoder::kOn), batch, options), kInput, "expected a mask decoder");
}

// Requested rows, in a pack with a hole, an empty sequence and a sequence with no requested row.
TEST(MaskDecoder, ChosenRowsAreThoseOfAllRows) {
  Batch batch = make_batch({make_ids(1, 6), {}, make_ids(2, 7), make_ids(3, 3)});
  batch.mask_T.assign(16, 1);
  batch.mask_T[2] = batch.mask_T[8] = 0;
  batch.masks_B.resize(4);
  batch.masks_B[3] = {0b001, 0b011, 0b111};
  const Model model = load_with(MaskDecoder::kOn);
  const ForwardResult all = run(model, batch);
  for (const std::vector<int32_t>& rows : std::vector<std::vector<int32_t>>{{0, 5, 7, 12}, {2, 8, 14, 15}, {13}}) {
    ForwardOptions options;
    options.rows = rows;
    const ForwardResult some = run(model, batch, options);
    ASSERT_EQ(some.logits_rows, rows.size());
    for (size_t n = 0; n < rows.size(); ++n) {
      const auto row = static_cast<size_t>(rows[n]);
      EXPECT_EQ(slice(some.logits, n * 50, n * 50 + 50), slice(all.logits, row * 50, row * 50 + 50)) << row;
    }
  }
}

TEST(MaskDecoder, ReadsThePositionsGiven) {
  const Model model = load_with(MaskDecoder::kOn);
  Batch batch = make_batch({make_ids(1, 5)});
  const ForwardResult before = run(model, batch);
  batch.position_ids_T = {0, 1, 2, 3, 4};
  EXPECT_EQ(run(model, batch).logits, before.logits);
  batch.position_ids_T = {0, 1, 9, 3, 4};
  const ForwardResult after = run(model, batch);
  EXPECT_EQ(slice(after.logits, 0, 100), slice(before.logits, 0, 100)) << "keys carry no position";
  EXPECT_NE(slice(after.logits, 100, 150), slice(before.logits, 100, 150));
}

TEST(MaskDecoder, PositionsEndWhereTheTableEnds) {
  const Model model = load_with(MaskDecoder::kOn);
  EXPECT_EQ(run(model, make_batch({make_ids(1, 16)})).logits_rows, 16u);
  EXPECT_ERROR(run(model, make_batch({{1}, make_ids(1, 17)})), kInput, "row 1: expected at most 16 tokens");
  Batch batch = make_batch({{1, 2}});
  batch.position_ids_T = {0, 16};
  EXPECT_ERROR(run(model, batch), kInput, "position: expected 0 to 15");
  EXPECT_EQ(last_hidden(model, make_batch({make_ids(1, 17)})).size(), 272u) << "hidden states read no table";
  EXPECT_EQ(run(load_with(MaskDecoder::kOff), make_batch({make_ids(1, 17)})).logits_rows, 17u);
}

}  // namespace
}  // namespace deberta::mask_decoder_test

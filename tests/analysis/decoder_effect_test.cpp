// The mask decoder with its own positions, with others and without it, on a tiny model.
#include <gtest/gtest.h>

#include <cmath>

#include "deberta/analysis.h"
#include "decode/text_score.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/tiny_pipeline.h"

namespace deberta::decoder_effect_test {
namespace {

class DecoderEffect : public testing::Test {
 protected:
  const test::TemporaryFolder folder_;
  const Pipeline pipeline_ = test::tiny_pipeline(folder_, Head::kMaskedLm, {}, 0);
  const Model plain_ = Model::load(Checkpoint::open(folder_.path()), pipeline_.config,
                                   {.threads = 1, .mask_decoder = MaskDecoder::kOff});
  const int32_t mask_ = pipeline_.tokenizer.special().mask;

  Encoding encode(const std::string& text) const { return pipeline_.tokenizer.encode(text); }

  // Logits of one row.
  std::vector<float> logits_of(const Model& model, const Encoding& encoding, size_t token,
                               std::vector<int32_t> positions = {}) const {
    Batch batch;
    batch.add(encoding.ids, encoding.type_ids);
    batch.position_ids_T = std::move(positions);
    ForwardOptions options;
    options.rows = {static_cast<int32_t>(token)};
    ForwardResult result;
    model.forward(batch, options, result);
    return result.logits;
  }
};

TEST_F(DecoderEffect, ShiftsMoveLogitsAndNoHiddenState) {
  const Encoding encoding = encode("a [MASK] b");
  const auto effect = decoder_effect(pipeline_.model, encoding, mask_, 2);
  ASSERT_EQ(effect.masks.size(), 1u);
  EXPECT_FALSE(effect.swapped.has_value());
  std::vector<int32_t> positions;
  for (size_t i = 0; i < encoding.size(); ++i) positions.push_back(static_cast<int32_t>(i) + 2);
  EXPECT_EQ(effect.with.logits_MV, logits_of(pipeline_.model, encoding, effect.masks[0]));
  EXPECT_EQ(effect.without.logits_MV, logits_of(plain_, encoding, effect.masks[0]));
  EXPECT_EQ(effect.shifted.logits_MV, logits_of(pipeline_.model, encoding, effect.masks[0], positions));
  EXPECT_NE(effect.shifted.logits_MV, effect.with.logits_MV);
  EXPECT_EQ(effect.shifted.hidden_change, 0);
  EXPECT_EQ(effect.without.hidden_change, 0);
}

TEST_F(DecoderEffect, TwoMasksMayHaveEachOthersPositions) {
  const Encoding encoding = encode("[MASK] a [MASK]");
  const auto effect = decoder_effect(pipeline_.model, encoding, mask_, 0);
  ASSERT_EQ(effect.masks.size(), 2u);
  ASSERT_TRUE(effect.swapped.has_value());
  EXPECT_EQ(effect.shifted.logits_MV, effect.with.logits_MV) << "by nothing";
  EXPECT_NE(effect.swapped->logits_MV, effect.with.logits_MV);
  EXPECT_EQ(effect.swapped->hidden_change, 0);
}

TEST_F(DecoderEffect, RefusesWhatItCannotShow) {
  EXPECT_ERROR(decoder_effect(pipeline_.model, encode("a b"), mask_, 1), kInput, "at least one mask token");
  EXPECT_ERROR(decoder_effect(pipeline_.model, encode("a [MASK]"), mask_, 17), kInput, "shift: expected 0..");
  EXPECT_ERROR(decoder_effect(plain_, encode("a [MASK]"), mask_, 1), kTask, "or it was switched off");
  EXPECT_ERROR(decoder_terms(plain_, encode("a")), kTask, "mask decoder: expected a masked language model");
}

TEST_F(DecoderEffect, TermsAreThoseOfEachPass) {
  const Encoding encoding = encode("a [MASK] b");
  const AttentionTerms terms = decoder_terms(pipeline_.model, encoding);
  ASSERT_EQ(terms.layers.size(), 2u);
  EXPECT_EQ(terms.layers[1].layer, 2);
  EXPECT_EQ(terms.tokens, encoding.size());
  const std::vector<int32_t> wanted{2};
  const AttentionTerms last = attention_terms(pipeline_.model, encoding, wanted);
  EXPECT_EQ(terms.layers[0].p2c_HLL, last.layers[0].p2c_HLL) << "keys are those of the last layer";
  EXPECT_NE(terms.layers[0].c2c_HLL, last.layers[0].c2c_HLL);
}

// The pieces of a word from left to right, the later ones masked.
TEST_F(DecoderEffect, AWordIsScoredPieceByPiece) {
  const std::string text = "a [MASK] b";
  const auto fillings = word_fillings(pipeline_.model, pipeline_.tokenizer, text, {"xyz", "b"});
  ASSERT_EQ(fillings.size(), 2u);
  EXPECT_EQ(fillings[0].words, std::vector<std::string>{"xyz"});
  const Encoding encoding = encode("a xyz b");
  std::vector<size_t> of_word;
  for (size_t i = 0; i < encoding.size(); ++i) {
    const Offset& bytes = encoding.bytes[i];
    const bool is_start = bytes == Offset{2, 2};
    if (encoding.is_special[i] == 0 && (is_start || (bytes.begin < 5 && bytes.end > 2))) of_word.push_back(i);
  }
  ASSERT_GT(of_word.size(), 1u);
  double expected = 0;
  for (size_t first = 0; first < of_word.size(); ++first) {
    Encoding copy = encoding;
    for (size_t later = first; later < of_word.size(); ++later) copy.ids[of_word[later]] = mask_;
    expected += log_probability(logits_of(plain_, copy, of_word[first]), encoding.ids[of_word[first]]);
  }
  EXPECT_NEAR(fillings[0].without, expected, 1e-5);
  EXPECT_NE(fillings[0].with, fillings[0].without);
}

TEST_F(DecoderEffect, WordsComeInEveryOrder) {
  const auto all = word_fillings(pipeline_.model, pipeline_.tokenizer, "[MASK] [MASK]", {"a", "b", "c"});
  std::vector<std::string> orders;
  for (const WordFilling& one : all) orders.push_back(one.words[0] + one.words[1]);
  EXPECT_EQ(orders, (std::vector<std::string>{"ab", "ac", "ba", "bc", "ca", "cb"}));
  EXPECT_ERROR(word_fillings(pipeline_.model, pipeline_.tokenizer, "[MASK] [MASK]", {"a"}), kInput,
               "words: expected a word for each of 2 masks, got 1");
  EXPECT_ERROR(word_fillings(pipeline_.model, pipeline_.tokenizer, "a", {"a"}), kInput, "at least one mask");
  EXPECT_ERROR(word_fillings(pipeline_.model, pipeline_.tokenizer, "[MASK] a", {" "}), kInput,
               "words: expected words of the tokenizer");
}

// Many copies of a text run in several passes, with the bits of one.
TEST_F(DecoderEffect, AWayIsScoredAsByItself) {
  const std::vector<std::string> letters{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  const auto all = word_fillings(pipeline_.model, pipeline_.tokenizer, "[MASK] or [MASK]", letters);
  ASSERT_EQ(all.size(), 90u);
  const auto last = word_fillings(pipeline_.model, pipeline_.tokenizer, "[MASK] or [MASK]", {"j", "i"}).front();
  EXPECT_EQ(all.back().words, last.words);
  EXPECT_EQ(all.back().with, last.with);
  EXPECT_EQ(all.back().without, last.without);
}

TEST_F(DecoderEffect, WordsRunNoLongerThanTheyMay) {
  const size_t tokens = encode("a b c").size();
  const auto fill = [&](const std::vector<std::string>& words, size_t most) {
    return word_fillings(pipeline_.model, pipeline_.tokenizer, "a [MASK] c", words, {.most_tokens = most});
  };
  const size_t one = fill({"b"}, SIZE_MAX).size();
  EXPECT_EQ(one, 1u);
  EXPECT_ERROR(fill({"b"}, tokens - 1), kInput, "words: expected words whose pieces are predicted in at most");
  EXPECT_ERROR(fill({"a", "b", "c", "d", "e", "f"}, 2 * tokens), kInput, "give fewer or shorter ones");
  EXPECT_ERROR(fill(std::vector<std::string>(121, "a"), SIZE_MAX), kInput, "words: expected at most 120 ways");
}

}  // namespace
}  // namespace deberta::decoder_effect_test

// A head of the tests' own (support/word_spans.h) in the engine: what its facts say is asked for, refused and computed.
#include <gtest/gtest.h>

#include <cmath>

#include "checkpoint/tensor_table.h"
#include "engine/engine_case.h"
#include "engine/memory_check.h"
#include "support/expect_error.h"
#include "support/word_spans.h"

namespace deberta::word_span_test {
namespace {

using namespace test;

ForwardOptions asked_for(std::vector<TokenGroup> spans) {
  ForwardOptions options;
  options.groups = std::move(spans);
  return options;
}

TEST(WordSpans, HaveTheLogitsOfTheirFirstAndLastToken) {
  const ModelConfig config = tiny_config();
  const TemporaryFolder folder;
  write_word_spans(folder.path(), config);
  Tensors tensors = read_tensors(folder.path("model.safetensors"));
  const std::vector<float>& weight_CD = tensors["classifier.weight"].values;
  const std::vector<float>& bias_C = tensors["classifier.bias"].values;
  ASSERT_EQ(weight_CD.size(), 3 * 2 * 16u);

  const Model model = load_word_spans(config);
  const Batch batch = make_batch({make_ids(1, 6), make_ids(2, 9)});
  const std::vector<float> hidden_TD = last_hidden(model, batch);
  const std::vector<TokenGroup> spans = {{0, {1, 3}}, {0, {2, 2}}, {1, {7, 14}}};
  const ForwardResult result = run(model, batch, asked_for(spans));
  ASSERT_EQ(result.logits_rows, 3u);
  ASSERT_EQ(result.logits_columns, 3u);
  for (size_t n = 0; n < spans.size(); ++n) {
    for (size_t c = 0; c < 3; ++c) {
      double expected = double{bias_C[c]};
      for (size_t end = 0; end < 2; ++end) {
        for (size_t d = 0; d < 16; ++d)
          expected += double{weight_CD[(c * 2 + end) * 16 + d]} *
                      double{hidden_TD[static_cast<size_t>(spans[n].rows[end]) * 16 + d]};
      }
      EXPECT_NEAR(result.logits[n * 3 + c], expected, 1e-5) << n << ", " << c;
    }
  }
  EXPECT_EQ(run(model, batch).logits_rows, 0u) << "no span, no logits";
}

TEST(WordSpans, AreThoseAloneInAnyPack) {
  const Model model = load_word_spans(with_fast_heads(), {.threads = 2});
  const ForwardResult pack = run(model, make_batch({make_ids(1, 6), make_ids(2, 9)}), asked_for({{1, {7, 14}}}));
  const ForwardResult alone = run(model, make_batch({make_ids(2, 9)}), asked_for({{0, {1, 8}}}));
  EXPECT_EQ(pack.logits, alone.logits);
}

TEST(WordSpans, AreRefusedWhereTheirFactsSaySo) {
  const Model model = load_word_spans(tiny_config());
  const Batch batch = make_batch({make_ids(1, 6), make_ids(2, 9)});
  EXPECT_ERROR(run(model, batch, asked_for({{0, {1, 3}}, {0, {1}}})), kInput,
               "group 1: expected the first and the last row of a span, got 1 rows");
  EXPECT_ERROR(run(model, batch, asked_for({{0, {1, 6}}})), kInput,
               "group 0: expected rows 0 to 5 of sequence 0, got 6");
  ForwardOptions rows;
  rows.rows = {1};
  EXPECT_ERROR(run(model, batch, rows), kInput, "rows: expected a head that reads tokens, got the head word-span");
}

TEST(WordSpans, HaveTheTensorsOfTheirFacts) {
  const ModelConfig config = tiny_config();
  const TemporaryFolder folder;
  write_word_spans(folder.path(), config);
  const Checkpoint checkpoint = Checkpoint::open(folder.path());
  EXPECT_TRUE(compare_tensors(checkpoint, config, word_span_facts(), "model").errors.empty());
  EXPECT_FALSE(compare_tensors(checkpoint, config, facts_of(Head::kToken), "model").errors.empty()) << "[C, D]";
  const Variant spans{config, word_span_head(), false}, none{config, {&facts_of(Head::kNone), nullptr, nullptr}, false};
  EXPECT_EQ(estimate_weight_bytes(checkpoint, spans) - estimate_weight_bytes(checkpoint, none),
            (3 * 2 * 16 + 3) * sizeof(float));
}

TEST(WordSpans, AreDecodedToTheirBestClass) {
  const std::vector<float> logits_NC = {2, 1, 0, 0, 3, 1, -1, -2, 4};
  const std::vector<WordSpan> spans = decode_word_spans(logits_NC, 3);
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].number, 1u);
  EXPECT_EQ(spans[0].label, 1u);
  EXPECT_EQ(spans[1].number, 2u);
  EXPECT_EQ(spans[1].label, 2u);
  EXPECT_EQ(spans[1].logit, 4);
}

}  // namespace
}  // namespace deberta::word_span_test

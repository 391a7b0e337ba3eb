// From texts to answers, on tiny random models with a real tokenizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "deberta/pipeline.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/problem_of.h"
#include "support/tiny_model.h"

namespace deberta::heads_test {
namespace {

// Each test has its own model directory; the vocabulary is larger than the tokenizer's, as in published files.
class Heads : public testing::Test {
 protected:
  Pipeline make(Head head, int64_t labels = 3) { return make(test::tiny_config(), head, labels); }
  Pipeline make(ModelConfig config, Head head, int64_t labels = 3) {
    config.vocab_size = 1100;
    config.labels = {"negative", "neutral", "positive"};
    test::write_tiny_model(folder_.path(), config, head, labels);
    std::filesystem::copy(test::fixture("tokenizer/bytes.model"), folder_.path("spm.model"),
                          std::filesystem::copy_options::overwrite_existing);
    return open_pipeline(folder_.path(), {.threads = 2});
  }
  test::TemporaryFolder folder_;
};

// The texts must outlive the inputs.
std::vector<TextInput> inputs_of(const std::vector<std::string>& texts) {
  std::vector<TextInput> inputs;
  for (const std::string& text : texts) inputs.push_back({text, {}});
  return inputs;
}

TEST_F(Heads, AnAnswerDoesNotDependOnItsBatch) {
  const Pipeline pipeline = make(Head::kSequence);
  std::vector<std::string> texts;
  for (size_t i = 0; i < 12; ++i) texts.push_back("a text of some length " + std::string(i * 9 % 40, 'x'));
  const auto inputs = inputs_of(texts);
  SequenceOptions options;
  options.function = ScoreFunction::kNone;
  options.top_k = 3;
  const auto together = classify(pipeline, inputs, options);
  options.rules.batch_tokens = 20;
  const auto packs = classify(pipeline, inputs, options);
  ASSERT_EQ(together.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto alone = classify(pipeline, std::span(inputs).subspan(i, 1), options).at(0);
    for (size_t c = 0; c < 3; ++c) {
      EXPECT_EQ(together[i].labels[c].label, alone.labels[c].label);
      EXPECT_EQ(together[i].labels[c].score, alone.labels[c].score);
      EXPECT_EQ(packs[i].labels[c].score, alone.labels[c].score);
    }
  }
}

TEST_F(Heads, APairGoesInWithItsTypesAndOrder) {
  const Pipeline pipeline = make(Head::kSequence);
  SequenceOptions options;
  options.function = ScoreFunction::kNone;
  const TextInput forward[] = {{"one text", "another one"}};
  const TextInput backward[] = {{"another one", "one text"}};
  EXPECT_NE(classify(pipeline, forward, options)[0].labels[0].score,
            classify(pipeline, backward, options)[0].labels[0].score);
}

TEST_F(Heads, LongTextsAreCutAndCountedOrRefused) {
  const Pipeline pipeline = make(Head::kSequence);
  const std::vector<std::string> texts{"word word word word word word word word word word word word"};
  const auto inputs = inputs_of(texts);
  SequenceOptions options;
  options.rules.encode.max_tokens = 6;
  options.rules.encode.truncate = Truncate::kRight;
  const SequenceAnswer cut = classify(pipeline, inputs, options).at(0);
  EXPECT_EQ(cut.tokens, 6u);
  EXPECT_GT(cut.cut_tokens, 0u);
  options.rules.long_text = LongText::kRefuse;
  EXPECT_ERROR(classify(pipeline, inputs, options), kTextTooLong, "expected at most 6 tokens, got");
}

TEST_F(Heads, AnErrorSaysWhichInputWhichArgumentAndWhichLimit) {
  const Pipeline pipeline = make(Head::kSequence);
  const std::vector<std::string> texts{"word", "word word word word word word word word"};
  const auto inputs = inputs_of(texts);
  SequenceOptions options;
  options.rules.encode.max_tokens = 6;
  options.rules.long_text = LongText::kRefuse;
  const Problem too_long = test::problem_of([&] { classify(pipeline, inputs, options); });
  EXPECT_EQ(too_long.where, "text");
  EXPECT_EQ(too_long.argument, "max_tokens");
  EXPECT_EQ(too_long.limit, 6u);
  EXPECT_EQ(too_long.input, 1u);
  ASSERT_EQ(too_long.remedies.size(), 2u);
  EXPECT_EQ(too_long.remedies[1].argument, "truncate");
  EXPECT_ERROR(classify(pipeline, inputs, options), kTextTooLong, "split it or cut it with truncate=right");

  options.rules.long_text = LongText::kWindow;
  options.rules.stride = 4;
  const Problem stride = test::problem_of([&] { classify(pipeline, inputs, options); });
  EXPECT_EQ(stride.where, "");
  EXPECT_EQ(stride.argument, "stride");
  EXPECT_EQ(stride.limit, 4u);
  EXPECT_EQ(stride.input, 1u);

  const TextInput pair{"a", "b"};
  const Problem labels = test::problem_of([&] { nli(pipeline, {&pair, 1}); });
  EXPECT_EQ(labels.where, "nli");
  EXPECT_EQ(labels.argument, "label_map");
  EXPECT_FALSE(labels.input);
  ASSERT_EQ(labels.remedies.size(), 1u);
  EXPECT_EQ(labels.remedies[0].value, "contradiction,neutral,entailment");
}

TEST_F(Heads, AHeadOfAnotherKindIsRefused) {
  EXPECT_ERROR(classify(make(Head::kMaskedLm), {}), kTask, "expected a sequence classification head");
  EXPECT_ERROR(fill(make(Head::kSequence), {}), kTask, "expected a masked language model head");
}

TEST_F(Heads, ACausalLanguageModelFillsNothing) {
  ModelConfig config = test::tiny_config();
  config.is_causal = true;
  const Pipeline pipeline = make(config, Head::kMaskedLm);
  constexpr const char* kRefusal =
      "expected a masked language model head, got causal-lm; verbs for this model: eval, embed";
  EXPECT_ERROR(fill(pipeline, {}), kTask, kRefusal);
  EXPECT_ERROR(score_text(pipeline, {}, {}), kTask, kRefusal);
}

TEST_F(Heads, EveryMaskIsFilledFromItsOwnRow) {
  const Pipeline pipeline = make(Head::kMaskedLm);
  const std::vector<std::string> texts{"one [MASK] two [MASK] three", "[MASK]"};
  const auto inputs = inputs_of(texts);
  const auto answers = fill(pipeline, inputs);
  ASSERT_EQ(answers.size(), 2u);
  ASSERT_EQ(answers[0].masks.size(), 2u);
  ASSERT_EQ(answers[1].masks.size(), 1u);
  EXPECT_NE(answers[0].masks[0].tokens[0].logit, answers[0].masks[1].tokens[0].logit);
  const auto alone = fill(pipeline, std::span(inputs).subspan(1, 1));
  EXPECT_EQ(alone[0].masks[0].tokens[0].logit, answers[1].masks[0].tokens[0].logit);
  for (const FilledToken& token : answers[0].masks[0].tokens) {
    EXPECT_LT(static_cast<size_t>(token.token), pipeline.tokenizer.size());
  }
}

TEST_F(Heads, FillNeedsAMask) {
  const Pipeline pipeline = make(Head::kMaskedLm);
  const std::vector<std::string> without{"no mask"}, late{"some words before the [MASK]"};
  EXPECT_ERROR(fill(pipeline, inputs_of(without)), kInput, "expected at least one mask token");
  FillOptions options;
  options.rules.encode.max_tokens = 4;
  options.rules.encode.truncate = Truncate::kRight;
  EXPECT_ERROR(fill(pipeline, inputs_of(late), options), kInput, "raise max_tokens");
}

TEST_F(Heads, TargetsAreWordsOfOneToken) {
  const Pipeline pipeline = make(Head::kMaskedLm);
  const Tokenizer& tokenizer = pipeline.tokenizer;
  const auto ids = target_ids(tokenizer, {"house"});
  ASSERT_EQ(ids.size(), 1u);
  EXPECT_EQ(tokenizer.piece(ids[0]), "\xE2\x96\x81house");
  const std::vector<int32_t> begins = target_ids(tokenizer, {"a"}), written = target_ids(tokenizer, {"a"}, true);
  EXPECT_EQ(tokenizer.piece(begins[0]),
            "\xE2\x96\x81"
            "a");
  EXPECT_EQ(tokenizer.piece(written[0]), "a");             // as transformers looks it up
  EXPECT_EQ(target_ids(tokenizer, {"house"}, true), ids);  // no piece without the mark
  EXPECT_ERROR(target_ids(tokenizer, {"antidisestablishmentarianism"}), kInput, "expected words that are one token");
}

TEST(PipelineOpening, AMissingFolderIsSaidBeforeAnythingElse) {
  EXPECT_ERROR(open_pipeline("/nonexistent/model"), kFileNotFound, "no such model directory");
}

}  // namespace
}  // namespace deberta::heads_test

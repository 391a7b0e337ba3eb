// Language models on lines of text: masked pieces, and every piece from those before it.
#include "eval/language_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "eval/eval_case.h"
#include "support/expect_error.h"

namespace deberta::language_model_test {
namespace {

class Masked : public test::EvalCase {
 protected:
  LanguageModelSettings settings(const std::string& text) { return {.input = {.files = {write("lines.txt", text)}}}; }
  const TaskRow& task_ = find_task("mlm");
};

TEST_F(Masked, ASeedMasksTheSamePieces) {
  LanguageModelSettings lines = settings("It rained .\n\nthe cat sat on the mat\n");
  const OpenModel open = model(Head::kMaskedLm);
  const AnsweredRows rows = answer_language_model(task_, lines, open, hooks());
  EXPECT_EQ(rows.result.rows, 2u);
  EXPECT_FALSE(rows.write_predictions);
  const EvalResult first = score(rows, {.samples = 0}),
                   again = score(answer_language_model(task_, lines, open), {.samples = 0});
  EXPECT_GE(value(first, "masked_pieces"), 2);
  EXPECT_EQ(value(first, "perplexity"), value(again, "perplexity"));
  lines.sample.share = 1;
  EXPECT_GT(value(score(answer_language_model(task_, lines, open), {.samples = 0}), "masked_pieces"),
            value(first, "masked_pieces"));
}

TEST_F(Masked, AnotherHeadIsRefusedBeforeAnyRow) {
  EXPECT_ERROR(answer_language_model(task_, settings("x\n"), model(Head::kSequence, {"a", "b"})), kTask, "masked");
  EXPECT_ERROR(answer_language_model(task_, settings("x\n"), {}), kUsage, "predictions: ");
}

class Causal : public test::EvalCase {
 protected:
  LanguageModelSettings settings(const std::string& text) { return {.input = {.files = {write("lines.txt", text)}}}; }
  OpenModel causal_model() {
    ModelConfig config = test::tiny_config();
    config.is_causal = true;
    return model(config, Head::kMaskedLm);
  }
  EvalResult result_of(const LanguageModelSettings& lines) {
    return score(answer_language_model(task_, lines, causal_model()), {.samples = 0});
  }
  const TaskRow& task_ = find_task("causal");
};

// By one forward pass over the text alone.
TEST_F(Causal, EveryPieceIsPredictedFromThoseBeforeIt) {
  const Pipeline& pipeline = causal_model()();
  const Encoding text = pipeline.tokenizer.encode("the cat sat");
  Batch batch;
  batch.add(text.ids);
  ForwardResult result;
  pipeline.model.forward(batch, {}, result);
  double expected = 0;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    const float* logits_V = &result.logits[(i - 1) * result.logits_columns];
    double sum = 0;
    for (size_t v = 0; v < result.logits_columns; ++v) sum += std::exp(static_cast<double>(logits_V[v]));
    expected += static_cast<double>(logits_V[text.ids[i]]) - std::log(sum);
  }
  const double pieces = static_cast<double>(text.size() - 2);
  const EvalResult scored = result_of(settings("the cat sat\n"));
  EXPECT_EQ(value(scored, "pieces"), pieces) << "no special token counts";
  EXPECT_EQ(value(scored, "words"), 3);
  EXPECT_NEAR(value(scored, "perplexity"), std::exp(-expected / pieces), 1e-5 * std::exp(-expected / pieces));
  EXPECT_NEAR(value(scored, "word_perplexity"), std::exp(-expected / 3), 1e-5 * std::exp(-expected / 3));
}

TEST_F(Causal, OfALongTextEveryPieceCountsOnce) {
  const std::string text = "a b c d e f g h i j k l m n o p q r s t u v w x y z";
  LanguageModelSettings lines = settings(text + "\n");
  const double pieces = value(result_of(lines), "pieces");
  lines.sample.rules.encode.max_tokens = 16;
  lines.sample.rules.long_text = LongText::kWindow;
  for (const size_t stride : {0u, 4u, 11u}) {
    lines.sample.rules.stride = stride;
    const EvalResult windows = result_of(lines);
    EXPECT_EQ(value(windows, "pieces"), pieces);
    EXPECT_EQ(value(windows, "words"), 26);
    EXPECT_EQ(windows.cut.rows, 0u);
  }
  lines.sample.rules.long_text = LongText::kCut;
  lines.sample.rules.encode.truncate = Truncate::kRight;
  const EvalResult cut = result_of(lines);
  EXPECT_EQ(value(cut, "pieces"), 14);
  EXPECT_LT(value(cut, "words"), 26);
  EXPECT_EQ(cut.cut.rows, 1u);
}

TEST_F(Causal, AModelThatReadsBothWaysIsRefusedBeforeAnyRow) {
  EXPECT_ERROR(answer_language_model(task_, settings("x\n"), model(Head::kMaskedLm)), kTask,
               "expected a causal language model head, got masked-lm; verbs for this model: fill, score");
  EXPECT_ERROR(answer_language_model(find_task("mlm"), settings("x\n"), causal_model()), kTask,
               "expected a masked language model head, got causal-lm");
}

}  // namespace
}  // namespace deberta::language_model_test

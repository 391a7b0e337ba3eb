// A masked language model on lines of text.
#include "eval/masked.h"

#include <gtest/gtest.h>

#include <string>

#include "eval/eval_case.h"
#include "support/expect_error.h"

namespace deberta {
namespace {

class Masked : public test::EvalCase {
 protected:
  MaskedSettings settings(const std::string& text) { return {.input = {.files = {write("lines.txt", text)}}}; }
  const TaskRow& task_ = find_task("mlm");
};

TEST_F(Masked, ASeedMasksTheSamePieces) {
  MaskedSettings lines = settings("It rained .\n\nthe cat sat on the mat\n");
  const OpenModel open = model(Head::kMaskedLm);
  const AnsweredRows rows = answer_masked(task_, lines, open, hooks());
  EXPECT_EQ(rows.result.rows, 2u);
  EXPECT_FALSE(rows.write_predictions);
  const EvalResult first = score(rows, {.samples = 0}),
                   again = score(answer_masked(task_, lines, open), {.samples = 0});
  EXPECT_GE(value(first, "masked_pieces"), 2);
  EXPECT_EQ(value(first, "perplexity"), value(again, "perplexity"));
  lines.sample.share = 1;
  EXPECT_GT(value(score(answer_masked(task_, lines, open), {.samples = 0}), "masked_pieces"),
            value(first, "masked_pieces"));
}

TEST_F(Masked, AnotherHeadIsRefusedBeforeAnyRow) {
  EXPECT_ERROR(answer_masked(task_, settings("x\n"), model(Head::kSequence, {"a", "b"})), kTask, "masked");
  EXPECT_ERROR(answer_masked(task_, settings("x\n"), {}), kUsage, "predictions: ");
}

}  // namespace
}  // namespace deberta

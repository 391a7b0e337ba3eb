// The row's position goes in front of what is wrong with it; nothing else in the error changes.
#include <gtest/gtest.h>

#include "deberta/error.h"
#include "rows/row_parts.h"

namespace deberta::bad_rows_test {
namespace {

TEST(WithPlace, KeepsTheArgumentTheLimitTheInputAndTheRemedies) {
  const Error error(ErrorCode::kTextTooLong, {{.where = "text",
                                               .message = "expected at most 8 tokens, got 9",
                                               .argument = "max_tokens",
                                               .limit = 8,
                                               .input = 0,
                                               .remedies = {{"cut it with {}", "truncate", "right"}}}});
  Row row;
  row.where = "in.tsv:3";
  const Error placed = with_place(error, row);
  EXPECT_EQ(placed.code(), ErrorCode::kTextTooLong);
  const Problem& problem = placed.problems().front();
  EXPECT_EQ(problem.source, "in.tsv:3");
  EXPECT_EQ(problem.argument, "max_tokens");
  EXPECT_EQ(problem.limit, 8u);
  EXPECT_EQ(problem.input, 0u);
  ASSERT_EQ(problem.remedies.size(), 1u);
  EXPECT_EQ(problem.remedies[0].value, "right");
  EXPECT_STREQ(placed.what(), "in.tsv:3: text: expected at most 8 tokens, got 9; cut it with truncate=right");
}

TEST(WithPlace, ARowWhoseReaderNamedItIsNotNamedTwice) {
  Row row;
  row.where = "in.tsv:3";
  EXPECT_STREQ(with_place(Error(ErrorCode::kInput, "in.tsv:3", "no text"), row).what(), "in.tsv:3: no text");
}

}  // namespace
}  // namespace deberta::bad_rows_test

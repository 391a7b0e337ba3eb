// What a dry run shows: pieces as they are read, labels, and counts.
#include "train/data/describe.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/paths.h"

namespace deberta::train::describe_test {
namespace {

struct Case {
  Case()
      : tokenizer((std::filesystem::copy_file(test::fixture("tokenizer/bytes.model"), folder.path("spm.model")),
                   Tokenizer::load(folder.path()))) {}
  int32_t id(const char* piece) const { return tokenizer.id_of(piece).value(); }

  test::TemporaryFolder folder;
  Tokenizer tokenizer;
};

TEST(Describe, ShowsWhatIsReadAndWhatIsWanted) {
  const Case c;
  const int32_t the = 300;  // an ordinary piece
  const int32_t mask = c.tokenizer.special().mask;
  TrainBatch batch;
  batch.ids_T = {1, mask, the, 3, 2, 1, the, 2};
  batch.starts = {0, 5, 8};
  batch.rows_P = {1, 2, 6};
  batch.labels_P = {c.id("<0x41>"), the, 3};
  const BatchDescription shown = describe({batch, batch}, c.tokenizer, 2);
  EXPECT_EQ(shown.batches, 2u);
  EXPECT_EQ(shown.sequences, 4u);
  EXPECT_EQ(shown.tokens, 16u);
  EXPECT_EQ(shown.shortest, 3u);
  EXPECT_EQ(shown.longest, 5u);
  EXPECT_EQ(shown.predictions, 6u);
  EXPECT_EQ(shown.masked, 2u);
  EXPECT_EQ(shown.kept, 2u);
  EXPECT_EQ(shown.replaced, 2u);
  EXPECT_EQ(shown.unknown, 4u) << "the one that is read, and the one behind a replaced piece";
  EXPECT_EQ(shown.unknown_share(), 0.25);
  EXPECT_EQ(shown.spelled, 2u);
  ASSERT_EQ(shown.first.size(), 2u) << "as many as wanted";
  ASSERT_EQ(shown.first[0].size(), 5u);
  EXPECT_EQ(shown.first[0][0].read, "[CLS]");
  EXPECT_FALSE(shown.first[0][0].is_predicted);
  EXPECT_EQ(shown.first[0][1].read, "[MASK]");
  EXPECT_EQ(shown.first[0][1].label, "<0x41>");
  EXPECT_TRUE(shown.first[0][2].is_predicted);
  EXPECT_EQ(shown.first[1][1].label, "[UNK]");
}

TEST(Describe, LabelsOfTheNextPieceSayNothingAboutTheirRow) {
  const Case c;
  TrainBatch batch;
  batch.ids_T = {1, 10, 2};
  batch.starts = {0, 3};
  batch.rows_P = {0, 1};
  batch.labels_P = {10, 2};
  const BatchDescription shown = describe({batch}, c.tokenizer, 1, true);
  EXPECT_EQ(shown.predictions, 2u);
  EXPECT_EQ(shown.masked + shown.kept + shown.replaced, 0u);
  EXPECT_EQ(shown.first[0][1].label, "[SEP]");
}

}  // namespace
}  // namespace deberta::train::describe_test

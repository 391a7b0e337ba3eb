// A corpus cut into runs, and what happens where documents meet.
#include "train/data/runs.h"

#include <gtest/gtest.h>

#include "support/paths.h"
#include "train/data/token_file_case.h"

namespace deberta::train::runs_test {
namespace {

using Ids = std::vector<int32_t>;
constexpr int32_t kCls = 1;
constexpr int32_t kSep = 2;

struct Case {
  explicit Case(const std::vector<Ids>& documents) {
    test_case::write_tokens(folder.path("a"), documents, 1000);
    file.emplace(folder.path("a"), 1000);
  }
  Runs runs(DocumentBoundary boundary) const { return Runs(*file, boundary, kCls, kSep); }

  test::TemporaryFolder folder;
  std::optional<TokenFile> file;
};

// The sequences of a run.
std::vector<Ids> sequences(const Runs& runs, uint64_t run, size_t max_tokens) {
  Ids ids;
  Ids starts{0};
  runs.append(run, max_tokens, ids, starts);
  std::vector<Ids> all;
  for (size_t i = 0; i + 1 < starts.size(); ++i) all.emplace_back(ids.begin() + starts[i], ids.begin() + starts[i + 1]);
  return all;
}

TEST(Runs, CutTheCorpusEveryLengthLessTwoAndDropTheRest) {
  const Case c({{10, 11, 12, 13}, {14, 15, 16}});
  const Runs runs = c.runs(DocumentBoundary::kNone);
  EXPECT_EQ(runs.pieces(), 7u);
  EXPECT_EQ(runs.count(5), 2u);
  EXPECT_EQ(sequences(runs, 0, 5), (std::vector<Ids>{{1, 10, 11, 12, 2}}));
  EXPECT_EQ(sequences(runs, 1, 5), (std::vector<Ids>{{1, 13, 14, 15, 2}}));
  EXPECT_EQ(runs.count(9), 1u);
  EXPECT_EQ(runs.count(10), 0u);
}

TEST(Runs, ASeparatorStandsBetweenDocumentsAndCountsAsAPiece) {
  const Case c({{10, 11, 12, 13}, {14}, {15, 16}});
  const Runs runs = c.runs(DocumentBoundary::kSeparator);
  EXPECT_EQ(runs.pieces(), 9u);  // 10 11 12 13 | 14 | 15 16
  EXPECT_EQ(sequences(runs, 0, 5), (std::vector<Ids>{{1, 10, 11, 12, 2}}));
  EXPECT_EQ(sequences(runs, 1, 5), (std::vector<Ids>{{1, 13, 2, 14, 2}}));
  EXPECT_EQ(sequences(runs, 2, 5), (std::vector<Ids>{{1, 2, 15, 16, 2}}));
}

TEST(Runs, SeparatedRunsAreThePiecesOfTheSeparatedCorpus) {
  std::vector<Ids> documents;
  Ids whole;
  for (int32_t i = 0; i < 40; ++i) {
    documents.push_back(test_case::counted(10 + i, static_cast<size_t>(i * 7 % 5 + 1)));
    if (i > 0) whole.push_back(kSep);
    whole.insert(whole.end(), documents.back().begin(), documents.back().end());
  }
  const Case c(documents);
  const Runs runs = c.runs(DocumentBoundary::kSeparator);
  ASSERT_EQ(runs.pieces(), whole.size());
  for (const size_t size : {1u, 2u, 3u, 7u, 20u}) {
    for (uint64_t run = 0; run < runs.count(size + 2); ++run) {
      Ids expected(whole.begin() + static_cast<ptrdiff_t>(run * size),
                   whole.begin() + static_cast<ptrdiff_t>((run + 1) * size));
      expected.insert(expected.begin(), kCls);
      expected.push_back(kSep);
      ASSERT_EQ(sequences(runs, run, size + 2), std::vector<Ids>{expected}) << size << " " << run;
    }
  }
}

TEST(Runs, ABlockEndsWithItsDocument) {
  const Case c({{10, 11, 12, 13}, {14}, {15, 16}, {17, 18}});
  const Runs runs = c.runs(DocumentBoundary::kBlock);
  EXPECT_EQ(runs.pieces(), 9u);
  EXPECT_EQ(sequences(runs, 0, 5), (std::vector<Ids>{{1, 10, 11, 12, 2}}));
  EXPECT_EQ(sequences(runs, 1, 5), (std::vector<Ids>{{1, 13, 2}, {1, 14, 2}, {1, 15, 2}}));
  EXPECT_EQ(sequences(runs, 2, 5), (std::vector<Ids>{{1, 16, 2}, {1, 17, 18, 2}}));
}

TEST(CutSequences, GivesEqualPartsWithBordersOfTheirOwn) {
  Ids ids{9, 9, 1, 10, 11, 12, 13, 14, 2, 1, 20, 21, 2, 1, 2};
  Ids starts{0, 2, 9, 13, 15};
  cut_sequences(2, 1, ids, starts);
  EXPECT_EQ(ids, (Ids{9, 9, 1, 10, 2, 1, 11, 12, 2, 1, 13, 14, 2, 1, 20, 21, 2, 1, 2}));
  EXPECT_EQ(starts, (Ids{0, 2, 5, 9, 13, 17, 19}));
}

TEST(CutSequences, LeavesSequencesThatAreShortEnough) {
  const Ids ids{1, 10, 11, 12, 2, 1, 13, 2};
  const Ids starts{0, 5, 8};
  for (const size_t most : {3u, 4u, 100u}) {
    Ids cut = ids, borders = starts;
    cut_sequences(most, 0, cut, borders);
    EXPECT_EQ(cut, ids) << most;
    EXPECT_EQ(borders, starts) << most;
  }
}

}  // namespace
}  // namespace deberta::train::runs_test

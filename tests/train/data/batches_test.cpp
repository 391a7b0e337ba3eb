// Micro-batches: packed, masked, the same for any way of asking, and different for every step and epoch.
#include "train/data/batches.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "support/paths.h"
#include "train/data/prefetch.h"
#include "train/data/token_file_case.h"

namespace deberta::train::batches_test {
namespace {

using Ids = std::vector<int32_t>;

// Ids 4 .. 103 are words, 104 [MASK]; 50 documents of 1 to 97 tokens.
struct Case {
  Case() {
    pieces.is_special_V.assign(105, 0);
    pieces.continues_word_V.assign(105, 0);
    for (const size_t id : {0u, 1u, 2u, 3u, 104u}) pieces.is_special_V[id] = 1;
    pieces.special.mask = 104;
    std::vector<Ids> documents;
    int32_t next = 0;
    for (size_t i = 0; i < 50; ++i) {
      Ids& document = documents.emplace_back();
      for (size_t token = 0; token <= i * 31 % 97; ++token) document.push_back(4 + next++ % 100);
    }
    test_case::write_tokens(folder.path("a"), documents, 105);
    file.emplace(folder.path("a"), 105);
  }

  Batches batches(const BatchOptions& options, DocumentBoundary boundary = DocumentBoundary::kNone) const {
    return Batches({{Runs(*file, boundary, 1, 2)}}, pieces, options);
  }

  test::TemporaryFolder folder;
  Pieces pieces;
  std::optional<TokenFile> file;
};

BatchOptions options_of(size_t micro_batch_tokens = 256) {
  return {.seed = 5, .tokens_per_step = 512, .micro_batch_tokens = micro_batch_tokens, .stages = {{0, 32}, {10, 128}}};
}

bool operator==(const TrainBatch& a, const TrainBatch& b) {
  return a.ids_T == b.ids_T && a.starts == b.starts && a.rows_P == b.rows_P && a.labels_P == b.labels_P &&
         a.longest == b.longest && a.first_sequence == b.first_sequence;
}
bool are_equal(const std::vector<TrainBatch>& a, const std::vector<TrainBatch>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) { return x == y; });
}

// The texts of a step before masking: one sequence after the other.
std::vector<Ids> texts_of(const std::vector<TrainBatch>& batches) {
  std::vector<Ids> texts;
  for (const TrainBatch& batch : batches) {
    Ids ids = batch.ids_T;
    for (size_t i = 0; i < batch.rows_P.size(); ++i) ids[static_cast<size_t>(batch.rows_P[i])] = batch.labels_P[i];
    for (size_t i = 0; i < batch.sequences(); ++i)
      texts.emplace_back(ids.begin() + batch.starts[i], ids.begin() + batch.starts[i + 1]);
  }
  return texts;
}

TEST(Batches, ArePackedSequencesOfTheLengthOfTheirStage) {
  const Case c;
  Batches batches = c.batches(options_of());
  for (const auto& [step, length, sequences] : {std::tuple(0, 32, 8), std::tuple(9, 32, 8), std::tuple(10, 128, 2)}) {
    const auto produced = batches.make(static_cast<uint64_t>(step));
    ASSERT_EQ(produced.size(), 2u);
    uint32_t before = 0;
    for (const TrainBatch& batch : produced) {
      EXPECT_EQ(batch.tokens(), 256u);
      EXPECT_EQ(batch.sequences(), static_cast<size_t>(sequences));
      EXPECT_EQ(batch.longest, length);
      EXPECT_EQ(batch.first_sequence, before);
      before += static_cast<uint32_t>(batch.sequences());
      for (size_t i = 0; i < batch.sequences(); ++i) {
        EXPECT_EQ(batch.ids_T[static_cast<size_t>(batch.starts[i])], 1);
        EXPECT_EQ(batch.ids_T[static_cast<size_t>(batch.starts[i + 1]) - 1], 2);
      }
      EXPECT_TRUE(std::is_sorted(batch.rows_P.begin(), batch.rows_P.end()));
      EXPECT_EQ(batch.rows_P.size(), batch.labels_P.size());
      EXPECT_GT(batch.rows_P.size(), batch.tokens() / 10);
    }
  }
}

TEST(Batches, LabelsAreWhatTheCorpusHasAtTheirRows) {
  const Case c;
  Batches batches = c.batches(options_of());
  const Runs runs(*c.file, DocumentBoundary::kNone, 1, 2);
  for (uint64_t step = 0; step < 14; ++step) {
    const auto texts = texts_of(batches.make(step));
    for (size_t i = 0; i < texts.size(); ++i) {
      Ids expected;
      Ids starts{0};
      runs.append(batches.origin(step, i).run, texts[i].size(), expected, starts);
      EXPECT_EQ(texts[i], expected) << step << " " << i;
    }
  }
}

TEST(Batches, AnyCutIntoMicroBatchesHasTheSameSamplesAndMasks) {
  const Case c;
  const auto joined = [&](size_t micro_batch_tokens) {
    Batches batches = c.batches(options_of(micro_batch_tokens));
    Ids ids;
    std::vector<size_t> rows;
    for (const TrainBatch& batch : batches.make(3)) {
      for (const int32_t row : batch.rows_P) rows.push_back(ids.size() + static_cast<size_t>(row));
      ids.insert(ids.end(), batch.ids_T.begin(), batch.ids_T.end());
    }
    return std::pair(ids, rows);
  };
  const auto whole = joined(512);
  EXPECT_EQ(joined(1), whole);
  EXPECT_EQ(joined(100), whole);
  EXPECT_EQ(joined(300), whole);
  EXPECT_EQ(joined(10000), whole);
}

TEST(Batches, AreAFunctionOfTheStep) {
  const Case c;
  Batches uninterrupted = c.batches(options_of());
  std::vector<std::vector<TrainBatch>> steps;
  for (uint64_t step = 0; step < 60; ++step) steps.push_back(uninterrupted.make(step));
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    const uint64_t step = random() % steps.size();
    Batches resumed = c.batches(options_of());
    EXPECT_TRUE(are_equal(resumed.make(step), steps[step])) << step;
  }
}

TEST(Batches, EveryEpochHasOtherMasksForTheSameRun) {
  const Case c;
  BatchOptions options = options_of();
  options.stages = {{0, 32}};
  Batches batches = c.batches(options);
  std::map<Ids, std::set<Ids>> read_as;  // sequences by text
  size_t sequences = 0;
  for (uint64_t step = 0; step < 40; ++step) {
    const auto produced = batches.make(step);
    const auto texts = texts_of(produced);
    size_t at = 0;
    for (const TrainBatch& batch : produced) {
      for (size_t i = 0; i < batch.sequences(); ++i, ++at, ++sequences)
        read_as[texts[at]].insert(
            Ids(batch.ids_T.begin() + batch.starts[i], batch.ids_T.begin() + batch.starts[i + 1]));
    }
  }
  size_t different = 0;
  for (const auto& [text, read] : read_as) different += read.size();
  EXPECT_GT(sequences, 3 * read_as.size()) << "several epochs";
  EXPECT_GT(different, sequences * 98 / 100);
}

TEST(Batches, NextPiecesArePredictedEverywhereButAtTheEnd) {
  const Case c;
  BatchOptions options = options_of();
  options.prediction = Prediction::kNext;
  Batches batches = c.batches(options);
  for (const TrainBatch& batch : batches.make(2)) {
    ASSERT_EQ(batch.rows_P.size(), batch.tokens() - batch.sequences());
    size_t at = 0;
    for (size_t i = 0; i < batch.sequences(); ++i) {
      for (int32_t row = batch.starts[i]; row + 1 < batch.starts[i + 1]; ++row, ++at) {
        EXPECT_EQ(batch.rows_P[at], row);
        EXPECT_EQ(batch.labels_P[at], batch.ids_T[static_cast<size_t>(row) + 1]);
      }
    }
    EXPECT_EQ(std::count(batch.ids_T.begin(), batch.ids_T.end(), 104), 0) << "nothing is masked";
  }
}

TEST(Batches, BlocksAreSequencesOfTheirOwnWithMasksOfTheirOwn) {
  const Case c;
  Batches batches = c.batches(options_of(), DocumentBoundary::kBlock);
  size_t longer = 0;
  for (uint64_t step = 0; step < 12; ++step) {
    uint32_t before = 0;
    for (const TrainBatch& batch : batches.make(step)) {
      EXPECT_EQ(batch.first_sequence, before);
      before += static_cast<uint32_t>(batch.sequences());
      if (batch.sequences() * static_cast<size_t>(batch.longest) > batch.tokens()) ++longer;
      for (size_t i = 0; i < batch.sequences(); ++i) {
        const auto first = std::lower_bound(batch.rows_P.begin(), batch.rows_P.end(), batch.starts[i]);
        ASSERT_NE(first, batch.rows_P.end());
        EXPECT_LT(*first, batch.starts[i + 1]) << "every sequence has something to predict";
      }
    }
  }
  EXPECT_GT(longer, 5u);
}

TEST(Prefetch, GivesTheSameBatchesAtAnyDepth) {
  const Case c;
  const auto all_of = [&](size_t depth) {
    Batches batches = c.batches(options_of());
    Prefetch prefetch([&](uint64_t step) { return batches.make(step); }, 5, 25, depth);
    std::vector<std::vector<TrainBatch>> all;
    while (auto produced = prefetch.next()) all.push_back(std::move(*produced));
    EXPECT_FALSE(prefetch.next());
    return all;
  };
  const auto direct = all_of(0);
  ASSERT_EQ(direct.size(), 20u);
  for (const size_t depth : {1u, 2u, 4u, 100u}) {
    const auto ahead = all_of(depth);
    ASSERT_EQ(ahead.size(), direct.size());
    for (size_t i = 0; i < direct.size(); ++i) EXPECT_TRUE(are_equal(ahead[i], direct[i])) << depth << " " << i;
  }
}

TEST(Prefetch, HandsAnExceptionOverInItsPlace) {
  for (const size_t depth : {0u, 1u, 4u}) {
    Prefetch prefetch(
        [](uint64_t step) {
          if (step == 3) throw std::runtime_error("step 3");
          return std::vector<TrainBatch>(1);
        },
        0, 10, depth);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(prefetch.next());
    EXPECT_THROW(prefetch.next(), std::runtime_error) << depth;
    EXPECT_THROW(prefetch.next(), std::runtime_error) << depth;
  }
}

TEST(Prefetch, StopsCleanlyWhileFullAndWhileWorking) {
  for (int taken = 0; taken < 4; ++taken) {
    Prefetch prefetch([](uint64_t) { return std::vector<TrainBatch>(1); }, 0, UINT64_MAX, 2);
    for (int i = 0; i < taken; ++i) prefetch.next();
  }
}

// Sequences of the first 60 steps, by their number of pieces; their pieces are those of the uncut batches.
std::map<size_t, size_t> lengths_of_cut_sequences(const Case& c, double short_share) {
  BatchOptions options = options_of();
  Batches whole = c.batches(options);
  options.short_share = short_share;
  Batches batches = c.batches(options);
  const auto pieces_of = [](const std::vector<Ids>& texts) {
    Ids pieces;
    for (const Ids& text : texts) pieces.insert(pieces.end(), text.begin() + 1, text.end() - 1);
    return pieces;
  };
  std::map<size_t, size_t> lengths;
  for (uint64_t step = 0; step < 60; ++step) {
    const auto produced = batches.make(step);
    const auto texts = texts_of(produced);
    EXPECT_EQ(pieces_of(texts), pieces_of(texts_of(whole.make(step)))) << step;
    size_t longest = 0;
    for (const Ids& text : texts) {
      EXPECT_EQ(text.front(), 1);
      EXPECT_EQ(text.back(), 2);
      ++lengths[text.size() - 2];
      longest = std::max(longest, text.size());
    }
    size_t reported = 0;
    for (const TrainBatch& batch : produced) reported = std::max(reported, static_cast<size_t>(batch.longest));
    EXPECT_EQ(reported, longest);
  }
  return lengths;
}

TEST(Batches, AShareOfTheSamplesIsCutIntoShortSequencesOfEveryLength) {
  const Case c;
  // 10 steps of 16 samples, then 50 of 4.
  const std::map<size_t, size_t> half = lengths_of_cut_sequences(c, 0.5);
  EXPECT_NEAR(static_cast<double>(half.at(30)), 80, 20);
  EXPECT_NEAR(static_cast<double>(half.at(126)), 100, 25);
  const std::map<size_t, size_t> all = lengths_of_cut_sequences(c, 1);
  EXPECT_FALSE(all.contains(126));
  EXPECT_GE(all.begin()->first, 2u);  // a rest may be one below what was drawn
  EXPECT_GT(all.size(), 20u);
  EXPECT_EQ(lengths_of_cut_sequences(c, 0), (std::map<size_t, size_t>{{30, 160}, {126, 200}}));
}

TEST(Batches, ACutIsAFunctionOfTheSeedAndTheSample) {
  const Case c;
  BatchOptions options = options_of();
  options.short_share = 0.7;
  const auto starts_of = [&](size_t micro_batch_tokens, uint64_t seed) {
    options.micro_batch_tokens = micro_batch_tokens;
    options.seed = seed;
    Ids lengths;
    for (const TrainBatch& batch : c.batches(options).make(3)) {
      for (size_t i = 0; i < batch.sequences(); ++i) lengths.push_back(batch.starts[i + 1] - batch.starts[i]);
    }
    return lengths;
  };
  EXPECT_EQ(starts_of(512, 5), starts_of(100, 5));
  EXPECT_NE(starts_of(512, 5), starts_of(512, 6));
}

}  // namespace
}  // namespace deberta::train::batches_test

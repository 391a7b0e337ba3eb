// Thresholds, ties and overlaps of entities, each as the library decides them.
#include "decode/entity_candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "kernels/entity_scores.h"
#include "support/expect_error.h"
#include "support/random.h"

namespace deberta::entity_candidates_test {
namespace {

using Candidates = std::vector<EntityCandidate>;

float probability(float logit) {
  return static_cast<float>(1 / (1 + std::exp(-double{logit})));
}
float logit_of(double p) {
  return static_cast<float>(std::log(p / (1 - p)));
}

// "0-2:1 ..." first, last, label.
std::string text_of(const Candidates& candidates) {
  std::string text;
  for (const EntityCandidate& c : candidates)
    text += (text.empty() ? "" : " ") + std::to_string(c.first) + "-" + std::to_string(c.last) + ":" +
            std::to_string(c.label);
  return text;
}

// ---- spans

TEST(SpanCandidates, AreAboveTheThresholdAndNotAtIt) {
  const std::vector<float> logits_SC = {0, 0.001f, -0.001f};  // probabilities 0.5, above, below
  EXPECT_EQ(text_of(span_candidates(logits_SC, 3, 1, std::vector<double>{0.5})), "1-1:0");
  EXPECT_EQ(text_of(span_candidates(logits_SC, 3, 1, std::vector<double>{0.4})), "0-0:0 1-1:0 2-2:0");
}

// 0.3 in single precision is more than 0.3: a probability of just that is not above it.
TEST(SpanCandidates, AreComparedInSinglePrecision) {
  float logit = logit_of(0.3);
  for (int step = 0; step < 100 && probability(logit) < 0.3f; ++step) logit = std::nextafter(logit, 1.0f);
  ASSERT_EQ(probability(logit), 0.3f);
  EXPECT_TRUE(span_candidates(std::vector<float>{logit}, 1, 1, std::vector<double>{0.3}).empty());
}

TEST(SpanCandidates, HaveTheThresholdOfTheirLabel) {
  const std::vector<float> logits_SC(2 * 3, logit_of(0.6));
  EXPECT_EQ(text_of(span_candidates(logits_SC, 2, 1, std::vector<double>{0.7, 0.5, 0.65})), "0-0:1 1-1:1");
}

TEST(SpanCandidates, StandByFirstWordLengthAndLabel) {
  const size_t words = 3, width = 2, labels = 2;
  const std::vector<float> logits_SC(count_spans(words, width) * labels, 1);
  const Candidates all = span_candidates(logits_SC, words, width, std::vector<double>{0.5, 0.5});
  EXPECT_EQ(text_of(all), "0-0:0 0-0:1 0-1:0 0-1:1 1-1:0 1-1:1 1-2:0 1-2:1 2-2:0 2-2:1");
  EXPECT_EQ(all[0].score, probability(1));
}

TEST(SpanCandidates, AreNotMoreThanThereIsRoomFor) {
  const std::vector<float> logits_SC(4, 1);
  const std::vector<double> threshold = {0.5};
  EXPECT_EQ(span_candidates(logits_SC, 4, 1, threshold, 4).size(), 4u);
  EXPECT_ERROR(span_candidates(logits_SC, 4, 1, threshold, 3), kInput, "expected at most 3 spans above the threshold");
  EXPECT_ERROR(word_candidates(std::vector<float>(4 * 3, 1), 4, threshold, 9), kInput,
               "expected at most 9 spans above the threshold");
  EXPECT_EQ(word_candidates(std::vector<float>(4 * 3, 1), 4, threshold, 10).size(), 10u);
}

// ---- words

struct WordLogits {
  size_t words, labels;
  std::vector<float> values = std::vector<float>(words * labels * 3, -4.0f);

  void set(size_t word, size_t label, size_t which, double p) {
    values[(word * labels + label) * 3 + which] = logit_of(p);
  }
  Candidates candidates(double threshold = 0.5) const {
    return word_candidates(values, words, std::vector<double>(labels, threshold));
  }
};

TEST(WordCandidates, BeginAndEndAboveTheThresholdWithAnInsideThatIsNotBelow) {
  WordLogits w{4, 1};
  for (size_t word = 0; word < 4; ++word) w.set(word, 0, 2, 0.9);
  w.set(0, 0, 0, 0.8);
  w.set(1, 0, 1, 0.7);
  w.set(3, 0, 1, 0.6);
  Candidates found = w.candidates();
  EXPECT_EQ(text_of(found), "0-1:0 0-3:0");
  EXPECT_NEAR(found[0].score, 0.7, 1e-6);
  EXPECT_NEAR(found[1].score, 0.6, 1e-6) << "the least of all";
  w.set(2, 0, 2, 0.55);
  EXPECT_NEAR(w.candidates()[1].score, 0.55, 1e-6);
  w.values[2 * 3 + 2] = 0;  // 0.5: not below the threshold
  EXPECT_EQ(text_of(w.candidates()), "0-1:0 0-3:0");
  w.set(2, 0, 2, 0.49);
  EXPECT_EQ(text_of(w.candidates()), "0-1:0");
  w.values[1] = w.values[0] = 0;  // 0.5: not above it
  EXPECT_TRUE(w.candidates().empty());
}

TEST(WordCandidates, AreThoseOfEveryBeginningWithEveryEnd) {
  constexpr size_t kWords = 9, kLabels = 3;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<float> logits = test::normals(seed, kWords * kLabels * 3, 1, 0.7);
    const std::vector<double> thresholds = {0.5, 0.4, 0.6};
    const auto p = [&](size_t word, size_t label, size_t which) {
      return probability(logits[(word * kLabels + label) * 3 + which]);
    };
    Candidates expected;
    for (size_t first = 0; first < kWords; ++first) {
      for (size_t label = 0; label < kLabels; ++label) {
        for (size_t last = first; last < kWords; ++last) {
          float score = std::min(p(first, label, 0), p(last, label, 1));
          const auto threshold = static_cast<float>(thresholds[label]);
          bool is_entity = p(first, label, 0) > threshold && p(last, label, 1) > threshold;
          for (size_t word = first; word <= last; ++word) {
            is_entity = is_entity && !(double{p(word, label, 2)} < thresholds[label]);
            score = std::min(score, p(word, label, 2));
          }
          if (is_entity)
            expected.push_back(
                {static_cast<uint32_t>(first), static_cast<uint32_t>(last), static_cast<uint32_t>(label), score});
        }
      }
    }
    EXPECT_EQ(word_candidates(logits, kWords, thresholds), expected) << seed;
  }
}

TEST(WordCandidates, AreNotMoreThanCanBeChosenAmong) {
  const size_t words = 3000;  // 4.5 million spans
  const std::vector<float> logits(words * 3, 5);
  EXPECT_ERROR(word_candidates(logits, words, std::vector<double>{0.5}), kInput,
               "expected at most 4194304 spans above the threshold, got more; raise threshold");
  EXPECT_TRUE(word_candidates({}, 0, std::vector<double>{0.5}).empty());
}

// ---- windows

TEST(MergedCandidates, OfOneSpanAndLabelAreTheBest) {
  const Candidates all = {{0, 1, 0, 0.6f}, {2, 2, 1, 0.9f}, {0, 1, 0, 0.8f}, {0, 1, 1, 0.7f}, {0, 0, 1, 0.7f}};
  const Candidates by_last = merge_candidates(all, CandidateOrder::kLastThenLabel);
  EXPECT_EQ(text_of(by_last), "0-0:1 0-1:0 0-1:1 2-2:1");
  EXPECT_EQ(by_last[1].score, 0.8f);
  EXPECT_EQ(text_of(merge_candidates(all, CandidateOrder::kLabelThenLast)), "0-1:0 0-0:1 0-1:1 2-2:1");
}

// ---- overlaps

TEST(ChosenEntities, AreTheBestOfThoseThatOverlap) {
  const Candidates all = {{0, 2, 0, 0.7f}, {2, 3, 0, 0.9f}, {4, 4, 1, 0.6f}, {3, 4, 1, 0.8f}, {0, 1, 0, 0.5f}};
  EXPECT_EQ(text_of(choose_entities(all, {})), "0-1:0 2-3:0 4-4:1");
}

TEST(ChosenEntities, OfEqualsTheFirstStands) {
  EXPECT_EQ(text_of(choose_entities({{0, 0, 0, 0.5f}, {0, 1, 1, 0.5f}}, {})), "0-0:0");
  EXPECT_EQ(text_of(choose_entities({{0, 1, 1, 0.5f}, {0, 0, 0, 0.5f}}, {})), "0-1:1");
  EXPECT_EQ(text_of(choose_entities({{3, 3, 0, 0.5f}, {3, 3, 1, 0.5f}}, {})), "3-3:0");
}

TEST(ChosenEntities, MayLieWithinOthersButNotCrossThem) {
  const Candidates all = {{0, 4, 0, 0.9f}, {1, 2, 0, 0.8f}, {2, 3, 0, 0.7f},
                          {4, 6, 0, 0.6f}, {4, 4, 1, 0.5f}, {0, 6, 1, 0.4f}};
  EXPECT_EQ(text_of(choose_entities(all, {.is_nested = true})), "0-4:0 0-6:1 1-2:0 4-4:1");
  EXPECT_EQ(text_of(choose_entities(all, {})), "0-4:0");
}

TEST(ChosenEntities, MayHaveSeveralLabels) {
  const Candidates all = {{0, 1, 0, 0.6f}, {0, 1, 1, 0.9f}, {1, 1, 2, 0.7f}, {0, 1, 2, 0.5f}};
  EXPECT_EQ(text_of(choose_entities(all, {.is_multi_label = true})), "0-1:1 0-1:0 0-1:2");
  EXPECT_EQ(text_of(choose_entities(all, {.is_nested = true, .is_multi_label = true})), "0-1:1 0-1:0 0-1:2 1-1:2");
  EXPECT_EQ(text_of(choose_entities(all, {.is_nested = true})), "0-1:1 1-1:2");
}

// The rule straight from the words: a candidate stands if it overlaps none that stands.
Candidates choose_one_by_one(Candidates all, const OverlapRules& rules) {
  std::ranges::stable_sort(all, std::ranges::greater(), &EntityCandidate::score);
  Candidates chosen;
  for (const EntityCandidate& c : all) {
    const auto overlaps = [&](const EntityCandidate& other) {
      if (c.first == other.first && c.last == other.last) return !rules.is_multi_label;
      if (c.first > other.last || other.first > c.last) return false;
      const bool is_within =
          (c.first <= other.first && c.last >= other.last) || (other.first <= c.first && other.last >= c.last);
      return !rules.is_nested || !is_within;
    };
    if (std::ranges::none_of(chosen, overlaps)) chosen.push_back(c);
  }
  std::ranges::stable_sort(chosen, {}, &EntityCandidate::first);
  return chosen;
}

TEST(ChosenEntities, AreThoseOfAChoiceOneByOne) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Candidates all;
    for (size_t i = 0; i < 40; ++i) {
      const auto at = [&](size_t which, double range) {
        return static_cast<uint32_t>(test::uniform_at(seed, 4 * i + which) * range);
      };
      const uint32_t first = at(0, 15);
      all.push_back({first, first + at(1, 6), at(2, 3), static_cast<float>(at(3, 8)) / 8});  // many ties
    }
    for (const bool is_nested : {false, true}) {
      for (const bool is_multi_label : {false, true}) {
        const OverlapRules rules{is_nested, is_multi_label};
        EXPECT_EQ(choose_entities(all, rules), choose_one_by_one(all, rules)) << seed;
      }
    }
  }
}

TEST(ChosenEntities, OfNoneAreNone) {
  EXPECT_TRUE(choose_entities({}, {}).empty());
  EXPECT_TRUE(choose_entities({}, {.is_nested = true}).empty());
}

}  // namespace
}  // namespace deberta::entity_candidates_test

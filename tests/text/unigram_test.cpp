// Splitting a whole text by the definition, in one search from end to end, against the version that cuts the text and
// remembers its words: the same to the last tie, whatever the running score.
#include "text/spm/unigram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "support/bad_spm.h"

namespace deberta::test::unigram_test {
namespace {

using Ends = std::vector<std::pair<int32_t, uint32_t>>;  // id and end of each token

// The rules at the top of unigram.cpp, one after the other; ASCII texts, no unknown characters.
Ends split_whole(const std::map<std::string, std::pair<int32_t, float>>& pieces, const std::string& text) {
  std::vector<float> scores(text.size() + 1, 0);
  std::vector<std::pair<int32_t, size_t>> steps(text.size() + 1, {-1, 0});
  for (size_t from = 0; from < text.size(); ++from) {
    if (std::abs(scores[from]) > 100000.0F) {
      const float offset = scores[from];
      for (size_t i = from; i <= text.size(); ++i) {
        if (i == from || steps[i].first >= 0) scores[i] -= offset;
      }
    }
    for (size_t size = 1; size <= 8 && from + size <= text.size(); ++size) {
      const auto piece = pieces.find(text.substr(from, size));
      if (piece == pieces.end()) continue;
      const float score = piece->second.second + scores[from];
      if (steps[from + size].first >= 0 && !(score > scores[from + size])) continue;
      scores[from + size] = score;
      steps[from + size] = {piece->second.first, from};
    }
  }
  Ends ends;
  for (size_t end = text.size(); end > 0; end = steps[end].second)
    ends.emplace_back(steps[end].first, static_cast<uint32_t>(end));
  std::reverse(ends.begin(), ends.end());
  return ends;
}

// Pieces of a few letters and spaces. Scores are tenths, so that many sums are equal up to rounding.
struct Case {
  std::vector<SpmPieceSpec> specs;
  std::map<std::string, std::pair<int32_t, float>> pieces;
};
Case make_case(std::mt19937& random, float unit, bool crosses_words) {
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  Case result;
  std::map<std::string, float> scores;
  for (const char c : std::string(" abcd,")) scores[std::string(1, c)] = -unit * static_cast<float>(1 + below(40));
  for (int i = 0; i < 60; ++i) {
    std::string piece(below(3) == 0 ? " " : "");
    for (uint32_t n = 1 + below(4); n > 0; --n) piece += "abcd,"[below(10) == 0 ? 4 : below(4)];
    if (crosses_words && below(5) == 0) piece += " a";
    scores[piece] = -unit * static_cast<float>(1 + below(60));
  }
  for (const auto& [piece, score] : scores) {
    std::string written;
    for (const char c : piece) written += c == ' ' ? "\xE2\x96\x81" : std::string(1, c);
    result.pieces[piece] = {static_cast<int32_t>(4 + result.specs.size()), score};
    result.specs.push_back({written, score});
  }
  return result;
}

void expect_the_same(uint32_t seed, float unit, bool crosses_words, size_t size_bytes) {
  std::mt19937 random(seed);
  const Case c = make_case(random, unit, crosses_words);
  const Unigram unigram(parse_spm_model(make_spm(small_spm(c.specs)), "spm.model"));
  for (int round = 0; round < 4; ++round) {
    std::string text = " ";
    while (text.size() < size_bytes) text += " ,aabbccdd"[random() % 10];
    Ends ends;
    for (const UnigramToken& token : unigram.split(text)) ends.emplace_back(token.id, token.end);
    ASSERT_EQ(ends, split_whole(c.pieces, text)) << "seed " << seed << ": " << text.substr(0, 100);
  }
}

TEST(Unigram, SplitsWordByWordAsTheWholeText) {
  for (uint32_t seed = 0; seed < 200; ++seed) expect_the_same(seed, 0.1F, false, 400);
}

TEST(Unigram, SplitsAsTheWholeTextWherePiecesReachFromWordToWord) {
  for (uint32_t seed = 0; seed < 100; ++seed) expect_the_same(seed, 0.1F, true, 400);
}

TEST(Unigram, SplitsAsTheWholeTextWhereTheRunningScoreIsTakenOff) {
  for (uint32_t seed = 0; seed < 40; ++seed) expect_the_same(seed, 77.7F, false, 2000);
}

// "a" "b" is worse than "ab" by less than the rounding of a sum far into the text.
TEST(Unigram, RemembersASplitOnlyAsFarAsRoundingCannotTurnIt) {
  const Case c{{{"a", -1.1F}, {"b", -2.2F}, {"ab", -3.2999F}, {",", -1.7F}},
               {{"a", {4, -1.1F}}, {"b", {5, -2.2F}}, {"ab", {6, -3.2999F}}, {",", {7, -1.7F}}}};
  const Unigram unigram(parse_spm_model(make_spm(small_spm(c.specs)), "spm.model"));
  std::string text;
  for (int i = 0; i < 12000; ++i) text += "ab,";
  Ends ends;
  size_t parted = 0;
  for (const UnigramToken& token : unigram.split(text)) {
    ends.emplace_back(token.id, token.end);
    parted += token.id == 4;
  }
  EXPECT_EQ(ends, split_whole(c.pieces, text));
  EXPECT_GT(parted, 0U);
  EXPECT_LT(parted, 12000U);
}

}  // namespace
}  // namespace deberta::test::unigram_test

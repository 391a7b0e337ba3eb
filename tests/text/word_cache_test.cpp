// The word cache returns exactly what was stored for that very word.
#include "text/word_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "text/spm/byte_pairs.h"

namespace deberta::test::word_cache_test {
namespace {

WordCache::Key key_of(const std::string& word) {
  return {word, 0, word.size()};
}

// Different in all its parts for different words.
WordCache::Split split_of(uint32_t seed) {
  WordCache::Split split{.count = 1 + seed % 6, .reach = static_cast<float>(seed), .steps = {}};
  for (uint32_t& step : split.steps) step = seed;
  return split;
}

void expect_split(const WordCache::Split& split, uint32_t seed) {
  EXPECT_EQ(split.count, split_of(seed).count);
  EXPECT_EQ(split.reach, split_of(seed).reach);
  EXPECT_EQ(split.steps, split_of(seed).steps);
}

TEST(WordCache, GivesBackWhatWasPutThere) {
  const WordCache cache;
  WordCache::Split split;
  EXPECT_FALSE(cache.find(key_of("word"), split));
  cache.put(key_of("word"), split_of(7));
  ASSERT_TRUE(cache.find(key_of("word"), split));
  expect_split(split, 7);
}

TEST(WordCache, TellsWordsApartByEachByteAndBySize) {
  const WordCache cache;
  const std::string word = "abcdefghijklmnopqrstuvwx";
  ASSERT_EQ(word.size(), WordCache::kMaxBytes);
  cache.put(key_of(word), split_of(1));
  WordCache::Split split;
  EXPECT_TRUE(cache.find(key_of(word), split));
  for (size_t i = 0; i < word.size(); ++i) {
    std::string other = word;
    other[i] = '\0';
    EXPECT_FALSE(cache.find(key_of(other), split)) << i;
    EXPECT_FALSE(cache.find(key_of(word.substr(0, i + 1) + std::string(i == 23 ? 0 : 1, '\0')), split) && i != 23) << i;
  }
}

TEST(WordCache, ReadsAWordInsideATextAsAlone) {
  const WordCache cache;
  const std::string text = "some words in a text that goes on for long enough";
  for (size_t begin = 0; begin < text.size(); ++begin) {
    for (size_t size = 1; size <= WordCache::kMaxBytes && begin + size <= text.size(); ++size) {
      cache.put(key_of(text.substr(begin, size)), split_of(static_cast<uint32_t>(size)));
      WordCache::Split split;
      ASSERT_TRUE(cache.find({text, begin, begin + size}, split)) << begin << ' ' << size;
      expect_split(split, static_cast<uint32_t>(size));
    }
  }
}

TEST(WordCache, HoldsTwoWordsOfOnePlaceAtLeast) {
  const WordCache cache;
  WordCache::Split split;
  size_t held = 0;
  for (uint32_t i = 0; i < 8000; ++i) cache.put(key_of(std::to_string(i)), split_of(i));
  for (uint32_t i = 0; i < 8000; ++i) {
    if (!cache.find(key_of(std::to_string(i)), split)) continue;
    ++held;
    expect_split(split, i);
  }
  EXPECT_GT(held, 7500U);
}

TEST(WordCache, NeverMixesTwoWordsThatThreadsWriteAtOnce) {
  const WordCache cache;
  std::vector<WordCache::Key> keys;  // many for each slot
  for (uint32_t i = 0; i < 100000; ++i) keys.push_back(key_of(std::to_string(i)));
  const auto run = [&](uint32_t first) {
    for (uint32_t i = first; i < keys.size(); i += 2) {
      cache.put(keys[i], split_of(i));
      WordCache::Split split;
      for (const uint32_t other : {i, i ^ 1, i / 2}) {
        if (cache.find(keys[other], split)) expect_split(split, other);
      }
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
}

TEST(BytePairs, CutWhereNoPieceHasBothBytes) {
  BytePairs pairs;
  pairs.add(" the");
  pairs.add("ther");
  EXPECT_EQ(pairs.end_of_stretch(" there the", 0), 5U);  // "re" is in no piece
  EXPECT_EQ(pairs.end_of_stretch(" there the", 5), 6U);
  EXPECT_EQ(pairs.end_of_stretch(" there the", 6), 10U);
  EXPECT_EQ(pairs.end_of_stretch("x\xE2\x82\xACy", 1), 4U);  // never inside a character
}

}  // namespace
}  // namespace deberta::test::word_cache_test

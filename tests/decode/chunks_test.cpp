// Chunks cover a text, and their entities are those of the text, each once.
#include "decode/chunks.h"

#include <gtest/gtest.h>

#include "support/random.h"

namespace deberta::chunks_test {
namespace {

Entity entity(const std::string& label, uint32_t begin, uint32_t end, float score = 0.5f) {
  Entity made;
  made.label = label;
  made.score = score;
  made.chars = made.bytes = {begin, end};
  return made;
}

std::string text_of(const std::vector<Entity>& entities) {
  std::string text;
  for (const Entity& one : entities)
    text += one.label + std::to_string(one.bytes.begin) + "-" + std::to_string(one.bytes.end) + " ";
  return text;
}

TEST(Chunks, EndWithTheText) {
  const auto places = [](const std::string& text, size_t length, size_t overlap) {
    std::string all;
    for (const Chunk& chunk : cut_chunks(text, length, overlap))
      all += text.substr(chunk.bytes.begin, chunk.bytes.end - chunk.bytes.begin) + "|";
    return all;
  };
  EXPECT_EQ(places("", 4, 1), "");
  EXPECT_EQ(places("abc", 4, 1), "abc|");
  EXPECT_EQ(places("abcd", 4, 1), "abcd|") << "what all chunks share is no chunk";
  EXPECT_EQ(places("abcde", 4, 1), "abcd|de|");
  EXPECT_EQ(places("abcdefg", 4, 1), "abcd|defg|");
  EXPECT_EQ(places("abcdefgh", 4, 0), "abcd|efgh|");
  EXPECT_EQ(places("abcd", 2, 1), "ab|bc|cd|");
  EXPECT_EQ(places("\u00e9\U0001F600a\u5317b", 2, 1), "\u00e9\U0001F600|\U0001F600a|a\u5317|\u5317b|");
}

TEST(Chunks, CountCodePointsAndBytes) {
  const std::string text = "\u00e9\U0001F600abc";
  const std::vector<Chunk> chunks = cut_chunks(text, 3, 1);
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(chunks[1].chars, (Offset{2, 5}));
  EXPECT_EQ(chunks[1].bytes, (Offset{6, 9}));
  std::vector<Entity> found = {entity("x", 1, 2)};
  move_entities(found, chunks[1]);
  EXPECT_EQ(found[0].chars, (Offset{3, 4}));
  EXPECT_EQ(found[0].bytes, (Offset{7, 8}));
}

TEST(Chunks, CoverEveryText) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto draw = [&](uint64_t i, size_t most) {
      return static_cast<size_t>(test::uniform_at(seed, i) * static_cast<double>(most));
    };
    const size_t size = draw(0, 50), length = 1 + draw(1, 12), overlap = draw(2, length);
    const std::vector<Chunk> chunks = cut_chunks(std::string(size, 'a'), length, overlap);
    EXPECT_EQ(chunks.size(), count_chunks(size, length, overlap)) << seed;
    uint32_t end = 0;
    for (const Chunk& chunk : chunks) {
      EXPECT_EQ(chunk.chars.begin, end == 0 ? 0 : end - overlap) << seed;
      EXPECT_GT(chunk.chars.end, end) << seed;
      end = chunk.chars.end;
    }
    EXPECT_EQ(end, size) << seed;
  }
}

TEST(OutermostEntities, LieWithinNoOther) {
  const std::vector<Entity> all = {entity("a", 4, 8, 0.9f), entity("b", 0, 6, 0.3f), entity("c", 0, 3, 0.9f),
                                   entity("d", 4, 8, 0.95f), entity("e", 5, 7, 0.99f)};
  EXPECT_EQ(text_of(outermost_entities(all)), "b0-6 d4-8 ") << "those that cross each other both stand";
  EXPECT_EQ(text_of(outermost_entities({})), "");
}

TEST(OutermostEntities, OfManyAreThoseOfAComparisonOfAll) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    std::vector<Entity> all;
    for (uint64_t i = 0; i < 30; ++i) {
      const auto begin = static_cast<uint32_t>(test::uniform_at(seed, 3 * i) * 20);
      const auto end = begin + 1 + static_cast<uint32_t>(test::uniform_at(seed, 3 * i + 1) * 6);
      all.push_back(entity("x", begin, end, static_cast<float>(test::uniform_at(seed, 3 * i + 2))));
    }
    size_t expected = 0;
    for (const Entity& one : all) {
      bool stands = true;
      for (const Entity& other : all) {
        const bool is_same = other.bytes == one.bytes;
        stands &= !(other.bytes.begin <= one.bytes.begin && other.bytes.end >= one.bytes.end &&
                    (is_same ? other.score > one.score : true));
      }
      expected += stands;
    }
    EXPECT_EQ(outermost_entities(all).size(), expected) << seed;
  }
}

TEST(TaggedText, HasEachEntityWithItsLabel) {
  const std::string text = "Ada met Bob .";
  EXPECT_EQ(tag_entities(text, {entity("person", 0, 3), entity("name", 8, 11)}), "[Ada](person) met [Bob](name) .");
  EXPECT_EQ(tag_entities(text, {entity("a", 0, 7), entity("b", 4, 11)}), "[Ada met](a) Bob .") << "what crosses one";
  EXPECT_EQ(tag_entities(text, {}), text);
}

}  // namespace
}  // namespace deberta::chunks_test

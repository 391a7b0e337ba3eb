// Texts made to be slow, one thing over and over: the work must grow as the text does. How fast it is, is measured in
// bench/.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "base/file.h"
#include "deberta/tokenizer.h"
#include "support/paths.h"

namespace deberta::test {
namespace {

std::string repeat(const std::string& part, size_t size_bytes) {
  std::string text;
  while (text.size() + part.size() <= size_bytes) text += part;
  return text;
}

double least_seconds(const Tokenizer& tokenizer, const std::string& text) {
  double least = 1e9;
  for (int run = 0; run < 3; ++run) {
    const std::clock_t start = std::clock();
    const Encoding encoding = tokenizer.encode(text);
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    EXPECT_LE(encoding.bytes[encoding.size() - 2].end, text.size());
  }
  return least;
}

// Sixteen times the text: 16 times the work, more or less, and never 256 times.
void expect_linear(const Tokenizer& tokenizer, const char* name, const std::string& part, size_t size_bytes) {
  const double once = least_seconds(tokenizer, repeat(part, size_bytes / 16));
  EXPECT_LT(least_seconds(tokenizer, repeat(part, size_bytes)), 80 * once + 0.001) << name;
}

void expect_linear_on_extreme_texts(const Tokenizer& tokenizer) {
  constexpr size_t kSize = size_t{1} << 17;
  const std::pair<const char*, std::string> cases[] = {
      {"one letter", "a"},
      {"spaces", " "},
      {"combining marks", "\xCC\x81"},
      {"a letter with marks", "e\xCC\x81\xCC\x82"},
      {"joined emoji", "\xF0\x9F\x91\xA8\xE2\x80\x8D"},
      {"the longest replacement", "\xEF\xB7\xBA"},  // 33 tokens each
      {"special tokens", "[MASK]"},
      {"opening brackets", "["},
      {"one word", "incomprehensibilities"},
  };
  for (const auto& [name, part] : cases) expect_linear(tokenizer, name, part, kSize);
}

TEST(TokenizerWork, WorkIsLinearInExtremeTexts) {
  const TemporaryFolder folder;
  write_text(folder.path("spm.model"), read_file(fixture("tokenizer/bytes.model"), size_t{1} << 20));
  expect_linear_on_extreme_texts(Tokenizer::load(folder.path()));
}

TEST(TokenizerWork, WorkIsLinearInExtremeTextsWithMergesToo) {
  expect_linear_on_extreme_texts(Tokenizer::load(fixture("tokenizer/bpe")));
}

TEST(TokenizerWork, WorkIsLinearInExtremeTextsWordByWordToo) {
  const TemporaryFolder folder;
  write_text(folder.path("tokenizer.json"), read_file(fixture("tokenizer/json/unigram.json"), size_t{1} << 20));
  expect_linear_on_extreme_texts(Tokenizer::load(folder.path()));
}

}  // namespace
}  // namespace deberta::test

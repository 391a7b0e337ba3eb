// Texts made to be slow: one MiB of one thing, and one word of 100 KB. Each must take less than half a
// second of the processor's time: work that grows faster than the text would take minutes.
#include <gtest/gtest.h>

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

void expect_quick(const Tokenizer& tokenizer, const char* name, const std::string& text) {
  const std::clock_t start = std::clock();
  const Encoding encoding = tokenizer.encode(text);
  [[maybe_unused]] const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LE(encoding.bytes[encoding.size() - 2].end, text.size()) << name;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(seconds, 0.5) << name;
#endif
}

void expect_quick_on_extreme_texts(const Tokenizer& tokenizer) {
  constexpr size_t kMiB = size_t{1} << 20;
  const std::pair<const char*, std::string> cases[] = {
      {"one letter", repeat("a", kMiB)},
      {"spaces", repeat(" ", kMiB)},
      {"combining marks", repeat("\xCC\x81", kMiB)},
      {"a letter with marks", repeat("e\xCC\x81\xCC\x82", kMiB)},
      {"joined emoji", repeat("\xF0\x9F\x91\xA8\xE2\x80\x8D", kMiB)},
      {"the longest replacement", repeat("\xEF\xB7\xBA", kMiB / 8)},  // 33 tokens each
      {"special tokens", repeat("[MASK]", kMiB)},
      {"opening brackets", repeat("[", kMiB)},
      {"one word", repeat("incomprehensibilities", 100000)},
  };
  for (const auto& [name, text] : cases) expect_quick(tokenizer, name, text);
}

TEST(TokenizerSpeed, ExtremeTextsTakeLittleTime) {
  const TemporaryFolder folder;
  write_text(folder.path("spm.model"), read_file(fixture("tokenizer/bytes.model"), size_t{1} << 20));
  expect_quick_on_extreme_texts(Tokenizer::load(folder.path()));
}

TEST(TokenizerSpeed, ExtremeTextsTakeLittleTimeWithMergesToo) {
  expect_quick_on_extreme_texts(Tokenizer::load(fixture("tokenizer/bpe")));
}

TEST(TokenizerSpeed, ExtremeTextsTakeLittleTimeWordByWordToo) {
  const TemporaryFolder folder;
  write_text(folder.path("tokenizer.json"), read_file(fixture("tokenizer/json/unigram.json"), size_t{1} << 20));
  expect_quick_on_extreme_texts(Tokenizer::load(folder.path()));
}

}  // namespace
}  // namespace deberta::test

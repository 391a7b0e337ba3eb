// Texts made to be slow, one part over and over: the work must grow only as the text does. Work is the number of
// basic blocks that run in src/text, which is compiled for this program with a call in each: no clock is involved. What
// the C library does within one call does not count. Speed is measured in bench/.
#include <gtest/gtest.h>

#include "base/file.h"
#include "deberta/tokenizer.h"
#include "support/paths.h"

namespace {
size_t blocks = 0;
}

extern "C" void __sanitizer_cov_trace_pc() {
  ++blocks;
}

namespace deberta::test::work_test {
namespace {

constexpr size_t kTextBytes = size_t{1} << 17;

std::string repeat(const std::string& part, size_t size_bytes) {
  std::string text;
  while (text.size() + part.size() <= size_bytes) text += part;
  return text;
}

// A fresh tokenizer each time: what it remembers from one text would make the next one less work.
size_t work_of(const std::string& folder, const std::string& text) {
  const Tokenizer tokenizer = Tokenizer::load(folder);
  blocks = 0;
  const Encoding encoding = tokenizer.encode(text);
  EXPECT_LE(encoding.bytes[encoding.size() - 2].end, text.size());
  return blocks;
}

void expect_linear_work(const std::string& folder) {
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
  for (const auto& [name, part] : cases) {
    const size_t least = work_of(folder, repeat(part, kTextBytes / 16));
    EXPECT_GT(least, kTextBytes / 16 / part.size()) << name;
    EXPECT_LT(work_of(folder, repeat(part, kTextBytes)), 18 * least) << name;  // merges keep a heap: n log n
  }
}

std::string folder_of(const TemporaryFolder& folder, const std::string& fixture_name, const std::string& name) {
  write_text(folder.path(name), read_file(fixture("tokenizer/" + fixture_name), size_t{1} << 20));
  return folder.path();
}

TEST(TokenizerWork, IsLinearInExtremeTexts) {
  const TemporaryFolder folder;
  expect_linear_work(folder_of(folder, "bytes.model", "spm.model"));
}

TEST(TokenizerWork, IsLinearInExtremeTextsWithMergesToo) {
  expect_linear_work(fixture("tokenizer/bpe"));
}

TEST(TokenizerWork, IsLinearInExtremeTextsWordByWordToo) {
  const TemporaryFolder folder;
  expect_linear_work(folder_of(folder, "json/unigram.json", "tokenizer.json"));
}

TEST(TokenizerWork, IsLinearInExtremeTextsWithMergesOfATokenizerJsonToo) {
  const TemporaryFolder folder;
  expect_linear_work(folder_of(folder, "json/bpe.json", "tokenizer.json"));
}

}  // namespace
}  // namespace deberta::test::work_test

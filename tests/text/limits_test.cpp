// Sizes at the limits of tokenizer files and texts: the largest is read, one more is refused.
#include <gtest/gtest.h>

#include "deberta/tokenizer.h"
#include "support/bad_spm.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "text/bpe/bpe_model.h"
#include "text/spm/charsmap.h"
#include "text/spm/spm_model.h"
#include "text/word_piece/word_piece.h"

namespace deberta::test::limits_test {
namespace {

class Limits : public testing::Test {
 protected:
  Tokenizer load(const std::string& name, const std::string& bytes) const {
    write_text(folder_.path(name), bytes);
    return Tokenizer::load(folder_.path());
  }
  TemporaryFolder folder_;
};

std::string number_of(size_t digits) {
  return "p" + std::to_string(digits);
}

TEST_F(Limits, AnSpmFileHas64Mebibytes) {
  const std::string model = make_spm(small_spm({{"a", -1}}));
  const auto of_size = [&](size_t size) {  // an unknown field, its length in four bytes
    return model + wire_bytes(99, std::string(size - model.size() - 6, 'x'));
  };
  ASSERT_EQ(of_size(kMaxSpmFileBytes).size(), kMaxSpmFileBytes);
  EXPECT_EQ(parse_spm_model(of_size(kMaxSpmFileBytes), "spm.model").pieces.size(), 5u);
  EXPECT_ERROR(parse_spm_model(of_size(kMaxSpmFileBytes + 1), "spm.model"), kTokenizerFile, "67108864 bytes");
}

TEST_F(Limits, AnSpmModelHas2To20Pieces) {
  std::string bytes = make_spm(small_spm({}));
  for (size_t i = 4; i < kMaxPieces; ++i) bytes += wire_bytes(1, wire_bytes(1, number_of(i)));
  EXPECT_EQ(parse_spm_model(bytes, "spm.model").pieces.size(), kMaxPieces);
  bytes += wire_bytes(1, wire_bytes(1, "more"));
  EXPECT_ERROR(parse_spm_model(bytes, "spm.model"), kTokenizerFile, "at most 1048576 pieces");
}

TEST_F(Limits, KeysAndReplacementsOfACharsmap) {
  EXPECT_EQ(
      Charsmap(make_charsmap({{std::string(256, 'a'), "b"}}), "c").longest_prefix(std::string(300, 'a')).size_bytes,
      256u);
  EXPECT_ERROR(Charsmap(make_charsmap({{std::string(257, 'a'), "b"}}), "c"), kTokenizerFile, "at most 256 bytes");
  EXPECT_EQ(Charsmap(make_charsmap({{"a", std::string(64, 'b')}}), "c").longest_prefix("a").replacement.size(), 64u);
  EXPECT_ERROR(Charsmap(make_charsmap({{"a", std::string(65, 'b')}}), "c"), kTokenizerFile, "at most 64 bytes");
}

struct Unigram {
  std::string vocab = R"(["[UNK]", 0], ["a", -1])", added = "", more = "";
};
std::string json_of(const Unigram& file) {
  return R"({"added_tokens": [)" + file.added +
         R"(], "normalizer": null, "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581"}, "decoder": null, )"
         R"("post_processor": {"type": "BertProcessing", "cls": ["[UNK]", 0], "sep": ["[UNK]", 0]}, )"
         R"("model": {"type": "Unigram", "unk_id": 0, "vocab": [)" +
         file.vocab + "]}" + file.more + "}";
}

TEST_F(Limits, ATokenizerJsonHas64Mebibytes) {
  const std::string text = json_of({});
  EXPECT_NO_THROW(load("tokenizer.json", text + std::string(kMaxSpmFileBytes - text.size(), ' ')));
  EXPECT_ERROR(load("tokenizer.json", text + std::string(kMaxSpmFileBytes + 1 - text.size(), ' ')), kTooLarge,
               "at most 67108864 bytes");
}

TEST_F(Limits, ATokenizerJsonHas32Levels) {
  const auto nested = [](size_t levels) {
    return json_of({.more = R"(, "x": )" + std::string(levels - 1, '[') + std::string(levels - 1, ']')});
  };
  EXPECT_NO_THROW(load("tokenizer.json", nested(32)));
  EXPECT_ERROR(load("tokenizer.json", nested(33)), kJson, "at most 32 nested levels");
}

TEST_F(Limits, ATokenizerJsonHas2To20Pieces) {
  std::string vocab = R"(["[UNK]", 0])";
  for (size_t i = 1; i < kMaxPieces; ++i) vocab += ",[\"" + number_of(i) + "\",-1]";
  EXPECT_EQ(load("tokenizer.json", json_of({.vocab = vocab})).size(), kMaxPieces + 4);  // plus special tokens
  EXPECT_ERROR(load("tokenizer.json", json_of({.vocab = vocab + R"(,["more",-1])"})), kTokenizerFile,
               "expected 1..1048576 pieces, got 1048577");
}

TEST_F(Limits, APieceOfATokenizerJsonHas1024Bytes) {
  const auto piece = [](size_t size) {
    return json_of({.vocab = R"(["[UNK]", 0], [")" + std::string(size, 'a') + "\", -1]"});
  };
  EXPECT_NO_THROW(load("tokenizer.json", piece(1024)));
  EXPECT_ERROR(load("tokenizer.json", piece(1025)), kTokenizerFile, "expected 1..1024 bytes, got 1025");
  const auto added = [](size_t size) {
    return json_of({.added = R"({"id": 2, "special": true, "content": ")" + std::string(size, 'a') + "\"}"});
  };
  EXPECT_NO_THROW(load("tokenizer.json", added(1024)));
  EXPECT_ERROR(load("tokenizer.json", added(1025)), kTokenizerFile, "at most 1024 bytes, got 1025");
}

TEST_F(Limits, AVocabTxtHas2To20Pieces) {
  std::string lines;
  for (size_t i = 0; i < kMaxPieces; ++i) lines += number_of(i) + "\n";
  write_text(folder_.path("vocab.txt"), lines);
  EXPECT_EQ(load_vocab_txt(folder_.path("vocab.txt")).pieces.size(), kMaxPieces);
  write_text(folder_.path("vocab.txt"), lines + "more\n");
  EXPECT_ERROR(load_vocab_txt(folder_.path("vocab.txt")), kTokenizerFile, "at most 1048576 pieces");
}

// The pieces and ids of vocab.json: bpe_model_test.cpp.
TEST_F(Limits, ABytePairModelHas2To20Merges) {
  BpeMergeTexts merges(kMaxPieces, {"a", "c"});
  EXPECT_ERROR(make_bpe_model({"a"}, "vocab", merges, "merges"), kTokenizerFile, "expected a piece of the vocabulary");
  merges.emplace_back("a", "c");
  EXPECT_ERROR(make_bpe_model({"a"}, "vocab", merges, "merges"), kTokenizerFile, "at most 1048576 merges, got 1048577");
  std::string vocab = R"({"a": 1048575, "b": 0, "ab": 1})";
  write_text(folder_.path("vocab.json"), vocab);
  write_text(folder_.path("merges.txt"), "#version: 0.2\na b\n");
  EXPECT_EQ(load_bpe_model(folder_.path()).pieces.size(), kMaxPieces);
}

TEST_F(Limits, ATextHasAMebibyteUnlessAskedForMore) {
  const Tokenizer tokenizer = load("tokenizer.json", json_of({}));
  EXPECT_NO_THROW(tokenizer.encode(std::string(1 << 20, 'a')));
  EXPECT_ERROR(tokenizer.encode(std::string((1 << 20) + 1, 'a')), kTextTooLong, "at most 1048576 bytes, got 1048577");
}

}  // namespace
}  // namespace deberta::test::limits_test

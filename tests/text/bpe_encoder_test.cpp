// bpe_encoder.bin: the same ids as the same vocabulary in vocab.json, the two containers and the bare pickle, and what
// is refused. The samples were written by torch.save (tests/golden/tokenizer/bpe/make_encoder.py).
#include "text/bpe/bpe_encoder.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "deberta/tokenizer.h"
#include "support/bad_bin.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::test::bpe_encoder_test {
namespace {

using Texts = std::vector<std::string>;

TEST(BpeEncoder, HasTheIdsOfTheSameVocabularyInTwoFiles) {
  const Tokenizer expected = Tokenizer::load(fixture("tokenizer/bpe"));
  for (const char* name : {"bpe_encoder.bin", "bpe_encoder_legacy.bin"}) {
    const TemporaryFolder folder;
    write_text(folder.path("bpe_encoder.bin"),
               read_file(fixture(std::string("tokenizer/bpe/") + name), size_t{1} << 20));
    const Tokenizer tokenizer = Tokenizer::load(folder.path());
    ASSERT_EQ(tokenizer.size(), expected.size());
    for (size_t id = 0; id < expected.size(); ++id)
      EXPECT_EQ(tokenizer.piece(static_cast<int32_t>(id)), expected.piece(static_cast<int32_t>(id)));
    EXPECT_EQ(tokenizer.special().mask, expected.special().mask);
    for (const char* text : {"The cat  [MASK] walks", "it's 25 \u00e9t\u00e9s\n\n\u4eca", "[CLS] x"})
      EXPECT_EQ(tokenizer.encode(text).ids, expected.encode(text).ids) << text;
  }
}

TEST(BpeEncoder, ComesAfterTwoFilesAndBeforeTokenizerJson) {
  const TemporaryFolder folder;
  write_text(folder.path("bpe_encoder.bin"), "x");
  write_text(folder.path("tokenizer.json"), "{}");
  write_text(folder.path("vocab.json"), "{}");
  EXPECT_ERROR(Tokenizer::load(folder.path()), kBin, "bpe_encoder.bin");
  write_text(folder.path("merges.txt"), "");
  EXPECT_ERROR(Tokenizer::load(folder.path()), kTokenizerFile, "merges.txt");
}

// ---- in code: GPT-2 ids 7 "a", 5 "b", 9 "ab"

std::string push_dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string body = "}(";
  for (const auto& [key, value] : items) body += push_text(key) + value;
  return body + "u";
}
std::string push_list(const Texts& items) {
  std::string body = "](";
  for (const std::string& item : items) body += item;
  return body + "e";
}
std::string push_pair(const std::string& symbol, int64_t count) {
  return push_tuple({push_text(symbol), push_number(count)});
}

struct Parts {
  std::string encoder = push_dict({{"a", push_number(7)}, {"b", push_number(5)}, {"ab", push_number(9)}});
  std::string vocab = push_list({push_tuple({push_text("a"), push_text("b")})});
  std::string dict_map = push_list(
      {push_pair("9", 30), push_pair("5", 20), push_pair("7", 10), push_pair("5", 1), push_pair("madeupword0000", 0)});
};
std::string object_of(const Parts& parts) {
  return push_dict({{"encoder", parts.encoder}, {"vocab", parts.vocab}, {"dict_map", parts.dict_map}});
}

BpeModel load(const std::string& bytes) {
  const TemporaryFolder folder;
  write_text(folder.path("bpe_encoder.bin"), bytes);
  return load_bpe_encoder(folder.path("bpe_encoder.bin"));
}

TEST(BpeEncoder, NumbersTheSymbolsInTheOrderOfTheMapAfterFourSpecialOnes) {
  const Texts expected = {"[PAD]", "[CLS]", "[SEP]", "[UNK]", "ab", "b", "a", "madeupword0000", "[MASK]"};
  EXPECT_EQ(load(pickle(object_of({}))).pieces, expected);
  EXPECT_EQ(load(zip_bin(pickle(object_of({})), {})).pieces, expected);
  EXPECT_EQ(load(legacy_bin(pickle(object_of({})), {})).pieces, expected);
}

TEST(BpeEncoder, RefusesWhatIsNotSuchAVocabulary) {
  const std::vector<std::pair<Parts, std::string>> cases = {
      {{.encoder = "]"}, "encoder: expected a dict, got list"},
      {{.encoder = push_dict({{"a", push_text("7")}})}, "encoder: \"a\": expected an integer, got string"},
      {{.encoder = push_dict({{"a", push_number(1)}, {"b", push_number(1)}})}, "encoder: id 1 appears twice"},
      {{.encoder = push_dict({{"", push_number(1)}})}, "encoder: expected 1..1024 bytes of UTF-8"},
      {{.encoder = push_dict({{"\xFF", push_number(1)}})}, "encoder: expected 1..1024 bytes of UTF-8"},
      {{.encoder = push_dict({{std::string(1025, 'a'), push_number(1)}})}, "encoder: expected 1..1024 bytes"},
      {{.vocab = "}"}, "vocab: expected a list, got dict"},
      {{.vocab = push_list({push_text("a b")})}, "vocab: expected pairs, got string"},
      {{.vocab = push_list({push_tuple({push_text("a")})})}, "vocab: expected pairs, got tuple"},
      {{.vocab = push_list({push_tuple({push_text("b"), push_text("a")})})}, "merge 1: expected a piece"},
      {{.vocab = push_list({push_pair("a", 1)})}, "vocab: expected text, got integer"},
      {{.dict_map = push_list({push_tuple({push_number(7), push_number(1)})})}, "dict_map: expected text, got integer"},
      {{.dict_map = push_list({push_tuple({push_text("7"), push_text("1")})})}, "dict_map: expected (symbol, count)"},
      {{.dict_map = push_list({push_pair("7", 1), push_pair("a", 1)})}, "dict_map: \"a\" appears twice"},
      {{.dict_map = push_list({})}, "merge 1: expected a piece"},
      {{.encoder = "]", .dict_map = "]"}, "encoder: expected a dict"},  // the first mistake, whatever the compiler
  };
  for (const auto& [parts, part] : cases) {
    SCOPED_TRACE(part);
    EXPECT_ERROR(load(pickle(object_of(parts))), kTokenizerFile, part);
  }
  EXPECT_ERROR(load(pickle("]")), kTokenizerFile, "expected a dict, got list");
  EXPECT_ERROR(load(pickle(push_dict({{"encoder", "}"}}))), kTokenizerFile, "dict_map: expected in the dict, got none");
  EXPECT_ERROR(load(pickle(object_of({})) + "x"), kTokenizerFile, "expected to end with STOP, got 1 more bytes");
  EXPECT_ERROR(load(legacy_bin(pickle(object_of({})), {{"0", 1, "abcd"}})), kTokenizerFile, "got tensors");
}

TEST(BpeEncoder, RunsNothingThatAPickleAsksFor) {
  const std::string call = "cos\nsystem\n(" + push_text("touch x") + "tR";
  EXPECT_ERROR(load(pickle(call)), kBin, "\"system\" of \"os\" is not data");
  EXPECT_ERROR(load(zip_bin(pickle(call), {})), kBin, "is not data");
  EXPECT_ERROR(load(legacy_bin(pickle(call), {})), kBin, "is not data");
  EXPECT_ERROR(load(pickle(push_tensor({}))), kBin, "\"_rebuild_tensor_v2\" of \"torch._utils\" is not data");
  EXPECT_ERROR(load(pickle("i")), kBin, "opcode 0x69 at offset 2 is not data");
  EXPECT_ERROR(load("hello"), kBin, "expected PROTO first");
  EXPECT_ERROR(load(""), kBin, "expected STOP");
}

TEST(BpeEncoder, RefusesAFileThatIsCutOffAnywhere) {
  const std::string whole = pickle(object_of({}));
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_ERROR(load(whole.substr(0, size)), kBin, "");
}

}  // namespace
}  // namespace deberta::test::bpe_encoder_test

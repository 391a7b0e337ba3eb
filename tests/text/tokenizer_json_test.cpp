// tokenizer.json: ids as the tokenizers library 0.22.2 gives them (tests/golden/tokenizer/json/make.py), the rules in
// which it differs from SentencePiece, and everything that is refused.
#include "text/hf_json/tokenizer_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/file.h"
#include "base/json.h"
#include "deberta/tokenizer.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/warnings.h"
#include "text/hf_json/json_scores.h"

namespace deberta::test::tokenizer_json_test {
namespace {

using Ids = std::vector<int32_t>;
using Offsets = std::vector<Offset>;

Tokenizer load(const std::string& json) {
  const TemporaryFolder folder;
  write_text(folder.path("tokenizer.json"), json);
  return Tokenizer::load(folder.path());
}

TEST(TokenizerJson, HasTheIdsOfTheLibrary) {
  const Json golden = load_json(fixture("tokenizer/json/golden.json"));
  for (const char* name : {"unigram", "bpe"}) {
    const Tokenizer tokenizer =
        load(read_file(fixture(std::string("tokenizer/json/") + name + ".json"), size_t{1} << 20));
    for (const Json& row : golden.find(name)->as_array()) {
      Ids expected;
      for (const Json& id : row.as_array()[1].as_array()) expected.push_back(static_cast<int32_t>(id.as_integer()));
      EXPECT_EQ(tokenizer.encode(row.as_array()[0].as_string()).ids, expected) << name << row.as_array()[0].as_string();
    }
  }
}

TEST(TokenizerJson, TheOtherFilesWin) {
  const TemporaryFolder folder;
  write_text(folder.path("tokenizer.json"), "no JSON");
  EXPECT_ERROR(Tokenizer::load(folder.path()), kJson, "tokenizer.json");
  write_text(folder.path("spm.model"), read_file(fixture("tokenizer/unknown.model"), size_t{1} << 20));
  const Warnings warnings;
  EXPECT_GT(Tokenizer::load(folder.path()).size(), 0U);
  EXPECT_NE(warnings.text.find("its tokens are not used"), std::string::npos) << warnings.text;
}

// What tokenizers 0.22.2 keeps of texts with these numbers of tokens, truncated to ten including special ones.
TEST(TokenizerJson, OfAPairThatIsCutTheLongerTextHasTheOddToken) {
  struct Row {
    size_t first, second, keeps_first, keeps_second;
  };
  const Tokenizer tokenizer = load(read_file(fixture("tokenizer/json/unigram.json"), size_t{1} << 20));
  const auto text = [](size_t words) {
    std::string many;
    for (size_t i = 0; i < words; ++i) many += "a ";
    return many;
  };
  for (const Row& row : {Row{9, 9, 3, 4}, Row{10, 9, 4, 3}, Row{9, 10, 3, 4}, Row{9, 2, 5, 2}, Row{2, 9, 2, 5}}) {
    const Encoding encoding =
        tokenizer.encode_pair(text(row.first), text(row.second), {.truncate = Truncate::kRight, .max_tokens = 10});
    EXPECT_EQ(encoding.second_begin - 2, row.keeps_first) << row.first << " and " << row.second;
    EXPECT_EQ(encoding.size() - encoding.second_begin - 1, row.keeps_second) << row.first << " and " << row.second;
  }
}

// ---- small files, in parts

constexpr const char* kAdded = R"({"id": 0, "content": "[PAD]", "special": true, "normalized": false},)"
                               R"({"id": 1, "content": "[CLS]", "special": true, "normalized": false},)"
                               R"({"id": 2, "content": "[SEP]", "special": true, "normalized": false},)"
                               R"({"id": 3, "content": "[UNK]", "special": true, "normalized": false})";
constexpr const char* kPieces =
    R"(["[PAD]", 0], ["[CLS]", 0], ["[SEP]", 0], ["[UNK]", 0], ["\u2581", -3.5], ["a", -4.0])";

// [CLS] A [SEP] B [SEP]
constexpr const char* kTemplate = R"({"type": "BertProcessing", "cls": ["[CLS]", 1], "sep": ["[SEP]", 2]})";

struct Unigram {
  std::string added = kAdded;
  std::string normalizer = "null";
  std::string pre_tokenizer = R"({"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": true})";
  std::string decoder = "null";
  std::string pieces = "";  // after kPieces; ids from 6
  std::string more = R"("unk_id": 3)";
  std::string post_processor = kTemplate;
};
std::string text_of(const Unigram& file) {
  return "{\"added_tokens\": [" + file.added + "], \"normalizer\": " + file.normalizer +
         ", \"post_processor\": " + file.post_processor + ", \"pre_tokenizer\": " + file.pre_tokenizer +
         ", \"decoder\": " + file.decoder + ", \"model\": {\"type\": \"Unigram\", \"vocab\": [" + kPieces +
         file.pieces + "], " + file.more + "}}";
}
Ids ids_of(const Tokenizer& tokenizer, const std::string& text, bool parse_special = true) {
  return tokenizer.encode(text, {.add_special_tokens = false, .parse_special = parse_special}).ids;
}
std::string bytes_pieces() {
  std::string pieces;
  for (const char* byte : {"<0x62>", "<0xE8>", "<0xB0>", "<0x9B>", "<0xE2>", "<0x96>", "<0x81>"})
    pieces += std::string(", [\"") + byte + "\", 0]";
  return pieces;  // ids 6..12
}

TEST(TokenizerJsonUnigram, TiesAreBrokenWordByWordInDouble) {
  // 0.1 + 0.2 is above 0.3 in double: the sum of two pieces wins over the one that came first.
  const Tokenizer in_order =
      load(text_of({.pieces = R"(, ["b", -0.1], ["c", -0.2], ["bc", -0.3], ["\u2581b", -3.6])"}));
  EXPECT_EQ(ids_of(in_order, "bc"), (Ids{4, 8}));
  const Tokenizer equal = load(text_of({.pieces = R"(, ["b", -1.0], ["bb", -2.0])"}));
  EXPECT_EQ(ids_of(equal, "bbb"), (Ids{4, 6, 7}));
}

TEST(TokenizerJsonUnigram, ScoresAreReadWithTheLibrarysRounding) {
  EXPECT_EQ(library_score(-7.4597954750061035), -7.459795475006104);
  EXPECT_EQ(library_score(-7.4928669929504395), -7.49286699295044);
  EXPECT_EQ(library_score(-7.5), -7.5);
  EXPECT_EQ(library_score(0.0), 0.0);
  EXPECT_EQ(library_score(1e22), 1e22);
  EXPECT_EQ(library_score(-10), -10.0);
  EXPECT_TRUE(std::signbit(library_score(-1e-5)));
}

TEST(TokenizerJsonUnigram, EveryPieceMayMatchAlsoByteOnes) {
  const Tokenizer tokenizer =
      load(text_of({.pieces = bytes_pieces(), .more = R"("unk_id": 3, "byte_fallback": true)"}));
  EXPECT_EQ(ids_of(tokenizer, "a<0x62>"), (Ids{4, 5, 6}));
}

TEST(TokenizerJsonUnigram, LiteralTextGivesNoSpecialToken) {
  const Tokenizer tokenizer = load(text_of({}));
  EXPECT_EQ(ids_of(tokenizer, "a[SEP]a"), (Ids{4, 5, 2, 4, 5}));
  EXPECT_EQ(ids_of(tokenizer, "a[SEP]a", false), (Ids{4, 5, 3, 5}));
  EXPECT_EQ(ids_of(tokenizer, "[UNK]b", false), (Ids{4, 3}));
}

TEST(TokenizerJsonUnigram, UnknownCharactersBecomeOneToken) {
  EXPECT_EQ(ids_of(load(text_of({})), "xyz ax"), (Ids{4, 3, 4, 5, 3}));
  // The unknown piece itself is merged with them.
  EXPECT_EQ(ids_of(load(text_of({.more = R"("unk_id": 5)"})), "xayaa a"), (Ids{4, 5, 4, 5}));
}

TEST(TokenizerJsonUnigram, UnknownTextBecomesItsBytesWhenAllOfThemHavePieces) {
  const Tokenizer tokenizer =
      load(text_of({.pieces = bytes_pieces(), .more = R"("unk_id": 3, "byte_fallback": true)"}));
  EXPECT_EQ(ids_of(tokenizer, "\u8c1bb"), (Ids{4, 7, 8, 9, 6}));
  EXPECT_EQ(ids_of(tokenizer, "\u8c1bx"), (Ids{4, 3}));
  const Encoding encoding = tokenizer.encode("a\u8c1bb", {.add_special_tokens = false});
  EXPECT_EQ(encoding.bytes, (Offsets{{0, 0}, {0, 1}, {1, 4}, {1, 4}, {1, 4}, {4, 5}}));
  EXPECT_EQ(tokenizer.decode(encoding.ids), "a\u8c1bb");
}

TEST(TokenizerJsonUnigram, EachSpaceBeginsAWord) {
  const Unigram file{.pieces = R"(, ["a\u2581a", -1.0], ["\u2581\u2581", -1.0])"};
  EXPECT_EQ(ids_of(load(text_of(file)), "a a"), (Ids{4, 5, 4, 5}));
  EXPECT_EQ(ids_of(load(text_of(file)), "a  a\u2581"), (Ids{4, 5, 4, 4, 5, 4}));
  Unigram whole = file;
  whole.pre_tokenizer = R"({"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "never", "split": false})";
  EXPECT_EQ(ids_of(load(text_of(whole)), "a a  "), (Ids{6, 7}));
}

TEST(TokenizerJsonUnigram, TheSchemeFirstPutsASpaceBeforeTheTextsBeginOnly) {
  Unigram file;
  file.pre_tokenizer = R"({"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first"})";
  const Tokenizer tokenizer = load(text_of(file));
  EXPECT_EQ(ids_of(tokenizer, "a a"), (Ids{4, 5, 4, 5}));
  EXPECT_EQ(ids_of(tokenizer, " a"), (Ids{4, 5}));
  EXPECT_EQ(ids_of(tokenizer, "a[SEP]a"), (Ids{4, 5, 2, 5}));  // always: 4, 5, 2, 4, 5
  EXPECT_EQ(ids_of(tokenizer, "[SEP]a"), (Ids{2, 5}));
  file.normalizer = R"({"type": "Strip", "strip_left": true, "strip_right": true})";
  EXPECT_EQ(ids_of(load(text_of(file)), " a"), (Ids{5}));
  file.normalizer = R"({"type": "Replace", "pattern": {"String": "xx"}, "content": "a"})";
  EXPECT_EQ(ids_of(load(text_of(file)), "xx"), (Ids{5}));  // the library: from the second x
  EXPECT_EQ(ids_of(load(text_of(file)), "a xx"), (Ids{4, 5, 4, 5}));
}

TEST(TokenizerJsonWordPiece, WordsBeginWithTheirSpaceBehindMetaspace) {
  const auto text_with = [](const std::string& pre_tokenizer, const std::string& normalizer) {
    return std::string("{\"added_tokens\": [") + kAdded + "], \"normalizer\": " + normalizer +
           ", \"post_processor\": " + kTemplate + ", \"pre_tokenizer\": " + pre_tokenizer +
           R"(, "decoder": null, "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",)"
           R"( "max_input_chars_per_word": 100, "vocab": {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3, "\u2581": 4,)"
           R"( "a": 5, "\u2581a": 6, "##b": 7, "##a": 8, "##\u2581": 9, ".": 10}}})";
  };
  const std::string metaspace = R"({"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"})";
  const Tokenizer tokenizer = load(text_with(metaspace, "null"));
  EXPECT_EQ(ids_of(tokenizer, "ab  a"), (Ids{6, 7, 4, 6}));
  const Encoding encoding = tokenizer.encode("ab  a", {.add_special_tokens = false});
  EXPECT_EQ(encoding.bytes, (Offsets{{0, 1}, {1, 2}, {3, 3}, {4, 5}}));
  EXPECT_EQ(tokenizer.decode(encoding.ids), "ab  a");
  const std::string never = R"({"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "never"})";
  EXPECT_EQ(ids_of(load(text_with(never, "null")), "[SEP]"), (Ids{2}));
  EXPECT_EQ(ids_of(load(text_with(never, "null")), "[SEP]", false), (Ids{3}));  // a word like any other
  const std::string cut = R"({"type": "Sequence", "pretokenizers": [)" + metaspace +
                          R"(, {"type": "Punctuation", "behavior": "Isolated"}]})";
  EXPECT_EQ(ids_of(load(text_with(cut, "null")), "a.a"), (Ids{6, 10, 5}));
  const std::string first = R"({"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first"})";
  EXPECT_EQ(ids_of(load(text_with(first, "null")), "a[SEP]a a"), (Ids{6, 2, 5, 6}));
  EXPECT_ERROR(load(text_with(first, R"({"type": "Replace", "pattern": {"String": "x"}, "content": "y"})")),
               kUnsupported,
               "prepend_scheme: expected always or never of WordPiece behind a charsmap or a replacement, got first");
}

TEST(TokenizerJsonUnigram, AClusterOfFewBytesIsReplacedWholeByTheShortestRule) {
  const Tokenizer tokenizer = load(read_file(fixture("tokenizer/json/unigram.json"), size_t{1} << 20));
  EXPECT_EQ(ids_of(tokenizer, "\uFF37\u0301ord"), ids_of(tokenizer, "Word"));        // five bytes: the mark is lost
  EXPECT_NE(ids_of(tokenizer, "\uFF37\u0301\u0301ord"), ids_of(tokenizer, "Word"));  // seven
}

TEST(TokenizerJsonUnigram, NormalizedTokensAreFoundInTheNormalisedText) {
  Unigram file;
  file.added += R"(, {"id": 6, "content": "WORD", "normalized": true})";
  file.normalizer = R"({"type": "Sequence", "normalizers": [{"type": "Lowercase"}]})";
  const Tokenizer tokenizer = load(text_of(file));
  EXPECT_EQ(ids_of(tokenizer, "a wOrD"), (Ids{4, 5, 4, 6}));
  EXPECT_EQ(ids_of(tokenizer, "a wOrD", false), (Ids{4, 5, 4, 3}));
  EXPECT_EQ(tokenizer.encode("a wOrDa").bytes[4], (Offset{2, 6}));
}

TEST(TokenizerJsonUnigram, OffsetsAreThoseOfTheTextBeforeNormalisation) {
  Unigram file;
  file.normalizer = R"({"type": "Sequence", "normalizers": [{"type": "Strip", "strip_left": true, "strip_right": true},
      {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
      {"type": "Replace", "pattern": {"String": "bb"}, "content": "aa"}]})";
  const Encoding encoding = load(text_of(file)).encode("  a   bb \u3000", {.add_special_tokens = false});
  EXPECT_EQ(encoding.ids, (Ids{4, 5, 4, 5, 5}));
  EXPECT_EQ(encoding.bytes, (Offsets{{2, 2}, {2, 3}, {6, 6}, {6, 8}, {6, 8}}));
}

TEST(TokenizerJsonUnigram, ATokenThatStripsTakesWhiteSpaceOfUnicodeNotOfPython) {
  Unigram file;
  file.added += R"(, {"id": 6, "content": "[MASK]", "special": true, "lstrip": true, "normalized": false})";
  const Tokenizer tokenizer = load(text_of(file));
  EXPECT_EQ(tokenizer.special().mask, 6);
  EXPECT_EQ(ids_of(tokenizer, "a \u3000[MASK]"), (Ids{4, 5, 6}));
  EXPECT_EQ(ids_of(tokenizer, "a\x1c[MASK]"), (Ids{4, 5, 3, 6}));
}

TEST(TokenizerJsonUnigram, ATokenThatStripsLeavesAnotherTokenWhole) {
  Unigram file;
  file.added += R"(, {"id": 6, "content": "b ", "special": true, "normalized": false})";
  file.added += R"(, {"id": 7, "content": "[MASK]", "special": true, "lstrip": true, "normalized": false})";
  const Tokenizer tokenizer = load(text_of(file));
  EXPECT_EQ(ids_of(tokenizer, "ab [MASK]"), (Ids{4, 5, 6, 7}));
}

TEST(TokenizerJsonUnigram, AMissingMaskComesAfterAllOthers) {
  EXPECT_EQ(load(text_of({})).special().mask, 6);
}

// ---- what is refused

using Change = std::function<void(Unigram&)>;

TEST(TokenizerJsonUnigram, RefusesComponentsThatAreNotComputed) {
  const std::vector<std::pair<Change, std::string>> cases = {
      {[](Unigram& f) { f.normalizer = R"({"type": "NFKC"})"; }, "normalizer: \"NFKC\" is not supported"},
      {[](Unigram& f) { f.normalizer = R"({"type": "Sequence", "normalizers": [{"type": "Nmt"}]})"; }, "\"Nmt\""},
      {[](Unigram& f) { f.normalizer = R"({"type": "Replace", "pattern": {"Regex": "(a+)+$"}, "content": ""})"; },
       "the pattern \"(a+)+$\" is unknown"},
      {[](Unigram& f) { f.pre_tokenizer = R"({"type": "UnicodeScripts"})"; }, "pre_tokenizer: \"UnicodeScripts\""},
      {[](Unigram& f) {
         f.pre_tokenizer = R"({"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": "a|b"}}]})";
       },
       "the pattern \"a|b\" is unknown"},
      {[](Unigram& f) {
         f.pre_tokenizer = R"({"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "last"})";
       },
       "prepend_scheme: expected always, first or never"},
      {[](Unigram& f) { f.decoder = R"({"type": "BPEDecoder"})"; }, "decoder: \"BPEDecoder\""},
      {[](Unigram& f) { f.post_processor = "null"; }, "got none: texts would have no special tokens"},
      {[](Unigram& f) { f.post_processor = R"({"type": "Other"})"; }, "post_processor: \"Other\" is not supported"},
      {[](Unigram& f) { f.decoder = R"({"type": "Sequence", "decoders": [{"type": "CTC"}]})"; }, "\"CTC\""},
  };
  for (const auto& [change, part] : cases) {
    SCOPED_TRACE(part);
    Unigram file;
    change(file);
    EXPECT_ERROR(load(text_of(file)), kUnsupported, part);
  }
  EXPECT_ERROR(load(R"({"model": {"type": "WordLevel"}})"), kUnsupported, "model: \"WordLevel\" is not supported");
}

TEST(TokenizerJsonUnigram, RefusesBrokenFiles) {
  const std::vector<std::pair<Change, std::string>> cases = {
      {[](Unigram& f) { f.more = R"("unk_id": null)"; }, "unk_id: expected 0..5, got null"},
      {[](Unigram& f) { f.more = R"("unk_id": 6)"; }, "unk_id: expected 0..5, got 6"},
      {[](Unigram& f) { f.more = R"("unk_id": -1)"; }, "unk_id: expected 0..5, got -1"},
      {[](Unigram& f) { f.more = R"("unk_id": 3, "byte_fallback": 1)"; }, "byte_fallback: expected true or false"},
      {[](Unigram& f) { f.pieces = R"(, ["a", -1])"; }, "pieces 5 and 6 are equal"},
      {[](Unigram& f) { f.pieces = R"(, ["", -1])"; }, "piece 6: expected 1..1024 bytes, got 0"},
      {[](Unigram& f) { f.pieces = ", [\"" + std::string(1025, 'x') + "\", -1]"; }, "piece 6: expected 1..1024 bytes"},
      {[](Unigram& f) { f.pieces = R"(, ["x"])"; }, "piece 6: expected [text, score]"},
      {[](Unigram& f) { f.pieces = R"(, ["x", "1"])"; }, "piece 6: expected [text, score]"},
      {[](Unigram& f) { f.pieces = R"(, "x")"; }, "piece 6: expected [text, score]"},
      {[](Unigram& f) { f.normalizer = "[]"; }, "normalizer: expected an object or null"},
      {[](Unigram& f) { f.normalizer = "{}"; }, "normalizer: expected type, got none"},
      {[](Unigram& f) { f.normalizer = R"({"type": "Strip", "strip_left": 1})"; },
       "strip_left: expected true or false"},
      {[](Unigram& f) { f.normalizer = R"({"type": "Sequence"})"; }, "expected normalizers, got none"},
      {[](Unigram& f) { f.normalizer = R"({"type": "Precompiled", "precompiled_charsmap": "A"})"; }, "expected base64"},
      {[](Unigram& f) { f.normalizer = R"({"type": "Precompiled", "precompiled_charsmap": "AAAA"})"; },
       "precompiled_charsmap: expected at least 4 bytes"},
      {[](Unigram& f) { f.normalizer = R"({"type": "Replace", "pattern": {"String": ""}, "content": "a"})"; },
       "Replace: expected a string, got none"},
      {[](Unigram& f) { f.normalizer = R"({"type": "Replace", "pattern": "x", "content": "a"})"; },
       "pattern: expected an object with String or Regex"},
      {[](Unigram& f) { f.pre_tokenizer = "null"; }, "pre_tokenizer: expected one Metaspace, got 0"},
      {[](Unigram& f) { f.pre_tokenizer = R"({"type": "Whitespace"})"; }, "expected one Metaspace, got 0"},
      {[](Unigram& f) { f.pieces = R"(, ["x", 1e999])"; }, "piece 6: expected a finite score"},
      {[](Unigram& f) { f.pre_tokenizer = R"({"type": "Metaspace", "replacement": "_"})"; }, "replacement"},
      {[](Unigram& f) {
         f.pre_tokenizer = R"({"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": false})";
       },
       "add_prefix_space: false contradicts"},
      {[](Unigram& f) { f.added = R"({"id": 4, "content": "[PAD]"})"; }, "\"[PAD]\": expected id 0, got 4"},
      {[](Unigram& f) { f.added = R"({"id": 7, "content": "[MASK]"})"; }, "\"[MASK]\": expected id 6, got 7"},
      {[](Unigram& f) { f.added = R"({"id": -1, "content": ""})"; }, "id: expected 0.."},
      {[](Unigram& f) { f.added = R"({"id": 6, "content": "a\u0000"})"; }, "expected a token without NUL"},
      {[](Unigram& f) { f.added = R"({"id": 99999999, "content": "x"})"; }, "id: expected 0..2097151"},
      {[](Unigram& f) { f.added = R"("x")"; }, "added_tokens: expected an object"},
      {[](Unigram& f) { f.added += std::string(", ") + kAdded; }, "appears twice"},
      {[](Unigram& f) {
         f.normalizer = R"({"type": "Strip", "strip_left": true, "strip_right": true})";
         f.added += R"(, {"id": 6, "content": " ", "normalized": true})";
       },
       "expected a token that"},
  };
  for (const auto& [change, part] : cases) {
    SCOPED_TRACE(part);
    Unigram file;
    change(file);
    EXPECT_ERROR(load(text_of(file)), kTokenizerFile, part);
    EXPECT_ERROR(load(text_of(file)), kTokenizerFile, "tokenizer.json");
  }
}

TEST(TokenizerJson, AnAddedTokenWithoutATextIsIgnored) {
  Unigram file;
  const Ids expected = ids_of(load(text_of(file)), "a");
  file.added = R"({"id": 3, "content": ""}, )" + file.added;
  EXPECT_EQ(ids_of(load(text_of(file)), "a"), expected);
}

TEST(TokenizerJson, RefusesOtherFiles) {
  EXPECT_ERROR(load("[]"), kTokenizerFile, "expected an object");
  EXPECT_ERROR(load("{}"), kTokenizerFile, "model: expected an object or null, got null");
  EXPECT_ERROR(load(R"({"model": {}})"), kTokenizerFile, "model: expected type, got none");
  EXPECT_ERROR(load(R"({"model": {"type": "Unigram", "vocab": []}, "pre_tokenizer": )" + Unigram().pre_tokenizer + "}"),
               kTokenizerFile, "vocab: expected 1..1048576 pieces, got 0");
  EXPECT_ERROR(load(R"({"x": )" + std::string(33, '[') + std::string(33, ']') + "}"), kJson, "");
}

// ---- byte-level BPE

struct Bpe {
  std::string normalizer = "null";
  std::string pre_tokenizer = R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true})";
  std::string merges = R"("a b")";
  std::string more = "";
  std::string lost = "";  // a piece left out
  std::string last_id = "260";
};
// The bytes have the ids 4..259, "ab" the last one.
std::string text_of(const Bpe& file) {
  const Json whole = load_json(fixture("tokenizer/json/bpe.json"), {.max_bytes = size_t{1} << 20});
  const JsonObject& vocab = whole.find("model")->find("vocab")->as_object();
  std::string pieces;
  for (size_t id = 0; id < 260; ++id) {
    if (vocab[id].first == file.lost) continue;
    pieces += quote_json(vocab[id].first) + ": " + std::to_string(id) + ", ";
  }
  return R"({"added_tokens": [], "normalizer": )" + file.normalizer + ", \"pre_tokenizer\": " + file.pre_tokenizer +
         ", \"post_processor\": " + kTemplate + R"(, "model": {"type": "BPE", "vocab": {)" + pieces + R"("ab": )" +
         file.last_id + R"(}, "merges": [)" + file.merges + "]" + file.more + "}}";
}

TEST(TokenizerJsonBpe, ReadsMergesOfBothForms) {
  const Ids expected = ids_of(load(text_of(Bpe{})), "cab");
  EXPECT_EQ(expected.back(), 260);
  EXPECT_EQ(ids_of(load(text_of(Bpe{.merges = R"(["a", "b"])"})), "cab"), expected);
}

TEST(TokenizerJsonBpe, KnowsThePatternOfGpt2ByItsText) {
  const std::string split =
      R"({"type": "Split", "pattern": {"Regex": "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"}, "behavior": "Isolated", "invert": false})";
  const std::string bytes = R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false})";
  const auto both = [](const std::string& first, const std::string& second) {
    return R"({"type": "Sequence", "pretokenizers": [)" + first + ", " + second + "]}";
  };
  EXPECT_EQ(ids_of(load(text_of(Bpe{.pre_tokenizer = both(split, bytes)})), "ab a b").front(), 260);
  std::string other = split;
  other.replace(other.find("'ll"), 3, "'LL");
  EXPECT_ERROR(load(text_of(Bpe{.pre_tokenizer = both(other, bytes)})), kUnsupported, "'LL");
  EXPECT_ERROR(load(text_of(Bpe{.pre_tokenizer = both(split, Bpe().pre_tokenizer)})), kTokenizerFile,
               "exactly one split into words");
  EXPECT_ERROR(load(text_of(Bpe{.pre_tokenizer = bytes})), kTokenizerFile, "exactly one split into words");
}

TEST(TokenizerJsonBpe, RefusesWhatDebertaDoesNotUse) {
  const std::vector<std::pair<Bpe, std::string>> cases = {
      {{.normalizer = R"({"type": "Lowercase"})"}, "normalizer: expected null with BPE"},
      {{.pre_tokenizer = R"({"type": "Whitespace"})"}, "\"Whitespace\""},
      {{.more = R"(, "dropout": 0.1)"}, "dropout: expected null"},
      {{.more = R"(, "fuse_unk": true)"}, "fuse_unk: expected false"},
      {{.more = R"(, "byte_fallback": true)"}, "byte_fallback: expected false"},
      {{.more = R"(, "ignore_merges": true)"}, "ignore_merges: expected false"},
      {{.more = R"(, "continuing_subword_prefix": "##")"}, "continuing_subword_prefix"},
      {{.more = R"(, "end_of_word_suffix": "</w>")"}, "end_of_word_suffix"},
  };
  for (const auto& [file, part] : cases) {
    SCOPED_TRACE(part);
    EXPECT_ERROR(load(text_of(file)), kUnsupported, part);
  }
}

TEST(TokenizerJsonBpe, RefusesBrokenFiles) {
  const std::vector<std::pair<Bpe, std::string>> cases = {
      {{.pre_tokenizer = "null"}, "expected ByteLevel, got 0 components"},
      {{.merges = R"("ab")"}, "merge 1: expected \"left right\""},
      {{.merges = R"("a b c")"}, "merge 1: expected \"left right\""},
      {{.merges = R"(["a", "b", "c"])"}, "merge 1: expected \"left right\""},
      {{.merges = R"(["a", 1])"}, "merge 1: expected \"left right\""},
      {{.merges = R"("b a")"}, "merge 1: expected a piece of the vocabulary, got \"ba\""},
      {{.merges = R"("a b", "a b")"}, "merge 2: \"a\" \"b\" appears twice"},
      {{.lost = "!"}, "expected a piece for each id"},
      {{.merges = R"("ab")", .last_id = "259"}, "id 259 appears twice"},  // the first mistake, whatever the compiler
  };
  for (const auto& [file, part] : cases) {
    SCOPED_TRACE(part);
    EXPECT_ERROR(load(text_of(file)), kTokenizerFile, part);
  }
}

}  // namespace
}  // namespace deberta::test::tokenizer_json_test

// The whole tokenizer on small models made in code; ids of real models: golden_test.cpp.
#include "deberta/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>

#include "base/file.h"
#include "base/utf8.h"
#include "support/bad_spm.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::test::tokenizer_test {
namespace {

using Ids = std::vector<int32_t>;

// Ids: 4 "▁", 5 "▁a", 6 "▁b", 7 "b", 8 "c", 9 "ab"
SpmSpec letters() {
  return small_spm({{"▁", -4}, {"▁a", -2}, {"▁b", -2}, {"b", -3}, {"c", -3}, {"ab", -3}});
}

struct Folder {
  explicit Folder(const SpmSpec& spec) { write_text(files.path("spm.model"), make_spm(spec)); }
  Tokenizer load() const { return Tokenizer::load(files.path()); }
  TemporaryFolder files;
};

TEST(Tokenizer, AloneASpmModelGivesTheSpecialIdsAndAMaskAfterThePieces) {
  const Tokenizer tokenizer = Folder(letters()).load();
  EXPECT_EQ(tokenizer.special().pad, 0);
  EXPECT_EQ(tokenizer.special().cls, 1);
  EXPECT_EQ(tokenizer.special().sep, 2);
  EXPECT_EQ(tokenizer.special().unk, 3);
  EXPECT_EQ(tokenizer.special().mask, 10);
  EXPECT_EQ(tokenizer.size(), 11U);
  EXPECT_EQ(tokenizer.piece(10), "[MASK]");
}

TEST(Tokenizer, AFolderWithoutAModelNamesTheFilesLookedFor) {
  const TemporaryFolder empty;
  EXPECT_ERROR(Tokenizer::load(empty.path()), kFileNotFound, "spm.model, spiece.model");
}

TEST(Tokenizer, TheTemplatesOfOneTextAndOfAPair) {
  const Tokenizer tokenizer = Folder(letters()).load();
  const Encoding single = tokenizer.encode("a b");
  EXPECT_EQ(single.ids, (Ids{1, 5, 6, 2}));
  EXPECT_EQ(single.is_special, (std::vector<uint8_t>{1, 0, 0, 1}));
  EXPECT_EQ(single.words, (Ids{-1, 0, 1, -1}));
  const Encoding pair = tokenizer.encode_pair("a b", "b");
  EXPECT_EQ(pair.ids, (Ids{1, 5, 6, 2, 6, 2}));
  EXPECT_EQ(pair.type_ids, (Ids{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(pair.bytes[4], (Offset{0, 1}));
}

std::vector<Offset> bytes_of(const Tokenizer& tokenizer, const std::string& text) {
  return tokenizer.encode(text, {.add_special_tokens = false}).bytes;
}
using Offsets = std::vector<Offset>;

// ---- offsets

TEST(TokenizerOffsets, TheSpaceBeforeAPieceIsNotPartOfIt) {
  const Tokenizer tokenizer = Folder(letters()).load();
  EXPECT_EQ(bytes_of(tokenizer, "a  b"), (Offsets{{0, 1}, {3, 4}}));
  EXPECT_EQ(bytes_of(tokenizer, "  a b  "), (Offsets{{2, 3}, {4, 5}}));
}

TEST(TokenizerOffsets, APieceThatIsOnlyASpaceIsEmptyBeforeWhatFollows) {
  const Tokenizer tokenizer = Folder(letters()).load();
  EXPECT_EQ(tokenizer.encode("a  c", {.add_special_tokens = false}).ids, (Ids{5, 4, 8}));
  EXPECT_EQ(bytes_of(tokenizer, "a  c"), (Offsets{{0, 1}, {3, 3}, {3, 4}}));
}

TEST(TokenizerOffsets, PiecesOfOneReplacedCharacterAllCoverIt) {
  SpmSpec spec = letters();
  spec.charsmap = make_charsmap({{"\xEF\xAC\x81", "bc"}, {"e\xCC\x81", "b"}});
  const Tokenizer tokenizer = Folder(spec).load();
  EXPECT_EQ(bytes_of(tokenizer, "a\xEF\xAC\x81"), (Offsets{{0, 1}, {1, 4}, {1, 4}}));
  EXPECT_EQ(bytes_of(tokenizer, "ae\xCC\x81"), (Offsets{{0, 1}, {1, 4}}));
}

TEST(TokenizerOffsets, TheBytePiecesOfACharacterAllCoverIt) {
  const Tokenizer tokenizer = Folder(with_bytes(letters())).load();
  const Encoding encoding = tokenizer.encode("a \xF0\x9F\x98\x80", {.add_special_tokens = false});
  EXPECT_EQ(encoding.ids, (Ids{5, 4, 10 + 0xF0, 10 + 0x9F, 10 + 0x98, 10 + 0x80}));
  EXPECT_EQ(encoding.bytes, (Offsets{{0, 1}, {2, 2}, {2, 6}, {2, 6}, {2, 6}, {2, 6}}));
  EXPECT_EQ(encoding.chars, (Offsets{{0, 1}, {2, 2}, {2, 3}, {2, 3}, {2, 3}, {2, 3}}));
  EXPECT_EQ(encoding.words, (Ids{0, 1, 1, 1, 1, 1}));
}

TEST(TokenizerOffsets, UnknownCharactersInARowAreOneToken) {
  const Tokenizer tokenizer = Folder(letters()).load();
  const Encoding encoding = tokenizer.encode("axyzb", {.add_special_tokens = false});
  EXPECT_EQ(encoding.ids, (Ids{5, 3, 7}));
  EXPECT_EQ(encoding.bytes, (Offsets{{0, 1}, {1, 4}, {4, 5}}));
}

TEST(TokenizerOffsets, WordsAreCountedByWhiteSpaceOfTheText) {
  const Tokenizer tokenizer = Folder(letters()).load();
  EXPECT_EQ(tokenizer
                .encode("ab b\xC2\xA0"
                        "c\t b",
                        {.add_special_tokens = false})
                .words.back(),
            3);
}

// ---- the model's arithmetic

TEST(TokenizerModel, OfEqualPathsTheOneFoundFirstStays) {
  // "bb" scores -2 as one piece and as two; the one piece begins earlier and so is found first.
  const Tokenizer tokenizer = Folder(small_spm({{"▁", -1}, {"b", -1}, {"bb", -2}})).load();
  EXPECT_EQ(tokenizer.encode("bb", {.add_special_tokens = false}).ids, (Ids{4, 6}));
}

TEST(TokenizerModel, ScoresAreAddedInFloat) {
  // Near -65536 a float has no thousandths, so the paths tie and the first found stays. In double b + c would win.
  const Tokenizer tokenizer =
      Folder(small_spm({{"▁", -65536}, {"b", -0.001F}, {"c", -0.001F}, {"bc", -0.0021F}})).load();
  EXPECT_EQ(tokenizer.encode("bc", {.add_special_tokens = false}).ids, (Ids{4, 7}));
}

TEST(TokenizerModel, AnUnknownCharacterCostsTenMoreThanTheWorstPiece) {
  // "xb": the worst piece (-5) itself, or x unknown (-15) and b.
  const auto ids = [](float score_of_b) {
    const SpmSpec spec = small_spm({{"▁", -1}, {"b", score_of_b}, {"xb", -5}});
    return Folder(spec).load().encode("xb", {.add_special_tokens = false}).ids;
  };
  EXPECT_EQ(ids(9.9F), (Ids{4, 6}));
  EXPECT_EQ(ids(10.1F), (Ids{4, 3, 5}));
}

TEST(TokenizerModel, ControlAndUnusedPiecesNeverMatch) {
  const SpmSpec spec = small_spm({{"▁", -1}, {"b", -1}, {"bb", 5, kUnused}, {"bbb", 5, kControl}});
  EXPECT_EQ(Folder(spec).load().encode("bbb", {.add_special_tokens = false}).ids, (Ids{4, 5, 5, 5}));
}

TEST(TokenizerModel, UserDefinedPiecesWinAndPassTheRulesUntouched) {
  SpmSpec spec = small_spm({{"▁", -1}, {"b", -1}, {"B", 0, kUserDefined}, {"bb", -1.9F}});
  spec.charsmap = make_charsmap({{"B", "b"}, {"C", "b"}});
  const Tokenizer tokenizer = Folder(spec).load();
  EXPECT_EQ(tokenizer.encode("BC", {.add_special_tokens = false}).ids, (Ids{4, 6, 5}));
}

TEST(TokenizerModel, ALineOfVeryLowScoresKeepsSmallDifferences) {
  // b + c is better than bc by a tenth, too little for a float near -5900000: the running score is subtracted.
  const Tokenizer tokenizer =
      Folder(small_spm({{"▁", -1}, {"b", -29500.05F}, {"c", -29500.05F}, {"bc", -59000.2F}})).load();
  std::string text;
  for (int i = 0; i < 100; ++i) text += "bc";
  const Encoding encoding = tokenizer.encode(text, {.add_special_tokens = false});
  EXPECT_EQ(encoding.size(), 201U);
  EXPECT_EQ(std::count(encoding.ids.begin(), encoding.ids.end(), 7), 0);
}

TEST(TokenizerModel, SpacesAreKeptWhenTheModelSaysSo) {
  SpmSpec spec = small_spm({{"▁", -1}, {"b", -1}});
  spec.remove_extra_whitespaces = false;
  EXPECT_EQ(Folder(spec).load().encode(" b  ", {.add_special_tokens = false}).ids, (Ids{4, 4, 5, 4, 4}));
  spec.add_dummy_prefix = false;
  EXPECT_EQ(Folder(spec).load().encode(" b  ", {.add_special_tokens = false}).ids, (Ids{4, 5, 4, 4}));
  SpmSpec plain = small_spm({{" ", -1}, {"b", -1}});
  plain.escape_whitespaces = false;
  EXPECT_EQ(Folder(plain).load().encode(" b  b ", {.add_special_tokens = false}).ids, (Ids{4, 5, 4, 5}));
}

// ---- special tokens in a text

TEST(TokenizerSpecial, LiteralTextHasNoSpecialTokens) {
  const Tokenizer tokenizer = Folder(letters()).load();
  EXPECT_EQ(tokenizer.encode("a[MASK]", {.add_special_tokens = false}).ids, (Ids{5, 10}));
  EXPECT_EQ(tokenizer.encode("a[MASK]", {.add_special_tokens = false, .parse_special = false}).ids, (Ids{5, 3}));
}

TEST(TokenizerSpecial, LiteralTextMayHaveMasks) {
  const Tokenizer tokenizer = Folder(letters()).load();
  const EncodeOptions masks{.add_special_tokens = false, .parse_special = false, .parse_mask = true};
  const EncodeOptions plain{.add_special_tokens = false, .parse_special = false};
  EXPECT_EQ(tokenizer.encode("a [MASK] a", masks).ids,
            tokenizer.encode("a [MASK] a", {.add_special_tokens = false}).ids);
  Ids expected = tokenizer.encode("a[SEP]a", plain).ids;
  expected.push_back(10);
  EXPECT_EQ(tokenizer.encode("a[SEP]a[MASK]", masks).ids, expected);
  EXPECT_EQ(tokenizer.encode("a[SEP] [CLS]a", masks).ids, tokenizer.encode("a[SEP] [CLS]a", plain).ids);
}

TEST(TokenizerSpecial, OnlyTheTemplateCountsAsSpecialInAnEncoding) {
  const Encoding encoding = Folder(letters()).load().encode("a [MASK] [SEP]");
  EXPECT_EQ(encoding.ids, (Ids{1, 5, 10, 2, 2}));
  EXPECT_EQ(encoding.is_special, (std::vector<uint8_t>{1, 0, 0, 0, 1}));
  EXPECT_EQ(encoding.bytes[2], (Offset{2, 8}));
  EXPECT_EQ(encoding.words, (Ids{-1, 0, 1, 2, -1}));
}

// ---- limits

TEST(TokenizerLimits, ATextAboveTheLimitIsRefusedWithBothSizes) {
  const Tokenizer tokenizer = Folder(letters()).load();
  EXPECT_NO_THROW(tokenizer.encode("abc", {.max_text_bytes = 3}));
  EXPECT_ERROR(tokenizer.encode("abcd", {.max_text_bytes = 3}), kTextTooLong, "at most 3 bytes, got 4");
  EXPECT_ERROR(tokenizer.encode_pair("a", "abcd", {.max_text_bytes = 3}), kTextTooLong, "got 4");
}

TEST(TokenizerLimits, TruncationNeedsRoomForTheTemplate) {
  const Tokenizer tokenizer = Folder(letters()).load();
  EncodeOptions options{.truncate = Truncate::kRight, .max_tokens = 2};
  EXPECT_EQ(tokenizer.encode("a b", options).ids, (Ids{1, 2}));
  EXPECT_EQ(tokenizer.encode("a b", options).cut_tokens, 2U);
  EXPECT_ERROR(tokenizer.encode_pair("a", "b", options), kTextTooLong, "at least 3");
  options.add_special_tokens = false;
  EXPECT_EQ(tokenizer.encode_pair("a b", "b a", options).ids, (Ids{5, 6}));
}

TEST(TokenizerLimits, InvalidUtf8NeverFails) {
  const Tokenizer tokenizer = Folder(with_bytes(letters())).load();
  uint32_t state = 1;
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (int k = 0; k < 30; ++k) {
      state = state * 1664525 + 1013904223;
      text += static_cast<char>(state >> 24);
    }
    EXPECT_NO_THROW(tokenizer.encode(text));  // not promised, but safe
    const std::string repaired = replace_invalid_utf8(text);
    const Encoding encoding = tokenizer.encode(repaired);
    for (const Offset& offset : encoding.bytes) ASSERT_LE(offset.end, repaired.size());
  }
}

// ---- decoding

TEST(TokenizerDecode, PiecesBytesAndAddedTokensGoBackToText) {
  const Tokenizer tokenizer = Folder(with_bytes(letters())).load();
  for (const std::string text : {"a b", "ab", "a \xF0\x9F\x98\x80 c", "c", "", "\xC3\xA9"}) {
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text).ids), text);
  }
  const Ids masked = tokenizer.encode("a [MASK] b").ids;
  EXPECT_EQ(tokenizer.decode(masked), "a b");
  EXPECT_EQ(tokenizer.decode(masked, false), "[CLS] a [MASK] b [SEP]");
  EXPECT_EQ(tokenizer.decode(Ids{10 + 0xF0, 10 + 0x9F}), "\xEF\xBF\xBD");
}

TEST(TokenizerDecode, IdsOutsideTheVocabularyAreRefused) {
  const Tokenizer tokenizer = Folder(letters()).load();
  EXPECT_ERROR(tokenizer.decode(Ids{11}), kTokenId, "0..10, got 11");
  EXPECT_ERROR(tokenizer.decode(Ids{-1}), kTokenId, "got -1");
  EXPECT_ERROR(tokenizer.piece(INT32_MIN), kTokenId, "0..10");
  EXPECT_FALSE(tokenizer.is_special(11));
  EXPECT_FALSE(tokenizer.is_special(-1));
  EXPECT_TRUE(tokenizer.is_special(10));
  EXPECT_EQ(tokenizer.id_of("▁a"), 5);
  EXPECT_EQ(tokenizer.id_of("[MASK]"), 10);
  EXPECT_EQ(tokenizer.id_of("nothing"), std::nullopt);
}

// ---- forms of published folders

TEST(TokenizerForms, MultilingualHasItsMaskFarBehindTheLastPiece) {
  const Folder folder(letters());
  write_text(folder.files.path("added_tokens.json"), R"({"[MASK]": 250101})");
  write_text(folder.files.path("tokenizer_config.json"), R"({"do_lower_case": false, "vocab_type": "spm"})");
  const Tokenizer tokenizer = folder.load();
  EXPECT_EQ(tokenizer.special().pad, 0);
  EXPECT_EQ(tokenizer.special().cls, 1);
  EXPECT_EQ(tokenizer.special().sep, 2);
  EXPECT_EQ(tokenizer.special().unk, 3);
  EXPECT_EQ(tokenizer.special().mask, 250101);
  EXPECT_EQ(tokenizer.size(), 250102U);
  EXPECT_EQ(tokenizer.encode("a [MASK] b").ids, (Ids{1, 5, 250101, 6, 2}));
  EXPECT_EQ(tokenizer.piece(250101), "[MASK]");
  EXPECT_EQ(tokenizer.piece(250100), "");
}

// ---- ties

TEST(TokenizerTies, ScoresAreAddedInFloatOrInDouble) {
  const TemporaryFolder folder;
  write_text(folder.path("spm.model"), read_file(fixture("tokenizer/bytes.model"), size_t{1} << 20));
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  const std::string text = "705134g519000073 66 578";
  const Ids in_float = tokenizer.encode(text).ids;
  const Ids in_double = tokenizer.encode(text, {.spm_ties = SpmTies::kDouble}).ids;
  // "00" before or after "0" (sentencepiece 0.2.3 and 0.1.97).
  EXPECT_EQ((Ids{in_float.begin() + 9, in_float.begin() + 11}), (Ids{475, 833}));
  EXPECT_EQ((Ids{in_double.begin() + 9, in_double.begin() + 11}), (Ids{833, 475}));
}

TEST(TokenizerTies, AUserDefinedPieceScoresAsInEachRelease) {
  SpmSpec spec = letters();
  spec.pieces.push_back({"bcbc", 0, kUserDefined});
  spec.pieces.push_back({"cbcb", 5, kNormal});
  spec.pieces.push_back({"bcbcb", 0.2F, kNormal});
  const Tokenizer tokenizer = Folder(spec).load();
  const auto ids_of = [&](SpmTies ties) {
    return tokenizer.encode("a bcbcb", {.add_special_tokens = false, .spm_ties = ties}).ids;
  };
  EXPECT_NE(ids_of(SpmTies::kFloat), ids_of(SpmTies::kDouble));
}

}  // namespace
}  // namespace deberta::test::tokenizer_test

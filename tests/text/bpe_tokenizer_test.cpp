// The tokenizer on a byte-level BPE model: words, offsets, specials, decoding; ids of a small model as the slow
// tokenizer of transformers 4.57.6 gives them (tests/golden/tokenizer/bpe/make.py), and the published ids of
// deberta-base.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "deberta/tokenizer.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "text/bpe/gpt2_words.h"

namespace deberta::test::bpe_tokenizer_test {
namespace {

using Ids = std::vector<int32_t>;
using Offsets = std::vector<Offset>;
using Words = std::vector<std::string>;

// ---- words

Words words_of(std::string_view text) {
  Words words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = end_of_gpt2_word(text, begin);
    words.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

TEST(Gpt2Words, LettersNumbersAndOthersArePartedAndTakeOneSpace) {
  EXPECT_EQ(words_of("Hello world42!? x"), (Words{"Hello", " world", "42", "!?", " x"}));
  EXPECT_EQ(words_of("\u00e9t\u00e9 \u00bd\u0663 \u4eca"), (Words{"\u00e9t\u00e9", " \u00bd\u0663", " \u4eca"}));
  EXPECT_EQ(words_of("e\u0301a_b"), (Words{"e", "\u0301", "a", "_", "b"}));
}

TEST(Gpt2Words, ContractionsAreWordsInLowerCaseOnly) {
  EXPECT_EQ(words_of("it's I'll we've they're don't I'm he'd"),
            (Words{"it", "'s", " I", "'ll", " we", "'ve", " they", "'re", " don", "'t", " I", "'m", " he", "'d"}));
  EXPECT_EQ(words_of("IT'S"), (Words{"IT", "'", "S"}));
  EXPECT_EQ(words_of("''s"), (Words{"''", "s"}));
  EXPECT_EQ(words_of("'so"), (Words{"'s", "o"}));
  EXPECT_EQ(words_of(" 's"), (Words{" '", "s"}));
  EXPECT_EQ(words_of("'l"), (Words{"'", "l"}));
}

TEST(Gpt2Words, TheLastOfSeveralSpacesBelongsToTheNextWord) {
  EXPECT_EQ(words_of("a   b"), (Words{"a", "  ", " b"}));
  EXPECT_EQ(words_of("a \n b"), (Words{"a", " \n", " b"}));
  EXPECT_EQ(words_of("a\n\nb"), (Words{"a", "\n", "\n", "b"}));
  EXPECT_EQ(words_of("a\tb"), (Words{"a", "\t", "b"}));
  EXPECT_EQ(words_of("a  "), (Words{"a", "  "}));
  EXPECT_EQ(words_of("x\u3000\u3000y"), (Words{"x", "\u3000", "\u3000", "y"}));
  EXPECT_EQ(words_of("a \x1c b"), (Words{"a", " \x1c", " b"}));
}

// ---- the small model

struct Folder {
  explicit Folder(const Json& json_files = JsonObject{}) {
    for (const char* name : {"vocab.json", "merges.txt"}) {
      write_text(files.path(name), read_file(fixture(std::string("tokenizer/bpe/") + name), size_t{1} << 20));
    }
    for (const auto& [name, content] : json_files.as_object()) write_text(files.path(name), content.dump());
  }
  Tokenizer load() const { return Tokenizer::load(files.path()); }
  TemporaryFolder files;
};

const Json& golden() {
  static const Json document = load_json(fixture("tokenizer/bpe/golden.json"));
  return document;
}

Ids ids_of(const Json& array) {
  Ids ids;
  for (const Json& id : array.as_array()) ids.push_back(static_cast<int32_t>(id.as_integer()));
  return ids;
}

void expect_valid_offsets(const Encoding& encoding, const std::string& text) {
  Offset last;
  for (size_t i = 0; i < encoding.size(); ++i) {
    const Offset bytes = encoding.bytes[i];
    ASSERT_LE(bytes.begin, bytes.end) << text;
    ASSERT_LE(bytes.end, text.size()) << text;
    ASSERT_LE(last.begin, bytes.begin) << text;
    ASSERT_LE(last.end, bytes.end) << text;
    const std::string_view slice = std::string_view(text).substr(bytes.begin, bytes.end - bytes.begin);
    ASSERT_TRUE(is_valid_utf8(slice)) << text;
    ASSERT_FALSE(slice.starts_with(' ')) << text;
    ASSERT_EQ(encoding.chars[i].begin, count_code_points(std::string_view(text).substr(0, bytes.begin))) << text;
    ASSERT_EQ(encoding.chars[i].end, count_code_points(std::string_view(text).substr(0, bytes.end))) << text;
    last = bytes;
  }
}

TEST(BpeTokenizer, SpecialTokensHaveTheIdsOfTheVocabulary) {
  const Tokenizer tokenizer = Folder().load();
  EXPECT_EQ(tokenizer.special().pad, 0);
  EXPECT_EQ(tokenizer.special().cls, 1);
  EXPECT_EQ(tokenizer.special().sep, 2);
  EXPECT_EQ(tokenizer.special().unk, 3);
  EXPECT_EQ(tokenizer.special().mask, 680);
  EXPECT_EQ(tokenizer.size(), 681U);
  EXPECT_TRUE(tokenizer.is_special(1));
  EXPECT_FALSE(tokenizer.is_special(4));
  EXPECT_EQ(tokenizer.id_of("[MASK]"), 680);
  EXPECT_EQ(tokenizer.piece(*tokenizer.id_of("\u0120cat")), "\u0120cat");
  EXPECT_ERROR(tokenizer.piece(681), kTokenId, "expected 0..680, got 681");
}

TEST(BpeTokenizer, TextsGiveTheIdsOfTheSlowTokenizer) {
  const Tokenizer tokenizer = Folder().load();
  const Json texts = load_json(fixture("tokenizer/golden.json"), {.max_bytes = size_t{16} << 20});
  const JsonArray& other_texts = golden().find("texts_of_other_golden")->as_array();
  ASSERT_EQ(other_texts.size(), 100U);
  for (size_t i = 0; i < other_texts.size(); ++i) {
    const std::string& text = texts.find("texts")->as_array()[i].as_string();
    EXPECT_EQ(tokenizer.encode(text).ids, ids_of(other_texts[i])) << quote_json(text);
    expect_valid_offsets(tokenizer.encode(text, {.add_special_tokens = false}), text);
  }
}

TEST(BpeTokenizer, TextsGiveIdsAndTextBackAsTheSlowTokenizer) {
  const Tokenizer tokenizer = Folder().load();
  for (const Json& row : golden().find("texts")->as_array()) {
    const std::string& text = row.as_array()[0].as_string();
    EXPECT_EQ(tokenizer.encode(text).ids, ids_of(row.as_array()[1])) << quote_json(text);
    EXPECT_EQ(tokenizer.decode(ids_of(row.as_array()[1])), row.as_array()[2].as_string()) << quote_json(text);
    expect_valid_offsets(tokenizer.encode(text, {.add_special_tokens = false}), text);
  }
}

TEST(BpeTokenizer, PairsHaveOneSeparatorBetweenAndTypesZeroAndOne) {
  const Tokenizer tokenizer = Folder().load();
  for (const Json& row : golden().find("pairs")->as_array()) {
    const JsonArray& pair = row.as_array();
    const Encoding encoding = tokenizer.encode_pair(pair[0].as_string(), pair[1].as_string());
    EXPECT_EQ(encoding.ids, ids_of(pair[2])) << row.dump();
    EXPECT_EQ(encoding.type_ids, ids_of(pair[3])) << row.dump();
  }
}

TEST(BpeTokenizer, FilesBesideTheModelActAsInTheSlowTokenizer) {
  for (const Json& config : golden().find("configs")->as_array()) {
    SCOPED_TRACE(config.find("name")->as_string());
    const Tokenizer tokenizer = Folder(*config.find("files")).load();
    for (const Json& row : config.find("texts")->as_array()) {
      const std::string& text = row.as_array()[0].as_string();
      EXPECT_EQ(tokenizer.encode(text).ids, ids_of(row.as_array()[1])) << quote_json(text);
    }
  }
}

TEST(BpeTokenizer, OffsetsLeaveTheLeadingSpaceOut) {
  const Tokenizer tokenizer = Folder().load();
  const EncodeOptions plain{.add_special_tokens = false};
  const Encoding encoding = tokenizer.encode("cat  the\tx", plain);
  Words slices;
  for (const Offset& offset : encoding.bytes)
    slices.push_back(std::string("cat  the\tx").substr(offset.begin, offset.end - offset.begin));
  EXPECT_EQ(slices, (Words{"c", "at", "", "the", "\t", "x"}));
  EXPECT_EQ(encoding.bytes[2], (Offset{4, 4}));
  EXPECT_EQ(encoding.words, (Ids{0, 0, 0, 1, 1, 2}));
}

TEST(BpeTokenizer, PiecesOfOneCharacterAllCoverIt) {
  const Tokenizer tokenizer = Folder().load();
  const Encoding encoding = tokenizer.encode("a \U0001f600!", {.add_special_tokens = false});
  ASSERT_GE(encoding.size(), 4U);
  for (size_t i = 1; i + 1 < encoding.size(); ++i) {
    if (encoding.bytes[i].begin == encoding.bytes[i].end) continue;  // the space alone
    EXPECT_EQ(encoding.bytes[i], (Offset{2, 6}));
    EXPECT_EQ(encoding.chars[i], (Offset{2, 3}));
  }
  EXPECT_EQ(encoding.bytes.back(), (Offset{6, 7}));
}

TEST(BpeTokenizer, TheMaskTakesTheSpaceBeforeItAway) {
  const Tokenizer tokenizer = Folder().load();
  const Ids with = tokenizer.encode("the [MASK] the").ids;
  EXPECT_EQ(with, tokenizer.encode("the[MASK] the").ids);
  EXPECT_EQ(tokenizer.decode(with, false), "[CLS]the [MASK] the [SEP]");
}

TEST(BpeTokenizer, SpecialTextMayBeLiteral) {
  const Tokenizer tokenizer = Folder().load();
  const Encoding encoding = tokenizer.encode("a[SEP]", {.add_special_tokens = false, .parse_special = false});
  EXPECT_EQ(std::count(encoding.ids.begin(), encoding.ids.end(), 2), 0);
  EXPECT_EQ(tokenizer.decode(encoding.ids), "a[SEP]");
}

TEST(BpeTokenizer, BytesWithoutAPieceBecomeTheUnknownToken) {
  const TemporaryFolder folder;
  write_text(folder.path("vocab.json"), R"({"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3, "a": 4})");
  write_text(folder.path("merges.txt"), "#version: 0.2\n");
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  EXPECT_EQ(tokenizer.encode("axya").ids, (Ids{1, 4, 3, 3, 4, 2}));
  EXPECT_EQ(tokenizer.special().mask, 5);
  EXPECT_EQ(tokenizer.encode("a").bytes[1], (Offset{0, 1}));
}

TEST(BpeTokenizer, DecodingRepairsInvalidUtf8) {
  const Tokenizer tokenizer = Folder().load();
  const Ids ids{*tokenizer.id_of("\u00f0"), *tokenizer.id_of("\u0141"), *tokenizer.id_of("a")};
  EXPECT_EQ(tokenizer.decode(ids), "\ufffda");
}

TEST(BpeTokenizer, ASpaceIsAddedInFrontIfTheSettingsSaySo) {
  const Folder folder;
  write_text(folder.files.path("tokenizer_config.json"), R"({"add_prefix_space": true})");
  const Tokenizer spaced = folder.load();
  const Encoding encoding = spaced.encode("a[MASK]b");  // the slow tokenizer's space is before the text, not before b
  EXPECT_EQ(encoding.ids, Tokenizer::load(Folder().files.path()).encode(" a[MASK]b").ids);
  EXPECT_EQ(encoding.bytes[1], (Offset{0, 1}));
  EXPECT_EQ(spaced.encode(" a").ids, spaced.encode("a").ids);
}

TEST(BpeTokenizer, ATextThatNeedsTheUnknownTokenAsksForOne) {
  const Folder folder;
  Json vocab = load_json(folder.files.path("vocab.json"), {.max_bytes = size_t{1} << 20});
  std::erase_if(vocab.as_object(), [](const JsonMember& piece) { return piece.first == "\u00f0"; });
  write_text(folder.files.path("vocab.json"), vocab.dump());
  write_text(folder.files.path("merges.txt"), "#version: 0.2\n");
  write_text(folder.files.path("tokenizer_config.json"), R"({"unk_token": null})");
  const Tokenizer tokenizer = folder.load();
  EXPECT_EQ(tokenizer.special().unk, -1);
  EXPECT_EQ(tokenizer.encode("a").size(), 3U);
  EXPECT_ERROR(tokenizer.encode("\U0001f600"), kTokenizerFile, "expected an unk_token");
}

TEST(BpeTokenizer, ASentencePieceModelInTheSameFolderIsPreferred) {
  const Folder folder;
  write_text(folder.files.path("spm.model"), read_file(fixture("tokenizer/bytes.model"), size_t{1} << 20));
  EXPECT_EQ(folder.load().id_of("\u0120cat"), std::nullopt);
}

// The shared vocabulary has the published ids, but other names for the five special tokens.
std::string with_published_names(std::string vocab) {
  for (const auto& [from, to] : {std::pair("\"<s>\":0", "\"[PAD]\":0"), std::pair("\"<pad>\":1", "\"[CLS]\":1"),
                                 std::pair("\"</s>\":2", "\"[SEP]\":2"), std::pair("\"<unk>\":3", "\"[UNK]\":3"),
                                 std::pair("\"<mask>\":50264", "\"[MASK]\":50264")}) {
    vocab.replace(vocab.find(from), std::string_view(from).size(), to);
  }
  return vocab;
}

TEST(BpeTokenizerPublished, DebertaBaseGivesThePublishedIds) {
  const std::string source = shared("reference/tokenizers/deberta-v1");
  if (source.empty()) GTEST_SKIP() << "needs the shared folder";
  const TemporaryFolder folder;
  write_text(folder.path("vocab.json"), with_published_names(read_file(source + "/vocab.json", size_t{1} << 22)));
  write_text(folder.path("merges.txt"), read_file(source + "/merges.txt", size_t{1} << 22));
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  EXPECT_EQ(tokenizer.special().mask, 50264);
  const Json document = load_json(shared("reference/golden-tokenizations/microsoft--deberta-base.json"));
  ASSERT_GT(document.find("datasets")->as_array().size(), 30U);
  for (const Json& row : document.find("datasets")->as_array()) {
    const std::string& text = row.find("input")->as_string();
    EXPECT_EQ(tokenizer.encode(text).ids, ids_of(*row.find("ids"))) << quote_json(text);
  }
}

}  // namespace
}  // namespace deberta::test::bpe_tokenizer_test

// vocab.json and merges.txt: what is read, what is refused, and the order in which pairs merge.
#include "text/bpe/bpe_model.h"

#include <gtest/gtest.h>

#include <map>

#include "base/utf8.h"
#include "deberta/library.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "text/bpe/byte_alphabet.h"

namespace deberta::test::bpe_model_test {
namespace {

using Ids = std::vector<int32_t>;

TEST(ByteAlphabet, GivesEachByteAPrintableCharacterAndBack) {
  EXPECT_EQ(to_alphabet(' '), U'\u0120');
  EXPECT_EQ(to_alphabet('\n'), U'\u010A');
  EXPECT_EQ(to_alphabet('~'), U'~');
  EXPECT_EQ(to_alphabet(0x7F), U'\u0121');
  EXPECT_EQ(to_alphabet(0xA0), U'\u0142');
  EXPECT_EQ(to_alphabet(0xAD), U'\u0143');
  EXPECT_EQ(to_alphabet(0xAE), U'\u00AE');
  std::map<char32_t, uint8_t> seen;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const char32_t point = to_alphabet(static_cast<uint8_t>(byte));
    EXPECT_TRUE(seen.emplace(point, static_cast<uint8_t>(byte)).second) << byte;
    EXPECT_EQ(from_alphabet(point), static_cast<uint8_t>(byte));
  }
  for (char32_t point = 0; point < 0x400; ++point)
    EXPECT_EQ(from_alphabet(point).has_value(), seen.contains(point)) << uint32_t{point};
}

class BpeModelTest : public testing::Test {
 protected:
  BpeModelTest() {
    write_text(files_.path("vocab.json"), R"({"a": 0, "b": 1, "ab": 2, "aba": 3})");
    write_text(files_.path("merges.txt"), "#version: 0.2\na b\nab a\n");
  }
  void expect_refused(const std::string& name, const std::string& text, const std::string& part) {
    SCOPED_TRACE(text.substr(0, 100));
    const TemporaryFolder other;
    write_text(other.path("vocab.json"), R"({"a": 0, "b": 1, "ab": 2, "aba": 3})");
    write_text(other.path("merges.txt"), "#version: 0.2\na b\nab a\n");
    write_text(other.path(name), text);
    EXPECT_ERROR(load_bpe_model(other.path()), kTokenizerFile, part);
    EXPECT_ERROR(load_bpe_model(other.path()), kTokenizerFile, name);
  }
  TemporaryFolder files_;
};

TEST_F(BpeModelTest, ReadsPiecesAndMerges) {
  const BpeModel model = load_bpe_model(files_.path());
  EXPECT_EQ(model.pieces, (std::vector<std::string>{"a", "b", "ab", "aba"}));
  EXPECT_EQ(model.id_of("aba"), 3);
  EXPECT_EQ(model.id_of("ba"), std::nullopt);
  EXPECT_EQ(model.byte_ids['b'], 1);
  EXPECT_EQ(model.byte_ids['c'], -1);
  EXPECT_EQ(model.merges.rank_of(0, 1), 0U);
  EXPECT_EQ(model.merges.rank_of(2, 0), 1U);
  EXPECT_EQ(model.merges.rank_of(1, 0), BpeMerges::kNone);
  EXPECT_EQ(model.merges.rank_of(-1, 0), BpeMerges::kNone);
  EXPECT_EQ(model.merges.rank_of(0, -1), BpeMerges::kNone);
  EXPECT_EQ(model.merges.at(1).result, 3);
}

TEST_F(BpeModelTest, LinesMayEndAsOnWindowsAndTheLastNeedsNoEnd) {
  write_text(files_.path("merges.txt"), "#version: 0.2\r\na b\r\nab a");
  EXPECT_EQ(load_bpe_model(files_.path()).merges.rank_of(2, 0), 1U);
}

TEST_F(BpeModelTest, HolesAreReported) {
  std::vector<std::string> warnings;
  set_warning_sink(
      [](void* to, std::string_view line) { static_cast<std::vector<std::string>*>(to)->emplace_back(line); },
      &warnings);
  write_text(files_.path("vocab.json"), R"({"a": 0, "b": 1, "ab": 5, "aba": 3})");
  const BpeModel model = load_bpe_model(files_.path());
  set_warning_sink(nullptr);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("2 of the ids 0..5 have no piece; the first is 2"), std::string::npos) << warnings[0];
  EXPECT_EQ(model.pieces[4], "");
  EXPECT_EQ(model.id_of(""), std::nullopt);
}

TEST_F(BpeModelTest, TheLastIdOfAPieceCountsAsInPython) {
  write_text(files_.path("vocab.json"), R"({"a": 7, "b": 1, "ab": 2, "aba": 3, "a": 0})");
  const BpeModel model = load_bpe_model(files_.path());
  EXPECT_EQ(model.pieces, (std::vector<std::string>{"a", "b", "ab", "aba"}));
}

TEST_F(BpeModelTest, WrongVocabulariesAreRefused) {
  const std::string name = "vocab.json";
  expect_refused(name, "[]", "expected an object");
  expect_refused(name, "{}", "at least one piece");
  expect_refused(name, R"({"a": 0, "b": 0})", "id 0 appears twice");
  expect_refused(name, R"({"a": -1})", "expected an id in 0..1048575, got -1");
  expect_refused(name, R"({"a": 1048576})", "expected an id in 0..1048575");
  expect_refused(name, R"({"a": 1.0})", "expected an id");
  expect_refused(name, R"({"a": "0"})", "expected an id");
  expect_refused(name, R"({"": 0})", "expected pieces of 1..1024 bytes, got 0");
  expect_refused(name, R"({")" + std::string(1025, 'a') + R"(": 0})", "got 1025");
  expect_refused(name, R"({"\ud800": 0})", "expected pieces without lone surrogates");
  expect_refused(name, R"({"a": 99999999999999999999})", "expected an id");
  write_text(files_.path(name), R"({"a": {"b": {"c": 0}}})");
  EXPECT_ERROR(load_bpe_model(files_.path()), kJson, name);
}

TEST_F(BpeModelTest, WrongMergesAreRefused) {
  const std::string name = "merges.txt";
  const std::string head = "#version: 0.2\n";
  expect_refused(name, "", "starts with #version");
  expect_refused(name, "a b\n", "starts with #version");
  expect_refused(name, head + "a c\n", R"(merge 1: expected a piece of the vocabulary, got "c")");
  expect_refused(name, head + "c a\n", R"(got "c")");
  expect_refused(name, head + "b a\n", R"(got "ba")");
  expect_refused(name, head + "a b\na b\n", R"(merge 2: "a" "b" appears twice)");
  for (const char* line : {"a\n", "a b a\n", " a b\n", "a b \n", "\na b\n", "a  b\n", "a b\n\n", " \n"}) {
    expect_refused(name, head + line, "expected two pieces separated by one space");
  }
  expect_refused(name, head + "a\tb\n", "line 2: expected two pieces");
}

TEST(BpeModel, AMissingMergesFileIsNamed) {
  const TemporaryFolder folder;
  write_text(folder.path("vocab.json"), R"({"a": 0})");
  EXPECT_ERROR(load_bpe_model(folder.path()), kFileNotFound, "merges.txt");
}

// ---- merging

Ids melt(const BpeModel& model, std::string_view word) {
  BpeWord melting(model.merges);
  for (const char byte : word) melting.add_byte(model.byte_ids[static_cast<uint8_t>(byte)]);
  melting.melt();
  Ids ids;
  uint32_t end = 0;
  melting.for_each([&](const BpeWord::Symbol& symbol) {
    EXPECT_EQ(symbol.begin, end);
    end = symbol.end;
    ids.push_back(symbol.id);
  });
  EXPECT_EQ(end, word.size());
  return ids;
}

BpeModel make(const std::string& vocab, const BpeMergeTexts& merges) {
  return make_bpe_model(read_bpe_vocab(parse_json(vocab, "vocab"), "vocab"), "vocab", merges, "merges");
}

TEST(BpeMerging, LowerRanksAreMergedFirst) {
  const std::string vocab = R"({"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4})";
  EXPECT_EQ(melt(make(vocab, {{"a", "b"}, {"b", "c"}}), "abc"), (Ids{3, 2}));
  EXPECT_EQ(melt(make(vocab, {{"b", "c"}, {"a", "b"}}), "abc"), (Ids{0, 4}));
  EXPECT_EQ(melt(make(vocab, {{"b", "c"}, {"a", "b"}}), ""), Ids{});
  EXPECT_EQ(melt(make(vocab, {}), "cab"), (Ids{2, 0, 1}));
}

TEST(BpeMerging, RunsAreMergedFromTheLeft) {
  const BpeModel model = make(R"({"a": 0, "aa": 1, "aaa": 2})", {{"a", "a"}});
  EXPECT_EQ(melt(model, "aaa"), (Ids{1, 0}));
  EXPECT_EQ(melt(model, "aaaaaa"), (Ids{1, 1, 1}));
}

TEST(BpeMerging, ANewPairIsMergedInTheNextRound) {
  const BpeModel model = make(R"({"a": 0, "b": 1, "ab": 2, "aba": 3})", {{"ab", "a"}, {"a", "b"}});
  EXPECT_EQ(melt(model, "abab"), (Ids{2, 2}));
  EXPECT_EQ(melt(model, "aba"), (Ids{3}));
}

TEST(BpeMerging, BytesWithoutAPieceStayUnknownAndAreNeverMerged) {
  const BpeModel model = make(R"({"a": 0, "aa": 1})", {{"a", "a"}});
  EXPECT_EQ(melt(model, "axaa?"), (Ids{0, -1, 1, -1}));
}

}  // namespace
}  // namespace deberta::test::bpe_model_test

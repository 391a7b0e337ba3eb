// Tokens that a user adds: found in texts as they stand, the same from memory and from the files that are written for
// them, and refused where no text would be split at them. transformers: tests/oracle/test_added_tokens.py.
#include "text/added_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::added_tokens_test {
namespace {

using Ids = std::vector<int32_t>;

constexpr const char* kPlain = "The cat\nwalks the house\n\n\tin the house\t";  // pieces alone, whatever the kind
constexpr const char* kText = "The cat\nwalks <bird>the house\n\nIN the BIRDhouse.\t";

class AddedTokens : public testing::Test {
 protected:
  void use(const std::string& name, const std::string& fixture) {
    std::filesystem::copy_file(test::fixture("tokenizer/" + fixture), folder_.path(name));
  }
  // A folder with the tokenizer's files as a run leaves them.
  std::string written(const std::vector<std::string>& tokens) {
    const std::string target = folder_.path("written");
    std::filesystem::create_directory(target);
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (entry.is_regular_file()) std::filesystem::copy_file(entry, target / entry.path().filename());
    }
    for (const NamedText& file : files_with_tokens(folder_.path(), tokens))
      test::write_text(target + "/" + file.name, file.text);
    return target;
  }
  Tokenizer load(const std::vector<std::string>& tokens) {
    return Tokenizer::load(folder_.path(), TokenizerKind::kSlow, tokens);
  }
  // Memory and files have the same pieces, roles and answers.
  void expect_same_from_files(const std::vector<std::string>& tokens) {
    const Tokenizer memory = load(tokens);
    const std::string target = written(tokens);
    for (const TokenizerKind kind : {TokenizerKind::kSlow, TokenizerKind::kFast}) {
      const Tokenizer files = Tokenizer::load(target, kind);
      ASSERT_EQ(files.size(), memory.size());
      for (size_t id = 0; id < files.size(); ++id)
        ASSERT_EQ(files.piece(static_cast<int32_t>(id)), memory.piece(static_cast<int32_t>(id))) << id;
      EXPECT_EQ(files.special().mask, memory.special().mask);
      EXPECT_EQ(files.special().unk, memory.special().unk);
      const Encoding from_files = files.encode(kText);
      const Encoding from_memory = Tokenizer::load(folder_.path(), kind, tokens).encode(kText);
      EXPECT_EQ(from_files.ids, from_memory.ids);
      EXPECT_EQ(from_files.bytes, from_memory.bytes);
      EXPECT_EQ(files.encode(kPlain).ids, memory.encode(kPlain).ids);
      const Tokenizer before = Tokenizer::load(folder_.path(), kind);
      EXPECT_EQ(files.encode("a [MASK] b[SEP]").ids, before.encode("a [MASK] b[SEP]").ids);
    }
  }

  test::TemporaryFolder folder_;
};

TEST_F(AddedTokens, AreFoundInATextWithTheNextIds) {
  use("spm.model", "bytes.model");
  const Tokenizer before = load({}), after = load({"\n", "<bird>", "\n", "he", "[MASK]"});
  const auto size = static_cast<int32_t>(before.size());
  ASSERT_EQ(after.size(), before.size() + 2);  // the others are there
  EXPECT_EQ(after.piece(size), "\n");
  EXPECT_EQ(after.piece(size + 1), "<bird>");
  EXPECT_TRUE(after.is_added(size) && !after.is_special(size));
  EXPECT_FALSE(after.is_added(300));
  const Encoding encoding = after.encode("The cat\n<bird> walks", {.add_special_tokens = false});
  const Ids cat = before.encode("The cat", {.add_special_tokens = false}).ids;
  const Ids walks = before.encode("walks", {.add_special_tokens = false}).ids;
  Ids expected = cat;
  expected.insert(expected.end(), {size, size + 1});
  expected.insert(expected.end(), walks.begin(), walks.end());
  EXPECT_EQ(encoding.ids, expected);
  EXPECT_EQ(encoding.bytes[cat.size()], (Offset{7, 8}));
  EXPECT_EQ(encoding.chars[cat.size() + 1], (Offset{8, 14}));
  EXPECT_EQ(encoding.bytes[cat.size() + 2].begin, 15u);
}

TEST_F(AddedTokens, AreTheSameFromTheFilesBesideAModel) {
  use("spm.model", "bytes.model");
  expect_same_from_files({"\n", "\t", "<bird>", "BIRD"});
}

TEST_F(AddedTokens, FollowThoseOfOlderFiles) {
  use("spm.model", "bytes.model");
  test::write_text(folder_.path("added_tokens.json"), R"({"[MASK]": 925, "<old>": 926})");
  test::write_text(folder_.path("special_tokens_map.json"),
                   R"({"cls_token": {"content": "[CLS]", "lstrip": false}, "additional_special_tokens": ["<old>"]})");
  test::write_text(folder_.path("tokenizer_config.json"), R"({"do_lower_case": false, "model_max_length": 700})");
  ASSERT_EQ(load({}).size(), 927u);
  expect_same_from_files({"\n"});
  const Tokenizer files = Tokenizer::load(folder_.path("written"));
  EXPECT_EQ(files.id_of("\n"), 927);
  EXPECT_EQ(files.max_length(), 700u);
  EXPECT_TRUE(files.is_special(926));
}

TEST_F(AddedTokens, FollowThoseOfATable) {
  use("spm.model", "bytes.model");
  expect_same_from_files({"\n"});
  for (const char* name : {"tokenizer_config.json", "added_tokens.json"})
    std::filesystem::copy_file(folder_.path("written") + "/" + name, folder_.path(name));
  std::filesystem::remove_all(folder_.path("written"));
  ASSERT_EQ(load({"\n"}).size(), 927u);  // it has that one
  expect_same_from_files({"\n", "\t"});
}

TEST_F(AddedTokens, AreInATokenizerJsonToo) {
  use("tokenizer.json", "json/unigram.json");
  const size_t size = load({}).size();
  const Tokenizer memory = load({"\n", "<bird>"});
  ASSERT_EQ(memory.size(), size + 2);
  expect_same_from_files({"\n", "<bird>"});
}

TEST_F(AddedTokens, AreRefusedWhereNoTextHasThem) {
  use("spm.model", "bytes.model");
  EXPECT_ERROR(load({""}), kUsage, "expected tokens of 1..1024 bytes, got one of 0");
  EXPECT_ERROR(load({"\xff"}), kUsage, "expected tokens of valid UTF-8 without NUL");
  test::write_text(folder_.path("tokenizer_config.json"), R"({"do_lower_case": true})");
  EXPECT_NO_THROW(load({"\n", "bird"}));
  EXPECT_ERROR(load({"BIRD"}), kUsage, "which it splits into");
}

TEST_F(AddedTokens, AreForSentencePieceModels) {
  use("vocab.txt", "classes/vocab.txt");
  test::write_text(folder_.path("tokenizer_config.json"), R"({"tokenizer_class": "BertTokenizer"})");
  EXPECT_NO_THROW(load({}));
  EXPECT_ERROR(load({"\n"}), kUnsupported, "expected a SentencePiece model");
}

TEST_F(AddedTokens, AreNoTextWhereSpecialOnesAre) {
  use("spm.model", "bytes.model");
  const Tokenizer tokenizer = load({"<bird>"});
  const int32_t bird = *tokenizer.id_of("<bird>"), mask = tokenizer.special().mask;
  const auto has = [&](const EncodeOptions& options, int32_t id) {
    const Ids ids = tokenizer.encode("a <bird> and a [MASK]", options).ids;
    return std::ranges::find(ids, id) != ids.end();
  };
  EXPECT_TRUE(has({}, bird) && has({}, mask));
  EXPECT_FALSE(has({.parse_special = false}, bird) || has({.parse_special = false}, mask));
  EXPECT_TRUE(has({.parse_special = false, .parse_added = true}, bird));
  EXPECT_FALSE(has({.parse_special = false, .parse_added = true}, mask));
}

TEST_F(AddedTokens, AreFoundInNormalizedTextToo) {
  use("tokenizer.json", "json/unigram.json");
  const std::string next = std::to_string(load({}).size());
  test::write_text(folder_.path("tokenizer_config.json"),
                   R"({"added_tokens_decoder": {")" + next + R"(": {"content": "tree", "normalized": true}}})");
  const Tokenizer tokenizer = load({});
  const int32_t tree = *tokenizer.id_of("tree");
  ASSERT_EQ(std::to_string(tree), next);
  const auto has = [&](const EncodeOptions& options) {
    const Ids ids = tokenizer.encode("a tree", options).ids;
    return std::ranges::find(ids, tree) != ids.end();
  };
  EXPECT_TRUE(has({}));
  EXPECT_FALSE(has({.parse_special = false}));
  EXPECT_TRUE(has({.parse_special = false, .parse_added = true}));
}

}  // namespace
}  // namespace deberta::added_tokens_test

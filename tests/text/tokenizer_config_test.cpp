// The JSON files beside spm.model: what they add, which one wins, and that wrong types are refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "deberta/tokenizer.h"
#include "support/bad_spm.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::test::tokenizer_config_test {
namespace {

using Ids = std::vector<int32_t>;

// Pieces 4 "▁" and 5 "a"; the JSON files as given.
class TokenizerConfigTest : public testing::Test {
 protected:
  TokenizerConfigTest() { write_text(files_.path("spm.model"), make_spm(small_spm({{"▁", -1}, {"a", -1}}))); }
  void write(const std::string& name, const std::string& text) { write_text(files_.path(name), text); }
  Tokenizer load() { return Tokenizer::load(files_.path()); }
  void expect_refused(const std::string& name, const std::string& text, const std::string& part,
                      ErrorCode code = ErrorCode::kTokenizerFile) {
    SCOPED_TRACE(text);
    write(name, text);
    if (code == ErrorCode::kTokenizerFile) {
      EXPECT_ERROR(load(), kTokenizerFile, part);
    } else {
      EXPECT_ERROR(load(), kUnsupported, part);
    }
    write(name, "{}");
  }
  TemporaryFolder files_;
};

TEST_F(TokenizerConfigTest, AddedTokensJsonGivesIds) {
  write("added_tokens.json", R"({"[MASK]": 9, "<new>": 6})");
  const Tokenizer tokenizer = load();
  EXPECT_EQ(tokenizer.special().mask, 9);
  EXPECT_EQ(tokenizer.size(), 10U);
  EXPECT_EQ(tokenizer.encode("a<new>").ids, (Ids{1, 4, 5, 6, 2}));
  EXPECT_EQ(tokenizer.piece(8), "");  // a hole between the ids
  EXPECT_FALSE(tokenizer.is_special(6));
  EXPECT_EQ(tokenizer.decode(Ids{6}), "<new>");
}

TEST_F(TokenizerConfigTest, TheDecoderTableWinsOverTheOlderFiles) {
  write("tokenizer_config.json", R"({"added_tokens_decoder": {"7": {"content": "[MASK]", "special": true}}})");
  write("added_tokens.json", R"({"[MASK]": 9})");
  write("special_tokens_map.json", R"({"mask_token": "<other>"})");
  EXPECT_EQ(load().special().mask, 7);
}

TEST_F(TokenizerConfigTest, TheSpecialTokensMapNamesTheTokens) {
  write("special_tokens_map.json", R"({"cls_token": "a", "sep_token": {"content": "<end>"}, "mask_token": null})");
  const Tokenizer tokenizer = load();
  EXPECT_EQ(tokenizer.special().cls, 5);
  EXPECT_EQ(tokenizer.piece(tokenizer.special().sep), "<end>");
  EXPECT_EQ(tokenizer.special().mask, -1);
}

// As in transformers: bos_token comes before cls_token, so its settings apply to the text that they share.
TEST_F(TokenizerConfigTest, OfRolesWithOneTextTheFirstSaysWhereItIsFound) {
  for (const bool is_word : {true, false}) {
    write("tokenizer_config.json",
          fmt::format(R"({{"bos_token": {{"content": "[CLS]", "single_word": {}, "__type": "AddedToken"}},
                           "cls_token": {{"content": "[CLS]", "single_word": {}, "__type": "AddedToken"}}}})",
                      is_word, !is_word));
    const Ids ids = load().encode("a[CLS]a").ids;
    EXPECT_EQ(std::count(ids.begin(), ids.end(), 1), is_word ? 1 : 2) << is_word;
  }
}

TEST_F(TokenizerConfigTest, FolderMayNameItsModelSpiece) {
  const TemporaryFolder other;
  write_text(other.path("spiece.model"), make_spm(small_spm({{"▁", -1}})));
  EXPECT_EQ(Tokenizer::load(other.path()).size(), 6U);
}

// As in Python, every value is truthy or falsy.
TEST_F(TokenizerConfigTest, SwitchesHaveTheTruthOfTheirValues) {
  for (const char* yes : {"1", "\"false\"", "[0]", "true", "NaN"}) {
    write("tokenizer_config.json", std::string(R"({"do_lower_case": )") + yes + "}");
    EXPECT_EQ(load().encode("A").ids, (Ids{1, 4, 5, 2})) << yes;
  }
  for (const char* no : {"0", "null", "\"\"", "[]", "{}"}) {
    write("tokenizer_config.json", std::string(R"({"do_lower_case": )") + no + "}");
    EXPECT_EQ(load().encode("A").ids, (Ids{1, 4, 3, 2})) << no;
  }
}

TEST_F(TokenizerConfigTest, TokensWithoutATextAreIgnored) {
  for (const char* none : {"null", "\"\"", R"({"__type": "AddedToken", "content": null})"}) {
    write("tokenizer_config.json", std::string(R"({"mask_token": )") + none + "}");
    EXPECT_EQ(load().special().mask, -1) << none;
  }
}

// A role's piece takes its id back from another text, which is then only found as a piece; of roles with the same text
// the first counts.
TEST_F(TokenizerConfigTest, PiecesKeepTheirIds) {
  write("tokenizer_config.json", R"({"added_tokens_decoder": {"1": {"content": "a", "special": true}}})");
  EXPECT_EQ(load().encode("a[CLS]").ids, (Ids{1, 4, 1, 1, 2}));
  write("tokenizer_config.json",
        R"({"bos_token": {"content": "[CLS]", "rstrip": true}, "cls_token": {"content": "[CLS]"}})");
  EXPECT_EQ(load().encode("[CLS]  a").ids, (Ids{1, 1, 4, 5, 2}));
}

// A token without an id in any file gets the number of different texts so far as its id, even where a table gave that
// id to the text of a piece.
TEST_F(TokenizerConfigTest, NewTokensFollowTheTextsSoFar) {
  write("tokenizer_config.json", R"({"added_tokens_decoder": {"6": {"content": "a", "special": true}}})");
  EXPECT_EQ(load().encode("a[MASK]").ids, (Ids{1, 4, 6, 6, 2}));
  write("tokenizer_config.json", R"({"added_tokens_decoder": {"6": {"content": "b", "special": true}}})");
  EXPECT_EQ(load().encode("b[MASK]").ids, (Ids{1, 6, 7, 2}));
}

TEST_F(TokenizerConfigTest, WrongShapesAreRefused) {
  const std::string config = "tokenizer_config.json";
  expect_refused(config, "[]", "expected an object");
  expect_refused(config, R"({"split_special_tokens": "yes"})", "split_special_tokens: got \"yes\"",
                 ErrorCode::kUnsupported);
  expect_refused(config, R"({"sp_model_kwargs": {"enable_sampling": true}})", "sp_model_kwargs",
                 ErrorCode::kUnsupported);
  expect_refused(config, R"({"mask_token": 5})", "mask_token: expected a string");
  expect_refused(config, R"({"mask_token": {"content": "x", "lstrip": 1}})", "lstrip");
  expect_refused(config, "{\"mask_token\": \"" + std::string(1025, 'x') + "\"}", "got 1025");
  for (const char* none : {"{}", R"({"content": null})", R"({"content": ""})", R"({"lstrip": true})"})
    expect_refused(config, std::string(R"({"mask_token": )") + none + "}", "mask_token: expected a token with content");
  expect_refused(config, R"({"cls_token": null})", "cls_token: expected a token");
  expect_refused(config, R"({"additional_special_tokens": "x"})", "expected a list");
  expect_refused(config, R"({"additional_special_tokens": [1]})", "expected a string");
  expect_refused(config, R"({"added_tokens_decoder": []})", "expected an object");
  expect_refused(config, R"({"added_tokens_decoder": {"9": "x"}})", "expected an object");
  expect_refused(config, R"({"added_tokens_decoder": {"x": {"content": "x"}}})", "expected an id");
  expect_refused(config, R"({"added_tokens_decoder": {"-1": {"content": "x"}}})", "expected an id");
  expect_refused(config, R"({"added_tokens_decoder": {"99999999": {"content": "x"}}})",
                 "expected an id in 0..16777215");
  expect_refused(config, R"({"added_tokens_decoder": {"9": {"content": "x"}, "09": {"content": "y"}}})",
                 "id 9 appears twice");
  expect_refused(config, R"({"added_tokens_decoder": {"9": {"content": "x"}, "10": {"content": "x"}}})",
                 "appears twice");
  expect_refused("added_tokens.json", R"({"x": "9"})", "expected an id");
  expect_refused("added_tokens.json", R"({"x": 1.5})", "expected an id");
  expect_refused("added_tokens.json", R"({"x\u0000y": 9})", "without NUL");
  expect_refused("added_tokens.json", R"({"x": 9, "y": 9})", "id 9 appears twice");
}

TEST_F(TokenizerConfigTest, BrokenJsonIsRefusedAsJson) {
  write("tokenizer_config.json", "{");
  EXPECT_ERROR(load(), kJson, "tokenizer_config.json");
}

}  // namespace
}  // namespace deberta::test::tokenizer_config_test

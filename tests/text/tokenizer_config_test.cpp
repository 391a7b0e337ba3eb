// The JSON files beside spm.model: what they add, which wins, and that wrong shapes are refused.
#include <gtest/gtest.h>

#include "deberta/tokenizer.h"
#include "support/bad_spm.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::test {
namespace {

using Ids = std::vector<int32_t>;

// Pieces 4 "▁" and 5 "a"; the JSON files as given.
class TokenizerConfigTest : public testing::Test {
 protected:
  TokenizerConfigTest() { write_text(files_.path("spm.model"), make_spm(small_spm({{"▁", -1}, {"a", -1}}))); }
  void write(const std::string& name, const std::string& text) { write_text(files_.path(name), text); }
  Tokenizer load() { return Tokenizer::load(files_.path()); }
  void expect_refused(const std::string& name, const std::string& text, const std::string& part) {
    SCOPED_TRACE(text);
    write(name, text);
    EXPECT_ERROR(load(), kTokenizerFile, part);
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

TEST_F(TokenizerConfigTest, FolderMayNameItsModelSpiece) {
  const TemporaryFolder other;
  write_text(other.path("spiece.model"), make_spm(small_spm({{"▁", -1}})));
  EXPECT_EQ(Tokenizer::load(other.path()).size(), 6U);
}

TEST_F(TokenizerConfigTest, WrongShapesAreRefused) {
  const std::string config = "tokenizer_config.json";
  expect_refused(config, "[]", "expected an object");
  expect_refused(config, R"({"do_lower_case": 1})", "do_lower_case: expected true or false");
  expect_refused(config, R"({"split_by_punct": "no"})", "split_by_punct");
  expect_refused(config, R"({"mask_token": 5})", "mask_token: expected a string");
  expect_refused(config, R"({"mask_token": ""})", "1..1024 bytes");
  expect_refused(config, R"({"mask_token": {"lstrip": true}})", "content");
  expect_refused(config, R"({"mask_token": {"content": "x", "lstrip": 1}})", "lstrip");
  expect_refused(config, "{\"mask_token\": \"" + std::string(1025, 'x') + "\"}", "got 1025");
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
  expect_refused("added_tokens.json", R"({"": 9})", "1..1024 bytes");
  expect_refused("added_tokens.json", R"({"x\u0000y": 9})", "without NUL");
  expect_refused("added_tokens.json", R"({"x": 9, "y": 9})", "id 9 appears twice");
}

TEST_F(TokenizerConfigTest, BrokenJsonIsRefusedAsJson) {
  write("tokenizer_config.json", "{");
  EXPECT_ERROR(load(), kJson, "tokenizer_config.json");
}

}  // namespace
}  // namespace deberta::test

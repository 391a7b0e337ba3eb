// What a model's folder says about the length of texts becomes the default of the options.
#include <gtest/gtest.h>

#include "options/verb_options.h"
#include "program/model_options.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::program::text_limits_test {
namespace {

class TextLimitsTest : public testing::Test {
 protected:
  void settings(const std::string& text) { test::write_text(files_.path("tokenizer_config.json"), text); }
  void config(const std::string& text) { test::write_text(files_.path("config.json"), text); }
  // The encoding of `verb` with this folder's model and one option.
  EncodingSettings limited(const std::string& verb, const std::string& option = "", const std::string& value = "") {
    Options options(verb);
    if (!option.empty()) options.set(option, value, "flag");
    EncodingSettings encoding(options);
    follow_folder_limits(encoding, files_.path());
    return encoding;
  }
  test::TemporaryFolder files_;
};

TEST_F(TextLimitsTest, ASmallerLimitOfTheFolderCountsUnlessTheUserSaysOtherwise) {
  settings(R"({"model_max_length": 100})");
  EXPECT_EQ(limited("classify").max_tokens.value, 100);
  EXPECT_EQ(limited("classify").max_tokens.origin, "model_max_length");
  EXPECT_EQ(limited("classify").stride->value, 25);  // windows still advance
  EXPECT_EQ(limited("qa").max_tokens.value, 100);
  EXPECT_EQ(limited("tokenize").max_tokens.value, 100);
  EXPECT_EQ(limited("classify", "max-tokens", "512").max_tokens.value, 512);
}

TEST_F(TextLimitsTest, ALimitBelowTheSmallestWindowOfAQuestionIsThatWindow) {
  settings(R"({"model_max_length": 4})");
  EXPECT_EQ(limited("qa").max_tokens.value, 8);
  EXPECT_EQ(limited("qa").stride->value, 2);
  EXPECT_EQ(limited("classify").max_tokens.value, 4);
}

TEST_F(TextLimitsTest, ALengthAboveTheDefaultIsFollowedUpwards) {
  for (const int64_t length : {513, 1024, 32768}) {
    settings(R"({"model_max_length": )" + std::to_string(length) + "}");
    for (const char* verb : {"classify", "ner", "tokenize", "qa", "eval"})
      EXPECT_EQ(limited(verb).max_tokens.value, length) << verb;
    EXPECT_EQ(limited("classify").max_tokens.origin, "model_max_length");
    EXPECT_EQ(limited("classify").stride->value, 128);
    EXPECT_EQ(limited("classify", "max-tokens", "512").max_tokens.value, 512);
  }
  config(R"({"model_type": "deberta-v2", "max_position_embeddings": 600})");
  EXPECT_EQ(limited("classify").max_tokens.value, 512);  // a table alone states no length
  config(R"({"model_type": "deberta-v2", "max_position_embeddings": 512})");
  EXPECT_EQ(limited("classify").max_tokens.value, 512);
}

TEST_F(TextLimitsTest, LengthsThatStandForNoneAndNoLimitsChangeNothing) {
  for (const char* length :
       {"1000000000000000019884624838656", "1e400", "NaN", "null", "32769", "512", "\"x\"", "[]"}) {
    settings(std::string(R"({"model_max_length": )") + length + "}");
    const EncodingSettings encoding = limited("classify");
    EXPECT_EQ(encoding.max_tokens.value, 512) << length;
    EXPECT_FALSE(encoding.max_tokens.is_given()) << length;
  }
  settings("no JSON");
  EXPECT_EQ(limited("classify").max_tokens.value, 512);
  EncodingSettings of_no_model{Options("classify")};
  follow_folder_limits(of_no_model, "");
  EXPECT_EQ(of_no_model.max_tokens.value, 512);
}

TEST_F(TextLimitsTest, ALimitWithoutRoomForATextIsRefusedUnlessTheUserSaysAnother) {
  for (const char* length : {"true", "false", "0", "1", "2", "-1", "0.5"}) {
    SCOPED_TRACE(length);
    settings(std::string(R"({"model_max_length": )") + length + "}");
    const std::string part = "model_max_length: expected a length that leaves room for a text, got ";
    EXPECT_ERROR(limited("classify"), kTokenizerFile, part + length);
    EXPECT_ERROR(limited("qa"), kTokenizerFile, "set --max-tokens");
    EXPECT_EQ(limited("classify", "max-tokens", "64").max_tokens.value, 64);
  }
}

TEST_F(TextLimitsTest, ATableOfPositionsIsALimit) {
  config(R"({"model_type": "deberta-v2", "max_position_embeddings": 64})");
  EXPECT_EQ(limited("ner").max_tokens.value, 64);
  config(R"({"model_type": "deberta-v2", "max_position_embeddings": 64, "position_biased_input": false})");
  EXPECT_EQ(limited("ner").max_tokens.value, 512);
}

TEST_F(TextLimitsTest, TheEndThatIsCutIsTheFolders) {
  settings(R"({"truncation_side": "left"})");
  EXPECT_EQ(limited("classify").truncate->value, TruncateChoice::kLeft);
  EXPECT_EQ(limited("ner").truncate->value, TruncateChoice::kWindow);
  EXPECT_EQ(limited("classify", "truncate", "right").truncate->value, TruncateChoice::kRight);
}

}  // namespace
}  // namespace deberta::program::text_limits_test

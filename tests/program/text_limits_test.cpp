// What a model's folder says of the length of texts becomes the default of the options.
#include <gtest/gtest.h>

#include "options/options.h"
#include "program/model_options.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::cli {
namespace {

class TextLimitsTest : public testing::Test {
 protected:
  void settings(const std::string& text) { test::write_text(files_.path("tokenizer_config.json"), text); }
  void config(const std::string& text) { test::write_text(files_.path("config.json"), text); }
  Options options(const std::string& verb) const {
    Options options(verb);
    options.set("model", files_.path(), "flag");
    return options;
  }
  test::TemporaryFolder files_;
};

TEST_F(TextLimitsTest, ASmallerLimitOfTheFolderCountsUnlessTheUserSaysOtherwise) {
  settings(R"({"model_max_length": 100})");
  Options given = options("classify");
  EXPECT_EQ(with_folder_limits(given).integer("max-tokens"), 100);
  EXPECT_EQ(with_folder_limits(given).origin("max-tokens"), "model_max_length");
  EXPECT_EQ(with_folder_limits(given).integer("stride"), 25);  // windows still go on
  EXPECT_EQ(with_folder_limits(options("qa")).integer("max-tokens"), 100);
  EXPECT_EQ(with_folder_limits(options("tokenize")).integer("max-tokens"), 100);
  given.set("max-tokens", "512", "flag");
  EXPECT_EQ(with_folder_limits(given).integer("max-tokens"), 512);
}

TEST_F(TextLimitsTest, LimitsAboveTheDefaultAndNoLimitsChangeNothing) {
  for (const char* length : {"1000000000000000019884624838656", "1e400", "NaN", "null", "4096", "\"x\"", "[]"}) {
    settings(std::string(R"({"model_max_length": )") + length + "}");
    const Options limited = with_folder_limits(options("classify"));
    EXPECT_EQ(limited.integer("max-tokens"), 512) << length;
    EXPECT_FALSE(limited.is_given("max-tokens")) << length;
  }
  settings("no JSON");
  EXPECT_EQ(with_folder_limits(options("classify")).integer("max-tokens"), 512);
  EXPECT_EQ(with_folder_limits(Options("classify")).integer("max-tokens"), 512);
}

TEST_F(TextLimitsTest, ALimitWithoutRoomForATextIsRefusedUnlessTheUserSaysAnother) {
  for (const char* length : {"true", "false", "0", "1", "2", "-1", "0.5"}) {
    SCOPED_TRACE(length);
    settings(std::string(R"({"model_max_length": )") + length + "}");
    const std::string part = "model_max_length: expected a length that leaves room for a text, got ";
    EXPECT_ERROR(with_folder_limits(options("classify")), kTokenizerFile, part + length);
    EXPECT_ERROR(with_folder_limits(options("qa")), kTokenizerFile, "set --max-tokens");
    Options given = options("classify");
    given.set("max-tokens", "64", "flag");
    EXPECT_EQ(with_folder_limits(given).integer("max-tokens"), 64);
  }
}

TEST_F(TextLimitsTest, ATableOfPositionsIsALimit) {
  config(R"({"model_type": "deberta-v2", "max_position_embeddings": 64})");
  EXPECT_EQ(with_folder_limits(options("ner")).integer("max-tokens"), 64);
  config(R"({"model_type": "deberta-v2", "max_position_embeddings": 64, "position_biased_input": false})");
  EXPECT_EQ(with_folder_limits(options("ner")).integer("max-tokens"), 512);
}

TEST_F(TextLimitsTest, TheEndThatIsCutIsTheFolders) {
  settings(R"({"truncation_side": "left"})");
  EXPECT_EQ(with_folder_limits(options("classify")).text("truncate"), "left");
  EXPECT_EQ(with_folder_limits(options("ner")).text("truncate"), "window");
  Options given = options("classify");
  given.set("truncate", "right", "flag");
  EXPECT_EQ(with_folder_limits(given).text("truncate"), "right");
}

}  // namespace
}  // namespace deberta::cli

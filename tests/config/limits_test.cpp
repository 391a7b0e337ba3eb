// Sizes at the limits of config.json: the largest is read; hostile_test.cpp has larger ones, and the ranges of numbers.
#include <gtest/gtest.h>

#include "config/model_config.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::limits_test {
namespace {

class Limits : public testing::Test {
 protected:
  ModelConfig load(const std::string& text) const {
    test::write_text(folder_.path("config.json"), text);
    return load_model_config(folder_.path("config.json"));
  }
  test::TemporaryFolder folder_;
};

TEST_F(Limits, AConfigurationHasAMebibyte) {
  const std::string text = R"({"vocab_size": 100})";
  EXPECT_EQ(load(text + std::string((1 << 20) - text.size(), ' ')).vocab_size, 100);
  EXPECT_ERROR(load(text + std::string((1 << 20) + 1 - text.size(), ' ')), kTooLarge, "at most 1048576 bytes");
}

TEST_F(Limits, AConfigurationHas16Levels) {
  const auto nested = [](size_t levels) {
    return R"({"vocab_size": 100, "a": )" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  EXPECT_EQ(load(nested(16)).vocab_size, 100);
  EXPECT_ERROR(load(nested(17)), kJson, "at most 16 nested levels");
}

TEST_F(Limits, AModelHas100000Labels) {
  JsonObject labels;
  for (int i = 0; i < 100000; ++i) labels.emplace_back(std::to_string(i), "x" + std::to_string(i));
  EXPECT_EQ(parse_model_config(JsonObject{{"vocab_size", 9}, {"id2label", labels}}, "c").labels.size(), 100000u);
}

}  // namespace
}  // namespace deberta::limits_test

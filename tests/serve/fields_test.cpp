// Fields of requests are parameters of tasks, by other names: they have no words of their own.
#include "serve/fields.h"

#include <gtest/gtest.h>

#include "serve/openapi/schema.h"

namespace deberta::serve::fields_test {
namespace {

constexpr Parameter kSide{"side", "classify", ParameterType::kWord, "auto", "auto|left|right|both", "where to cut"};
constexpr Parameter kAmount{"count", "classify", ParameterType::kInteger, "4", "0..9", "how many, beside {side}"};

TEST(Fields, HaveNoWordsThatTheirRowsLack) {
  EXPECT_TRUE(fits({.name = "side", .row = kSide}));
  EXPECT_TRUE(fits({.name = "side", .row = kSide, .own_range = "both|right|left"}));  // another order
  EXPECT_FALSE(fits({.name = "side", .row = kSide, .own_range = "both|right|up"}));
  EXPECT_FALSE(fits({.name = "cut", .row = kSide, .means = {"up", "left"}, .own_text = "whether it is cut"}));
  EXPECT_FALSE(fits({.name = "cut", .row = kAmount, .means = {"left", "right"}, .own_text = "whether it is cut"}));
}

TEST(Fields, HaveATextOfTheirOwnWhereTheyAreAPartOfAParameterAndOnlyThere) {
  EXPECT_FALSE(fits({.name = "side", .row = kSide, .own_text = "where it is cut"}));
  EXPECT_FALSE(fits({.name = "count", .row = kAmount, .own_text = "so many"}));
  EXPECT_FALSE(fits({.name = "side", .row = kSide, .own_range = "left|right"}));
  EXPECT_TRUE(fits({.name = "side", .row = kSide, .own_range = "left|right", .own_text = "which end is cut"}));
  EXPECT_FALSE(fits({.name = "cut", .row = kSide, .means = {"both", "left"}}));
  EXPECT_TRUE(fits({.name = "cut", .row = kSide, .means = {"both"}, .own_text = "whether both ends are cut"}));
}

TEST(Fields, HaveTheRangeOfTheirRowUnlessTheySayAnother) {
  const Field plain{.name = "count", .row = kAmount}, other{.name = "count", .row = kAmount, .own_range = "1..20"};
  EXPECT_EQ(plain.low(), 0);
  EXPECT_EQ(plain.high(), 9);
  EXPECT_EQ(plain.default_number(), 4);
  EXPECT_EQ(other.low(), 1);
  EXPECT_EQ(other.high(), 20);
  EXPECT_EQ(field::kTopLabels.high(), 2147483647);
  EXPECT_EQ(field::kTruncatePromptTokens.low(), -1);
  EXPECT_EQ(field::kBinaryDataSize.high(), INT64_MAX);
  EXPECT_TRUE(field::kNormalize.is_on());
  EXPECT_FALSE(field::kRawScores.is_on());
}

TEST(Fields, AreDescribedByTheirRows) {
  const Field count{.name = "count", .row = kAmount, .more = "; with cut"};
  EXPECT_EQ(openapi::field_schema(count).dump(),
            R"({"type": "integer", "minimum": 0, "description": "how many, beside side; with cut"})");
  EXPECT_EQ(
      openapi::words_schema({.name = "side", .row = kSide, .schema = "Side"}).dump(),
      R"({"type": "string", "enum": ["left", "right", "both"], "description": "where to cut; in any case of letters"})");
  EXPECT_EQ(openapi::field_schema({.name = "side", .row = kSide, .schema = "Side"}).dump(),
            R"({"$ref": "#/components/schemas/Side"})");
  EXPECT_EQ(
      openapi::field_schema(
          {.name = "cut", .row = kSide, .own_default = "true", .means = {"both"}, .own_text = "whether it is cut"})
          .dump(),
      R"({"type": "boolean", "default": true, "description": "whether it is cut"})");
}

}  // namespace
}  // namespace deberta::serve::fields_test

// The published recipes of pre-training: every word of the option is one, and its values are values of options.
#include "train/pretrain/pretrain_recipe.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/checked.h"
#include "options/options.h"

namespace deberta::train::pretrain_recipe_test {
namespace {

std::map<std::string, std::string> values_of(std::string_view name) {
  std::map<std::string, std::string> values;
  for (const auto& [option, value] : option_values(*find_pretrain_recipe(name))) values.emplace(option, value);
  return values;
}

TEST(PretrainRecipe, EveryWordOfTheOptionIsOne) {
  std::string words = "none";
  for (const PretrainRecipe& recipe : pretrain_recipes()) words += "|" + std::string(recipe.name);
  EXPECT_EQ(find_option("pretrain", "recipe")->range, words);
  EXPECT_EQ(find_pretrain_recipe("none"), nullptr);
}

TEST(PretrainRecipe, ItsValuesAreValuesOfOptions) {
  for (const PretrainRecipe& recipe : pretrain_recipes()) {
    SCOPED_TRACE(std::string(recipe.name));
    Options options("pretrain");
    for (const auto& [name, value] : option_values(recipe)) EXPECT_NO_THROW(options.set(name, value, "recipe")) << name;
    const auto number = [](std::string_view text) { return parse_number<double>(text).value_or(0); };
    EXPECT_TRUE(number(recipe.learning_rate) >= 5e-5 && number(recipe.learning_rate) <= 6e-4);
    EXPECT_TRUE(number(recipe.batch_size) >= 32 && number(recipe.batch_size) <= 8192);
    EXPECT_LT(number(recipe.warmup_steps), number(recipe.max_steps));
  }
}

TEST(PretrainRecipe, IsAsItWasPublished) {
  using Values = std::map<std::string, std::string>;
  EXPECT_EQ(values_of("base"), (Values{{"objective", "mlm"},
                                       {"batch-size", "2048"},
                                       {"learning-rate", "2e-4"},
                                       {"warmup-steps", "10000"},
                                       {"max-steps", "1000000"}}));
  EXPECT_EQ(values_of("v3-large"), (Values{{"objective", "rtd"},
                                           {"batch-size", "8192"},
                                           {"learning-rate", "3e-4"},
                                           {"max-steps", "500000"},
                                           {"adam-beta2", "0.98"},
                                           {"rtd-lambda", "50"}}))
      << "no warm-up is known to us";
  EXPECT_EQ(values_of("code-v3-continue"), (Values{{"objective", "rtd"},
                                                   {"batch-size", "256"},
                                                   {"learning-rate", "5e-5"},
                                                   {"warmup-steps", "10000"},
                                                   {"max-steps", "100000"},
                                                   {"max-tokens", "512"}}));
}

}  // namespace
}  // namespace deberta::train::pretrain_recipe_test

#include "train/finetune/recipe.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace deberta::train::recipe_test {
namespace {

TEST(Recipe, EveryPublishedOneHasNumbersInTheirRanges) {
  for (const TaskRow& task : task_table()) {
    for (const bool is_sift : {false, true}) {
      for (const auto& [size, text] : sized_recipes(is_sift ? task.sift : task.recipe)) {
        if (text.empty()) continue;
        const Recipe recipe = find_recipe(task, size, is_sift);
        EXPECT_TRUE(recipe.epochs >= 2 && recipe.epochs <= 15) << task.name << ' ' << text;
        EXPECT_TRUE(recipe.warmup > 0 && recipe.warmup <= 1500) << task.name << ' ' << text;
        EXPECT_TRUE(recipe.learning_rate >= 1e-6 && recipe.learning_rate <= 5e-5) << task.name << ' ' << text;
        EXPECT_TRUE(recipe.samples_per_step >= 16 && recipe.samples_per_step <= 256) << task.name << ' ' << text;
        EXPECT_TRUE(recipe.classifier_dropout.value_or(0) >= 0 && recipe.classifier_dropout.value_or(0) <= 0.3);
        EXPECT_EQ(recipe.adversarial_lambda.has_value(), is_sift) << task.name << ' ' << text;
      }
    }
  }
}

TEST(Recipe, IsThatOfTheTaskTheSizeAndTheKind) {
  const TaskRow& mnli = *look_up_task("mnli");
  const Recipe plain = find_recipe(mnli, "v3-xsmall", false), sift = find_recipe(mnli, "v3-xsmall", true);
  EXPECT_EQ(plain.epochs, 3);
  EXPECT_EQ(plain.learning_rate, 4.5e-5);
  EXPECT_EQ(sift.epochs, 10);
  EXPECT_EQ(sift.warmup, 1500);
  EXPECT_EQ(sift.learning_rate, 5e-5);
  EXPECT_EQ(sift.samples_per_step, 64u);
  EXPECT_EQ(sift.classifier_dropout, 0.1);
  EXPECT_EQ(sift.adversarial_lambda, 3);
  EXPECT_EQ(find_recipe(mnli, "large", true).epochs, 3) << "nothing else is published";
  EXPECT_EQ(find_recipe(*look_up_task("ner"), "base", false).warmup, 0.1);
}

TEST(Recipe, ThatIsNotPublishedIsRefusedWithTheSizesThatAre) {
  EXPECT_ERROR(find_recipe(*look_up_task("alphanli"), "base", false), kUsage,
               "expected a size with a published recipe for alphanli (v3-large), got base");
  EXPECT_ERROR(find_recipe(*look_up_task("nli"), "base", true), kUsage, "with a published recipe for nli (none)");
}

}  // namespace
}  // namespace deberta::train::recipe_test

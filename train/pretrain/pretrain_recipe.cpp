// The table of recipes. Papers: He et al. 2021 (its batch of 2k read as 2,048) and, of version 3, He et al. 2023. The
// scripts beside the original code have other numbers than the papers.
#include "train/pretrain/pretrain_recipe.h"

#include <algorithm>
#include <array>

namespace deberta::train {
namespace {

constexpr PretrainRecipe of_first_paper(std::string_view name) {
  return {name, "mlm", "2048", "2e-4", "10000", "1000000"};
}
constexpr PretrainRecipe of_third_paper(std::string_view name, std::string_view learning_rate) {
  return {.name = name,
          .objective = "rtd",
          .batch_size = "8192",
          .learning_rate = learning_rate,
          .warmup_steps = {},
          .max_steps = "500000",
          .adam_beta2 = "0.98",
          .rtd_lambda = "50"};
}

constexpr std::array kRecipes = {
    of_first_paper("base"),
    of_first_paper("large"),
    of_third_paper("v3-small", "6e-4"),
    of_third_paper("v3-base", "6e-4"),
    of_third_paper("v3-large", "3e-4"),
    PretrainRecipe{"code-base", "mlm", "256", "1e-4", "10000", "1000000", "512"},
    PretrainRecipe{"code-v2-xlarge", "mlm", "32", "1e-4", "1000", "1000000", "512"},
    PretrainRecipe{"code-v2-xxlarge", "mlm", "32", "1e-4", "1000", "1000000", "512"},
    PretrainRecipe{"code-v3-xsmall", "rtd", "64", "3e-4", "10000", "1000000", "512"},
    PretrainRecipe{"code-v3-base", "rtd", "256", "1e-4", "10000", "1000000", "512"},
    PretrainRecipe{"code-v3-large", "rtd", "256", "1e-4", "10000", "1000000", "512"},
    PretrainRecipe{"code-v3-continue", "rtd", "256", "5e-5", "10000", "100000", "512"},
};

}  // namespace

std::span<const PretrainRecipe> pretrain_recipes() {
  return kRecipes;
}

const PretrainRecipe* find_pretrain_recipe(std::string_view name) {
  const auto match = std::ranges::find(kRecipes, name, &PretrainRecipe::name);
  return match == kRecipes.end() ? nullptr : &*match;
}

std::vector<std::pair<std::string_view, std::string_view>> option_values(const PretrainRecipe& recipe) {
  std::vector<std::pair<std::string_view, std::string_view>> values = {
      {"objective", recipe.objective},       {"batch-size", recipe.batch_size}, {"learning-rate", recipe.learning_rate},
      {"warmup-steps", recipe.warmup_steps}, {"max-steps", recipe.max_steps},   {"max-tokens", recipe.max_tokens},
      {"adam-beta2", recipe.adam_beta2},     {"rtd-lambda", recipe.rtd_lambda}};
  std::erase_if(values, [](const auto& value) { return value.second.empty(); });
  return values;
}

}  // namespace deberta::train

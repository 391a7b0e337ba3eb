// Published hyper-parameters of pre-training, as values of options.
#pragma once
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace deberta::train {

// Texts of options; "": nothing is published.
struct PretrainRecipe {
  std::string_view name;  // a size for that of its paper; "code-SIZE" for that of the scripts beside the original code
  std::string_view objective;
  std::string_view batch_size, learning_rate, warmup_steps, max_steps;
  std::string_view max_tokens = {}, adam_beta2 = {}, rtd_lambda = {};
};

std::span<const PretrainRecipe> pretrain_recipes();

// nullptr when there is none of that name.
const PretrainRecipe* find_pretrain_recipe(std::string_view name);

// What it sets, by the names of options, without what is not published.
std::vector<std::pair<std::string_view, std::string_view>> option_values(const PretrainRecipe& recipe);

}  // namespace deberta::train

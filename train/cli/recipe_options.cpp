// Sets the values of a recipe as if they had been given.
#include "train/cli/recipe_options.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "deberta/error.h"
#include "train/pretrain/pretrain_recipe.h"

namespace deberta::train {
namespace {

constexpr auto kLengths = std::to_array<std::string_view>({"max-steps", "max-train-tokens", "num-train-epochs"});

const OptionRow& row_of(const Options& options, std::string_view name) {
  return *find_option(options.verb(), name);
}

bool is_given(const Options& options, std::string_view name) {
  return options.is_given(row_of(options, name));
}

void check_objective_of(const PretrainRecipe& recipe, const Options& options) {
  const std::string& objective = options.text(row_of(options, "objective"));
  if (!is_given(options, "objective") || objective == recipe.objective) return;
  throw Error(ErrorCode::kUsage, "--recipe",
              "expected --objective " + std::string(recipe.objective) + ", for which " + std::string(recipe.name) +
                  " was published, got " + objective);
}

}  // namespace

Options with_recipe(Options options) {
  const PretrainRecipe* recipe = find_pretrain_recipe(options.text(row_of(options, "recipe")));
  if (recipe == nullptr) return options;  // none: other names are refused where they are set
  check_objective_of(*recipe, options);
  const bool has_length = std::ranges::any_of(kLengths, [&](std::string_view name) { return is_given(options, name); });
  for (const auto& [name, value] : option_values(*recipe)) {
    if (is_given(options, name) || (has_length && name == "max-steps")) continue;
    options.set(name, value, "recipe " + std::string(recipe->name));
  }
  return options;
}

}  // namespace deberta::train

// Parses the table's texts into numbers; default rates follow from the number of weights in the layers.
#include "train/finetune/recipe.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/checked.h"
#include "cost/operations.h"
#include "deberta/error.h"

namespace deberta::train {
namespace {

[[noreturn]] void refuse(const TaskRow& task, std::string_view size) {
  std::string known;
  for (const auto& [other, text] : sized_recipes(task.recipe)) {
    if (!text.empty()) known += (known.empty() ? "" : ", ") + std::string(other);
  }
  if (known.empty()) known = "none";
  throw Error(ErrorCode::kUsage, {{.message = "expected a size with a published recipe for " + std::string(task.name) +
                                              " (" + known + "), got " + std::string(size),
                                   .argument = "recipe"}});
}

// The number that a part begins with; the table's texts are ours.
double number_of(const std::string& part) {
  return parse_number<double>(part.starts_with('.') ? "0" + part : part).value_or(0);
}

std::string_view text_of(const TaskRecipe& recipe, std::string_view size) {
  const auto sizes = sized_recipes(recipe);
  const auto match = std::ranges::find(sizes, size, &SizedRecipe::size);
  return match == sizes.end() ? std::string_view() : match->text;
}

// For large models the published rates, as they are for most tasks; for small ones what was measured
// (docs/reference/fine-tuning.md). LoRA's are ten times as high where nothing was measured.
struct SizedRate {
  double most_weights;  // weights in the layers
  std::string_view rate, lora_rate;
};
constexpr auto kRates = std::to_array<SizedRate>({
    {10e6, "2e-4", "1e-3"},      // the models that ship
    {60e6, "4.5e-5", "4.5e-4"},  // v3-xsmall, v3-small
    {150e6, "2e-5", "2e-4"},     // base
    {1e12, "1e-5", "1e-4"},      // large
});

}  // namespace

Recipe find_recipe(const TaskRow& task, std::string_view size, bool is_sift) {
  std::string_view whole = is_sift ? text_of(task.sift, size) : "";
  if (whole.empty()) whole = text_of(task.recipe, size);
  if (whole.empty()) refuse(task, size);
  const std::string_view text = whole.substr(0, whole.find(','));  // what follows, on accumulation, changes nothing
  const std::vector<std::string> parts = split_words(text, '/');
  Recipe recipe;
  recipe.epochs = number_of(parts[0]);
  recipe.warmup = number_of(parts[1]);
  recipe.learning_rate = number_of(parts[2]);
  recipe.samples_per_step = static_cast<size_t>(number_of(parts[3]));
  if (parts.size() > 4) recipe.classifier_dropout = number_of(parts[4]);
  if (parts.size() > 5) recipe.adversarial_lambda = number_of(parts[5]);
  return recipe;
}

std::string_view default_learning_rate(const ModelConfig& config, bool is_lora) {
  const double weights = layer_weights(config);
  const auto match = std::ranges::find_if(kRates, [&](const SizedRate& row) { return weights <= row.most_weights; });
  const SizedRate& row = match == kRates.end() ? kRates.back() : *match;
  return is_lora ? row.lora_rate : row.rate;
}

std::optional<size_t> published_length(const TaskRow& task) {
  return parse_number<size_t>(task.recipe.length);
}

}  // namespace deberta::train

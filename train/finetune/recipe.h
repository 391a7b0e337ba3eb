// Published hyper-parameters of a task, as numbers.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

#include "deberta/config.h"
#include "metrics/task_table.h"

namespace deberta::train {

struct Recipe {
  double epochs = 0;
  double warmup = 0;  // steps; below 1: a part of the run
  double learning_rate = 0;
  size_t samples_per_step = 0;
  std::optional<double> classifier_dropout;
  std::optional<double> adversarial_lambda;  // lambda of scale-invariant fine-tuning
};

// `size`: "v3-large" and so on (sized_recipes()). Where nothing is published for scale-invariant fine-tuning at that
// size, plain fine-tuning's numbers. Throws kUsage, with the sizes that the task has, for another one.
Recipe find_recipe(const TaskRow& task, std::string_view size, bool is_sift);

// The highest learning rate for a model where no recipe names one, as text, by the number of weights in its layers; for
// all weights, or for what LoRA adds to them.
std::string_view default_learning_rate(const ModelConfig& config, bool is_lora);

// The published length of an input in tokens.
std::optional<size_t> published_length(const TaskRow& task);

}  // namespace deberta::train

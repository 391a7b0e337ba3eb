// Fine-tuning: a model folder for a task, from a model and labelled files.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "deberta/pipeline.h"
#include "metrics/task_table.h"
#include "train/data/task_samples.h"
#include "train/run/hooks.h"
#include "train/step/parameter_group.h"
#include "train/run/rate_search.h"
#include "train/run/run.h"
#include "train/step/run_tokenizer.h"
#include "train/step/workplace.h"
#include "train/model/form.h"
#include "train/objectives/distillation.h"
#include "train/objectives/perturbation.h"

namespace deberta::train {

struct FinetuneSettings {
  RunSettings run = {};  // its `best` and evaluations need `evaluation`
  const TaskRow* task = nullptr;
  std::string model_folder = {};  // weights to begin with, and the tokenizer
  std::string model_name = {};    // as it was named
  std::vector<std::string> added_tokens = {};
  TaskReading training = {};
  BadRows bad_rows = BadRows::kFail;  // of all files; kReport: told as a note
  // Evaluated as `deberta eval` does with these rules; without files: not.
  ExampleInput evaluation = {};
  EncodingRules evaluation_rules = {};

  std::optional<int64_t> steps = std::nullopt;  // else epochs
  double epochs = 3;
  size_t samples_per_step = 32;
  size_t accumulation = 1;  // micro-batches of a step

  std::optional<AdversarialOptions> adversarial = std::nullopt;  // none: plain fine-tuning
  std::string teacher_folder = {};                               // a model whose answers are learned too; empty: none
  DistillationOptions distillation = {};
  double label_smoothing = 0;
  std::vector<float> class_weights = {};                    // by the task's order of classes; empty: 1
  bool balances_classes = false;                            // weights so that all classes count the same
  std::optional<double> classifier_dropout = std::nullopt;  // none: as config.json says
  std::optional<ClassifierPooling> pooling = std::nullopt;  // the same
  std::optional<int64_t> frozen_layers = std::nullopt;      // ModelForm
  std::optional<LoraForm> lora = std::nullopt;              // ModelForm
  int64_t reinit_layers = 0;                                // so many of the last ones begin with random weights

  OptimizerOptions optimizer = {};  // all but `rates`, which are these:
  double learning_rate = 2e-5;
  std::optional<double> head_learning_rate = std::nullopt;  // none: the same
  double layer_decay = 1;                                   // LayerRates
  WorkplaceSettings workplace = {};

  RunTokenizer tokenizer() const { return {model_folder, added_tokens}; }
};

// Evaluations come at the end of each epoch unless run.eval_steps says otherwise. Throws what run() and the parts do.
RunResult finetune(const FinetuneSettings& settings, const RunHooks& hooks);

// Steps at many learning rates, of which nothing is kept; nothing once stopped.
std::optional<RateSearch> search_rates(const FinetuneSettings& settings, const RunHooks& hooks);

// The fewest micro-batches of a step, at least settings.accumulation, that memory has room for with the longest
// samples; nothing once stopped.
std::optional<size_t> find_accumulation(const FinetuneSettings& settings, const RunHooks& hooks);

// What the first step would train on, without training.
struct FinetuneDryRun {
  int64_t total_steps = 0;
  int64_t parameters = 0;
  TaskSamples samples = {};
  std::vector<TaskBatch> batches = {};  // of the first step
  std::vector<std::string> new_layers = {}, new_tensors = {};
  std::vector<std::string> notes = {};  // of the vocabulary
};
std::optional<FinetuneDryRun> dry_run(const FinetuneSettings& settings, const RunHooks& hooks);  // nothing once stopped

}  // namespace deberta::train

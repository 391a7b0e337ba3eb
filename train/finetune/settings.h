// The settings of fine-tuning, divided by their readers. Only what puts the parts together takes the whole: the
// learner, and what makes it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deberta/pipeline.h"
#include "metrics/task_table.h"
#include "train/data/task_samples.h"
#include "train/model/form.h"
#include "train/objectives/distillation.h"
#include "train/objectives/extraction.h"
#include "train/objectives/perturbation.h"
#include "train/run/run.h"
#include "train/step/parameter_group.h"
#include "train/step/run_tokenizer.h"
#include "train/step/workplace.h"

namespace deberta::train {

// The task, the files that it is learned from and judged by, and how they are read. All parts of this room read it.
struct TaskFiles {
  const TaskRow* task = nullptr;
  TaskReading training = {};
  BadRows bad_rows = BadRows::kFail;  // applies to all files; kReport: as a note
  // Evaluated as `deberta eval` does with these rules; without files: not.
  ExampleInput evaluation = {};
  EncodingRules evaluation_rules = {};
};

// The head of entities that a run trains: extraction_start().
struct ExtractionStart {
  ExtractionConfig config = {};
  bool is_new = true;                       // the model to begin with has none
  std::vector<std::string> new_marks = {};  // tokens that the tokenizer gets
};

// The model that a run begins with, and which parts of it are trained: first_task_model().
struct TaskStart {
  std::string model_folder = {};  // weights to begin with, and the tokenizer
  std::string model_name = {};    // as it was named
  std::vector<std::string> added_tokens = {};
  std::optional<double> classifier_dropout = std::nullopt;   // none: as config.json sets it
  std::optional<ClassifierPooling> pooling = std::nullopt;   // as above
  std::optional<int64_t> frozen_layers = std::nullopt;       // ModelForm
  std::optional<LoraForm> lora = std::nullopt;               // ModelForm
  int64_t reinit_layers = 0;                                 // so many of the last ones begin with random weights
  std::optional<ExtractionStart> extraction = std::nullopt;  // of kExtraction

  // Of a GLiNER model the one that the library has.
  RunTokenizer tokenizer() const {
    if (!extraction) return {model_folder, added_tokens};
    std::vector<std::string> added = added_tokens;
    added.insert(added.end(), extraction->new_marks.begin(), extraction->new_marks.end());
    return {model_folder, std::move(added), TokenizerKind::kFast};
  }
};

// What a step makes smaller: the learner and load_teacher().
struct TaskObjective {
  std::optional<AdversarialOptions> adversarial = std::nullopt;  // none: plain fine-tuning
  std::string teacher_folder = {};                               // a model whose answers are learned too; empty: none
  DistillationOptions distillation = {};
  double label_smoothing = 0;
  std::vector<float> class_weights = {};  // in the task's order of classes; empty: 1
  bool balances_classes = false;          // weights so that all classes count the same
  FocalOptions focal = {};                // kExtraction
};

struct TaskRates {
  double learning_rate = 2e-5;
  std::optional<double> head_learning_rate = std::nullopt;  // none: the same
  double layer_decay = 1;                                   // LayerRates
};

struct FinetuneSettings {
  RunSettings run = {};  // run.best and evaluations need files.evaluation
  TaskFiles files = {};
  TaskStart start = {};

  std::optional<int64_t> steps = std::nullopt;  // else epochs
  double epochs = 3;
  size_t samples_per_step = 32;
  size_t accumulation = 1;  // micro-batches of a step

  TaskObjective objective = {};
  OptimizerOptions optimizer = {};  // all but its `rates`, which follow from these:
  TaskRates rates = {};
  WorkplaceSettings workplace = {};
};

}  // namespace deberta::train

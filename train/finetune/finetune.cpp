// Reads samples, makes the model and its learner, and hands both to the run.
#include "train/finetune/finetune.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "train/data/data_notes.h"
#include "train/data/extraction_samples.h"
#include "train/data/ranking_samples.h"
#include "train/finetune/adapter_files.h"
#include "train/finetune/task_evaluation.h"
#include "train/finetune/task_learner.h"
#include "train/finetune/task_model.h"
#include "train/finetune/teacher.h"
#include "train/model/parameters.h"
#include "train/run/batch_size_search.h"
#include "train/step/workplace.h"

namespace deberta::train {
namespace {

int64_t count_parameters(Model& model) {
  int64_t count = 0;
  for (const NamedParameter& parameter : trained_parameters(model)) count += parameter.tensor.numel();
  return count;
}

void report_lora(Model& model, const RunHooks& hooks) {
  if (!model.form.lora) return;
  hooks.on_note(std::to_string(count_parameters(model)) + " parameters are trained: those that LoRA adds to " +
                std::to_string(model.lora.size()) + " matrices, and the head");
  if (const std::optional<std::string> obstacle = find_adapter_obstacle(model.form))
    hooks.on_note("the result is only the merged model, without an adapter for peft: " + *obstacle);
}

// hooks.on_beginning gets what a run that goes on reads from its checkpoint.
void report_beginning(const TaskSamples& samples, TaskModel& first, const RunHooks& hooks) {
  std::string text =
      std::to_string(samples.samples.size()) + " samples from " + std::to_string(samples.examples) + " examples";
  if (samples.held_out > 0) text += "; " + describe_held_out(samples);
  if (samples.unlabelled > 0) text += "; " + std::to_string(samples.unlabelled) + " without a label are left out";
  if (samples.unordered > 0)
    text += "; " + std::to_string(samples.unordered) + " queries with equally relevant documents are left out";
  if (samples.bad > 0) text += "; " + std::to_string(samples.bad) + " bad rows are left out";
  if (samples.weightless > 0) text += "; " + std::to_string(samples.weightless) + " of weight 0 are left out";
  if (samples.in_windows > 0)
    text += "; " + std::to_string(samples.in_windows) + " texts were too long and are learned in windows";
  if (samples.cut > 0) text += "; " + std::to_string(samples.cut) + " sequences were too long and were cut";
  hooks.on_note(text);
  for (const std::string& note : notes_of(samples)) hooks.on_note(note);
  report_lora(first.model, hooks);
  for (const std::string& note : first.notes) hooks.on_beginning(note);
  if (first.new_layers.empty() && first.new_tensors.empty()) return;
  text = "new, with random weights:";
  for (const auto* names : {&first.new_layers, &first.new_tensors}) {
    for (const std::string& name : *names) text += " " + name;
  }
  hooks.on_beginning(text);
}

TaskModel begin_model(const FinetuneSettings& settings, TaskSamples& samples) {
  return first_task_model(settings.start, settings.files, settings.run.seed, samples);
}

}  // namespace

RunResult finetune(const FinetuneSettings& settings, const RunHooks& hooks) {
  const Workplace workplace(settings.workplace);
  const auto make_learner = [&](const RunHooks& polled) -> std::unique_ptr<Learner> {
    std::optional<TaskSamples> samples = read_training(settings, polled);
    if (!samples) return nullptr;
    if (!check_evaluation(settings.files, settings.start.tokenizer(), *samples, polled)) return nullptr;
    TaskModel first = begin_model(settings, *samples);
    report_beginning(*samples, first, polled);
    return make_task_learner(settings, std::move(*samples), std::move(first.model), workplace);
  };
  return run(settings.run, make_learner, hooks);
}

std::optional<RateSearch> search_rates(const FinetuneSettings& settings, const RunHooks& hooks) {
  const Workplace workplace(settings.workplace);
  std::optional<TaskSamples> samples = read_training(settings, hooks);
  if (!samples) return std::nullopt;
  Model model = begin_model(settings, *samples).model;
  const auto learner = make_task_learner(settings, std::move(*samples), std::move(model), workplace);
  return search_rates(*learner, {.learning_rate = settings.rates.learning_rate, .max_norm = settings.run.max_norm},
                      hooks);
}

std::optional<size_t> find_accumulation(const FinetuneSettings& settings, const RunHooks& hooks) {
  const Workplace workplace(settings.workplace);
  std::optional<TaskSamples> samples = read_training(settings, hooks);
  if (!samples) return std::nullopt;
  Model model = begin_model(settings, *samples).model;
  if (samples->loss == TaskLoss::kRanking) {
    for (TaskSample& query : samples->samples) query = with_longest(query, samples->ranking.max_documents);
  }
  if (samples->loss == TaskLoss::kExtraction) {
    for (TaskSample& sample : samples->samples) sample = with_longest_labels(*samples, std::move(sample));
  }
  std::ranges::stable_sort(samples->samples, std::greater(), &TaskSample::tokens);
  samples->samples.resize(std::min(samples->samples.size(), settings.samples_per_step));
  FinetuneSettings tried = settings;
  return find_accumulation(settings.samples_per_step, settings.accumulation, [&](size_t accumulation) {
    tried.accumulation = accumulation;
    return make_task_learner(tried, *samples, model, workplace);
  });
}

std::optional<FinetuneDryRun> dry_run(const FinetuneSettings& settings, const RunHooks& hooks) {
  std::optional<TaskSamples> samples = read_training(settings, hooks);
  if (!samples) return std::nullopt;
  if (!check_evaluation(settings.files, settings.start.tokenizer(), *samples, hooks)) return std::nullopt;
  TaskModel first = begin_model(settings, *samples);
  FinetuneDryRun dry;
  dry.parameters = count_parameters(first.model);
  dry.new_layers = std::move(first.new_layers);
  dry.new_tensors = std::move(first.new_tensors);
  // Refuses what the run would.
  load_teacher(settings.objective, settings.files, settings.start.tokenizer(), *samples);
  dry.notes = std::move(first.notes);
  dry.samples = std::move(*samples);
  const TaskBatches batches(dry.samples, {settings.run.seed, settings.samples_per_step, settings.accumulation});
  dry.total_steps = count_steps(settings, batches);
  schedule_of(settings.run, dry.total_steps);
  dry.batches = batches.make(0);
  return dry;
}

}  // namespace deberta::train

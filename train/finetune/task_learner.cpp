// Combines the task's loss with an adversarial one or a teacher's, and steps the trainer on it.
#include "train/finetune/task_learner.h"

#include <cmath>
#include <functional>
#include <utility>

#include "base/sha256.h"
#include "deberta/error.h"
#include "train/data/guess_loss.h"
#include "train/finetune/adapter_files.h"
#include "train/finetune/evaluation_loss.h"
#include "train/finetune/separate_files.h"
#include "train/finetune/task_evaluation.h"
#include "train/finetune/task_predictions.h"
#include "train/finetune/teacher.h"
#include "train/objectives/perturbation.h"
#include "train/objectives/task.h"
#include "train/run/evaluation.h"
#include "train/state/trainer_state.h"
#include "train/step/model_files.h"
#include "train/step/single_model_learner.h"
#include "train/step/step_sums.h"

namespace deberta::train {
namespace {

template <class Value>
void add(Sha256& hash, const std::vector<Value>& values) {
  const uint64_t count = values.size();
  hash.update(std::as_bytes(std::span(&count, 1)));
  hash.update(std::as_bytes(std::span(values)));
}

// All that is learnt from: tokens and labels.
std::string hash_of(const TaskSamples& samples) {
  Sha256 hash;
  for (const std::string& name : samples.labels) hash.update(to_bytes(name + "\n"));
  for (const std::vector<int32_t>& pieces : samples.pool.pieces) add(hash, pieces);
  for (const TaskSample& sample : samples.samples) {
    std::vector<int32_t> numbers = {sample.label, sample.first, sample.last};
    for (const auto& [token, label] : sample.tags) numbers.insert(numbers.end(), {token, label});
    for (const TaskMention& mention : sample.mentions) {
      numbers.push_back(mention.is_right);
      add(hash, mention.tokens);
    }
    for (const TaskEntity& entity : sample.entities)
      numbers.insert(numbers.end(), {entity.first, entity.last, entity.label});
    add(hash, numbers);
    if (!sample.word_starts.empty()) add(hash, sample.word_starts);
    if (sample.searched) add(hash, *sample.searched);
    add(hash, sample.values);
    if (!sample.teacher_scores.empty()) add(hash, sample.teacher_scores);
    if (samples.has_weights) add(hash, std::vector<float>{sample.weight});
    for (const TaskSequence& sequence : sample.sequences) {
      numbers = sequence.ids;
      numbers.push_back(sequence.second);
      add(hash, numbers);
    }
  }
  return hash.finish();
}

// The weights that LoRA adds to, which checkpoints have as sums alone.
std::string hash_of_base(const Model& model) {
  Sha256 hash;
  for (const LoraMatrices& m : model.lora)
    hash.update(std::as_bytes(std::span(m.base_OI.const_data_ptr<float>(), static_cast<size_t>(m.base_OI.numel()))));
  return hash.finish();
}

// By the order of the samples' classes. The mean weight of a label is 1.
std::vector<float> balanced_weights(const TaskSamples& samples) {
  const std::vector<double> counts = count_classes(samples);
  double labels = 0, classes = 0;
  for (const double count : counts) {
    labels += count;
    classes += count > 0;
  }
  std::vector<float> weights;
  for (const double count : counts)
    weights.push_back(count > 0 ? static_cast<float>(labels / (classes * count)) : 1.0f);
  return weights;
}

TaskOptions options_of(const TaskObjective& objective, const TaskSamples& samples) {
  TaskOptions options{.loss = samples.loss,
                      .label_smoothing = objective.label_smoothing,
                      .ranking = samples.ranking.loss,
                      .focal = objective.focal};
  options.class_weights_C = objective.balances_classes ? balanced_weights(samples) : objective.class_weights;
  const size_t weight_count = options.class_weights_C.size(), classes = samples.labels.size();
  if (weight_count > 0 && weight_count != classes) {
    throw Error(ErrorCode::kUsage, {{.message = "expected " + std::to_string(classes) +
                                                " weights, one for each class, got " + std::to_string(weight_count),
                                     .argument = "class_weights"}});
  }
  return options;
}

void check_rates(const TaskRates& rates) {
  std::vector<Problem> problems;
  const auto check = [&](bool is_right, const char* argument, const char* expected, double value) {
    if (!is_right)
      problems.push_back({.message = std::string("expected ") + expected + ", got " + to_json_number(value).dump(),
                          .argument = argument});
  };
  const double decay = rates.layer_decay;
  check(decay > 0 && decay <= 1, "layer_decay", "a number above 0 and at most 1", decay);
  if (rates.head_learning_rate) {
    check(*rates.head_learning_rate > 0, "head_learning_rate", "a number above 0", *rates.head_learning_rate);
    check(rates.learning_rate > 0, "learning_rate", "a number above 0 beside a rate of the head's own",
          rates.learning_rate);
  }
  if (!problems.empty()) throw Error(ErrorCode::kUsage, std::move(problems));
}

// Scores of documents are compared with each other: the distance between the scores of two models means little. Those
// of entities are nearly all of spans that are none.
void check_comparable(const TaskRow& task, const TaskObjective& objective) {
  const TaskLoss loss = loss_of(task);
  if (loss != TaskLoss::kRanking && loss != TaskLoss::kExtraction) return;
  const auto refuse = [&](const char* argument, std::vector<Remedy> remedies) {
    throw Error(ErrorCode::kUsage, {{.message = "expected a task other than " + std::string(task.name),
                                     .argument = argument,
                                     .remedies = std::move(remedies)}});
  };
  std::vector<Remedy> remedies;
  if (loss == TaskLoss::kRanking)
    remedies.push_back({"write a teacher's scores into the file and learn them with {}", "ranking_loss", "margin-mse"});
  if (!objective.teacher_folder.empty()) refuse("teacher", std::move(remedies));
  if (objective.adversarial) refuse("adversarial", {});
}

LayerRates layer_rates(const TaskRates& rates) {
  const double own = rates.head_learning_rate ? *rates.head_learning_rate / rates.learning_rate : 1;
  return {.head = own, .decay = rates.layer_decay};
}

OptimizerOptions optimizer_of(const FinetuneSettings& settings) {
  OptimizerOptions options = settings.optimizer;
  options.rates = layer_rates(settings.rates);
  return options;
}

std::vector<TrainBatch> inputs_of(std::vector<TaskBatch>& batches) {
  std::vector<TrainBatch> inputs;
  for (TaskBatch& batch : batches) inputs.push_back(std::move(batch.input));
  return inputs;
}

struct LossParts {  // parts of the loss of a micro-batch
  double task = 0, other = 0;
};

class TaskLearner : public SingleModelLearner {
 public:
  TaskLearner(const FinetuneSettings& settings, TaskSamples samples, Model model, const Workplace& workplace)
      : SingleModelLearner(std::move(model), settings.start.tokenizer(), optimizer_of(settings), workplace,
                           settings.files.training.max_tokens),
        settings_(settings),
        samples_(std::move(samples)),
        batches_(samples_, {settings.run.seed, settings.samples_per_step, settings.accumulation}),
        options_(options_of(settings.objective, samples_)),
        teacher_(load_teacher(settings.objective, settings.files, settings.start.tokenizer(), samples_)),
        evaluation_loss_(settings.files, settings.start.tokenizer(), samples_.labels) {}

  int64_t total_steps() const override { return count_steps(settings_, batches_); }
  int64_t evaluation_steps() const override { return batches_.steps_per_epoch(); }
  std::map<std::string, std::string> hashes() override {
    std::map<std::string, std::string> hashes{{"training files and tokenizer", hash_of(samples_)},
                                              {"configuration", hash_of_config(model().form.config)}};
    if (teacher_) hashes.emplace("teacher", hash_of(*teacher_));
    if (model().form.lora) hashes.emplace("weights that are added to", hash_of_base(model()));
    return hashes;
  }
  std::optional<double> guess_loss() const override {
    const bool is_plain = !settings_.objective.adversarial && !teacher_ && options_.label_smoothing == 0 &&
                          options_.class_weights_C.empty() && !samples_.has_weights &&
                          samples_.loss != TaskLoss::kExtraction;
    return is_plain ? std::optional(train::guess_loss(samples_)) : std::nullopt;
  }
  void begin(int64_t) override {}
  StepReport step(const StepRequest& request, Sums& sums) override;
  Metrics metrics(const Sums& sums) const override;
  Metrics evaluate(EvaluationPart, const RunHooks& hooks) override {
    Metrics metrics = evaluate_task(model(), settings_.files, settings_.start.tokenizer(), workplace_, hooks);
    if (metrics.empty()) return metrics;
    const std::optional<double> loss = evaluation_loss_.compute(model(), workplace_, hooks);
    if (loss) metrics.emplace_back("eval_loss", *loss);
    return loss || hooks.stop() != StopRequest::kStop ? metrics : Metrics();
  }

  void write_models(const std::string& folder) override {
    SingleModelLearner::write_models(folder);
    const bool has_adapter = model().form.lora && !find_adapter_obstacle(model().form);
    if (has_adapter) write_adapter(folder + "/adapter", model(), settings_.start.model_name);
  }

  void write_answers(const std::string& folder, const RunHooks& hooks) override {
    const Pipeline pipeline = to_pipeline(model(), settings_.start.tokenizer(), workplace_);
    if (const std::optional<PredictedRows> predictions = predict_rows(pipeline, settings_.files, hooks))
      write_predictions(folder + "/" + kPredictionsName, *predictions);
  }

 private:
  Loss loss_of(const TaskBatch& batch, const DropoutStream& dropout, LossParts& parts);
  // The part of the loss that is not the task's, as the log has it; empty: there is none.
  std::string other_loss() const {
    return teacher_ ? "distillation_loss" : settings_.objective.adversarial ? "adversarial_loss" : "";
  }

  const FinetuneSettings& settings_;
  TaskSamples samples_;
  TaskBatches batches_;
  TaskOptions options_;
  std::optional<Teacher> teacher_;
  EvaluationLoss evaluation_loss_;
  int64_t steps_ = 0;  // done
};

Loss TaskLearner::loss_of(const TaskBatch& batch, const DropoutStream& dropout, LossParts& parts) {
  if (teacher_) {
    const DistillationLoss result = distillation_loss(model(), *teacher_, workplace_.compute, batch, options_,
                                                      settings_.objective.distillation, dropout);
    parts = {result.task, result.distillation};
    return result.loss;
  }
  if (!settings_.objective.adversarial) return task_loss(model(), workplace_.compute, batch, options_, dropout);
  const AdversarialLoss result =
      adversarial_loss(model(), workplace_.compute, batch, options_, *settings_.objective.adversarial, dropout);
  parts = {result.task, result.adversarial};
  return result.loss;
}

StepReport TaskLearner::step(const StepRequest& request, Sums& sums) {
  std::vector<TaskBatch> batches = batches_.make(request.step);
  const DropoutStream dropout{
      .is_training = true, .seed = settings_.run.seed, .step = static_cast<uint32_t>(request.step)};
  std::vector<LossParts> parts(batches.size());
  std::vector<std::function<Loss()>> losses;
  for (size_t n = 0; n < batches.size(); ++n) {
    losses.push_back([&, n] {
      request.check_stop();
      return loss_of(batches[n], dropout, parts[n]);
    });
  }
  const double rate = settings_.rates.learning_rate * request.factor;
  const StepResult result =
      trainer_.step(losses, {.rate = rate, .max_norm = request.max_norm, .store = workplace_.compute.store});
  add_to_sums(result, rate, sums);
  for (const LossParts& part : parts) {
    sums["task_loss"] += part.task;
    sums["other_loss"] += part.other;
  }
  steps_ = request.step + 1;
  return report_of(result, inputs_of(batches));
}

Metrics TaskLearner::metrics(const Sums& sums) const {
  Metrics metrics{{"loss", ratio_of(sums, "loss", "divisor")},
                  {"epoch", static_cast<double>(steps_) / static_cast<double>(batches_.steps_per_epoch())},
                  {"grad_norm", ratio_of(sums, "grad_norm", "steps")},
                  {"learning_rate", sum_of(sums, "learning_rate")},
                  {"labels_per_step", ratio_of(sums, "labels", "steps")}};
  if (samples_.loss != TaskLoss::kScore)
    metrics.insert(metrics.begin() + 1, {"accuracy", ratio_of(sums, "correct", "labels")});
  if (settings_.rates.head_learning_rate)
    metrics.emplace_back("head_learning_rate", sum_of(sums, "learning_rate") * layer_rates(settings_.rates).head);
  if (const std::string other = other_loss(); !other.empty()) {
    metrics.emplace_back("task_loss", ratio_of(sums, "task_loss", "divisor"));
    metrics.emplace_back(other, ratio_of(sums, "other_loss", "divisor"));
  }
  add_loss_scale(sums, "", metrics);
  return metrics;
}

[[noreturn]] void refuse_part(const RowPart& part, const TaskSamples& samples) {
  const std::string of = std::to_string(samples.examples + samples.held_out);
  if (part.folds > 0)
    throw Error(ErrorCode::kUsage, {{.message = "expected a fold with at least one labelled example, got none of " + of,
                                     .argument = "fold",
                                     .remedies = {{"make fewer folds"}}}});
  throw Error(ErrorCode::kUsage,
              {{.message = "expected a share that holds out at least one example with a label, got none of " + of,
                .argument = "validation_split",
                .remedies = {{"name a larger share"}, {"give examples of their own with {}", "validation_file"}}}});
}

}  // namespace

std::optional<TaskSamples> read_training(const FinetuneSettings& settings, const RunHooks& hooks) {
  check_rates(settings.rates);
  check_comparable(*settings.files.task, settings.objective);
  if (!settings.files.evaluation.part)
    check_separate(settings.files.training.input.files, settings.files.evaluation.files);
  const Tokenizer tokenizer = settings.start.tokenizer().load();
  std::optional<TaskSamples> samples =
      read_task_samples(*settings.files.task, settings.files.training, tokenizer,
                        {.bad_rows = settings.files.bad_rows,
                         .on_bad_row = [&](const Error& error) { note_bad_row(error, hooks); },
                         .on_progress =
                             [&](size_t examples, std::optional<double> fraction) {
                               hooks.on_progress({Phase::kReading, examples, 0, fraction});
                             },
                         .is_stopped = [&] { return hooks.stop() == StopRequest::kStop; }});
  if (samples && settings.files.evaluation.part && samples->held_out_labelled == 0)
    refuse_part(*settings.files.evaluation.part, *samples);
  return samples;
}

int64_t count_steps(const FinetuneSettings& settings, const TaskBatches& batches) {
  const double steps = settings.steps ? static_cast<double>(*settings.steps)
                                      : std::ceil(settings.epochs * static_cast<double>(batches.steps_per_epoch()));
  constexpr double kMostSteps = 1 << 24;  // dropout counts them in 24 bits
  if (steps >= 1 && steps < kMostSteps) return static_cast<int64_t>(steps);
  throw Error(ErrorCode::kUsage, {{.message = "expected a run of 1 to 16777215 steps, got " + std::to_string(steps),
                                   .argument = "max_steps"}});
}

std::unique_ptr<Learner> make_task_learner(const FinetuneSettings& settings, TaskSamples samples, Model model,
                                           const Workplace& workplace) {
  return std::make_unique<TaskLearner>(settings, std::move(samples), std::move(model), workplace);
}

}  // namespace deberta::train

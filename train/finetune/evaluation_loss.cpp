// Packs the evaluation's samples without dropout, and computes the same loss as in training.
#include "train/finetune/evaluation_loss.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "metrics/asked_metrics.h"
#include "train/data/extraction_samples.h"
#include "train/data/task_batches.h"
#include "train/objectives/task.h"

namespace deberta::train {
namespace {

constexpr size_t kPackTokens = 4096;

// Not where answers have probabilities or scores, whose log_loss or mse is among the metrics of the evaluation itself,
// and not of an order of documents.
bool has_own_loss(const TaskRow& task) {
  return asked_metrics_of(task).empty() && task.kind != TaskKind::kRanking;
}

// Tags by the model's numbers. Those that the model does not have are left out.
void number_tags(const std::vector<std::string>& labels, TaskSamples& samples) {
  std::vector<int32_t> numbers;
  for (const std::string& name : samples.labels) {
    const auto position = std::ranges::find(labels, name);
    numbers.push_back(position == labels.end() ? -1 : static_cast<int32_t>(position - labels.begin()));
  }
  for (TaskSample& sample : samples.samples) {
    for (auto& [token, label] : sample.tags) label = numbers[static_cast<size_t>(label)];
    std::erase_if(sample.tags, [](const auto& tag) { return tag.second < 0; });
  }
  std::erase_if(samples.samples, [](const TaskSample& sample) { return sample.tags.empty(); });
}

// The same labels in every evaluation.
void put_labels(TaskSamples& samples) {
  std::vector<TaskSample> learned;
  for (size_t n = 0; n < samples.samples.size(); ++n)
    learned.push_back(with_labels(samples, n, draw_labels(samples, n, 0, 0)));
  samples.samples = std::move(learned);
}

}  // namespace

std::vector<std::string> metrics_of_evaluation(const TaskRow& task) {
  std::vector<std::string> names = metrics_with_loss(task);
  if (has_own_loss(task)) names.emplace_back("loss");
  return names;
}

bool EvaluationLoss::read(const RunHooks& hooks) {
  TaskReading reading = settings_.training;
  reading.input = settings_.evaluation;
  reading.max_examples = 0;
  reading.extraction.needs_names = false;             // they are those of the training files
  if (settings_.task->kind == TaskKind::kExtraction)  // labels of an evaluation may be longer
    reading.max_tokens = settings_.evaluation_rules.encode.max_tokens;
  samples_ = read_task_samples(*settings_.task, reading, tokenizer_.load(),
                               {.bad_rows = settings_.bad_rows == BadRows::kFail ? BadRows::kFail : BadRows::kSkip,
                                .is_stopped = [&] { return hooks.stop() == StopRequest::kStop; }});
  if (!samples_) return false;
  if (samples_->loss == TaskLoss::kTokens)
    number_tags(labels_, *samples_);
  else if (samples_->loss == TaskLoss::kExtraction)
    put_labels(*samples_);
  else if (!labels_.empty())
    reorder_labels(*settings_.task, labels_, *samples_);
  return true;
}

std::optional<double> EvaluationLoss::compute(const Model& model, const Workplace& workplace, const RunHooks& hooks) {
  if (!has_own_loss(*settings_.task) || settings_.evaluation.files.empty()) return std::nullopt;
  if (!samples_ && !read(hooks)) return std::nullopt;
  const at::NoGradGuard no_gradients;
  Compute compute = workplace.compute;
  compute.store = nullptr;  // weights change between evaluations
  double sum = 0, count = 0;
  std::vector<const TaskSample*> pack;
  size_t tokens = 0;
  for (const TaskSample& sample : samples_->samples) {
    pack.push_back(&sample);
    tokens += sample.tokens();
    if (tokens < kPackTokens && &sample != &samples_->samples.back()) continue;
    if (hooks.stop() == StopRequest::kStop) return std::nullopt;
    const Loss loss = task_loss(model, compute, pack_samples(samples_->loss, pack, 0), {.loss = samples_->loss}, {});
    sum += loss.sum.item<double>();
    count += loss.divisor();
    pack.clear();
    tokens = 0;
  }
  return count == 0 ? NAN : sum / count;
}

}  // namespace deberta::train

// A classifier on random ids, stepped once and timed between forward, backward and update.
#include "train/finetune/step_timer.h"

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "base/philox.h"
#include "train/data/task_batches.h"
#include "train/finetune/task_model.h"
#include "train/objectives/task.h"
#include "train/step/trainer.h"

namespace deberta::train {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint64_t kSeed = 1234;  // seed of a classifier that the folder lacks

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

Model first_model(const std::string& folder) {
  TaskSamples samples{.labels = {"LABEL_0", "LABEL_1", "LABEL_2"}};
  return first_task_model({.model_folder = folder}, {.task = &find_task("classification")}, kSeed, samples).model;
}

TaskBatch random_batch(std::span<const int32_t> lengths, int64_t vocab_size) {
  std::vector<TaskSample> samples;
  uint32_t number = 0;
  for (const int32_t length : lengths) {
    TaskSample sample{.sequences = {{.ids = {}, .second = length}}, .label = 0};
    for (int32_t i = 0; i < length; ++i) {
      const uint32_t word = philox({number++, 0, 0, 0}, {1, 2})[0];
      sample.sequences[0].ids.push_back(static_cast<int32_t>(word % static_cast<uint64_t>(vocab_size)));
    }
    samples.push_back(std::move(sample));
  }
  std::vector<const TaskSample*> all;
  for (const TaskSample& sample : samples) all.push_back(&sample);
  return pack_samples(TaskLoss::kClass, all, 0);
}

}  // namespace

struct StepTimer::Parts {
  const Workplace& workplace;
  Trainer trainer;
  uint32_t steps = 0;
};

StepTimer::StepTimer(const std::string& model_folder, const Workplace& workplace)
    : parts_(new Parts{workplace,
                       {first_model(model_folder), {.adam = {.has_bias_correction = true}}, workplace.compute}}) {}
StepTimer::~StepTimer() = default;

StepSeconds StepTimer::step(std::span<const int32_t> lengths) {
  Trainer& trainer = parts_->trainer;
  const TaskBatch batch = random_batch(lengths, config().vocab_size);
  const DropoutStream dropout{.is_training = true, .seed = 1, .step = parts_->steps++};
  const Clock::time_point begin = Clock::now();
  Clock::time_point computed, differentiated;
  const std::function<Loss()> loss = [&] {
    Loss sum = task_loss(trainer.model(), parts_->workplace.compute, batch, {.loss = TaskLoss::kClass}, dropout);
    computed = Clock::now();
    return sum;
  };
  trainer.step({&loss, 1}, {.rate = 1e-5, .max_norm = 1},
               [&](const FlatBuffer&, double) { differentiated = Clock::now(); });
  return {.forward = seconds_between(begin, computed),
          .backward = seconds_between(computed, differentiated),
          .update = seconds_between(differentiated, Clock::now())};
}

const ModelConfig& StepTimer::config() const {
  return parts_->trainer.model().form.config;
}

int64_t StepTimer::parameters() const {
  return static_cast<int64_t>(parts_->trainer.group().weights().size());
}

}  // namespace deberta::train

// Builds a task batch from the tensors of a step, padding removed, and runs the trainer on it.
#include "train/replay/task_replay.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <utility>

#include "checkpoint/tensor.h"
#include "deberta/checkpoint.h"
#include "deberta/error.h"
#include "train/finetune/task_model.h"
#include "train/objectives/task.h"
#include "train/replay/replay_files.h"
#include "train/replay/replay_step.h"
#include "train/step/workplace.h"

namespace deberta::train {
namespace {

// The tensors of one step, and where its tokens are in the pack.
class Step {
 public:
  Step(const Checkpoint& file, const ReplaySettings& settings, std::string name)
      : file_(file), settings_(settings), name_(std::move(name)), read_(read_inputs(file, settings.batches, name_)) {
    const Shape& shape = file.find(name_ + ".input_ids")->shape;
    length_ = shape[1];
    tokens_.assign(static_cast<size_t>(shape[0] * length_), -1);
    for (size_t t = 0; t < read_.rows_T.size(); ++t)
      tokens_[static_cast<size_t>(read_.rows_T[t])] = static_cast<int32_t>(t);
  }

  TaskBatch batch() const {
    TaskBatch batch;
    batch.input = read_.batch;
    if (file_.find(name_ + ".weights") != nullptr) batch.weights_B = to_fp32(tensor("weights"));
    switch (*settings_.task) {
      case TaskLoss::kClass:
        if (tensor("labels").shape.size() == 2)
          batch.values_BC = to_fp32(tensor("labels"));
        else
          batch.classes_B = integers("labels");
        break;
      case TaskLoss::kScore:
      case TaskLoss::kLabels:
        batch.values_BC = to_fp32(tensor("labels"));
        break;
      case TaskLoss::kTokens:
        batch.input = read_step(file_, settings_.batches, name_).batch;
        break;
      case TaskLoss::kSpan:
        batch.first_B = rows("first");
        batch.last_B = rows("last");
        break;
      case TaskLoss::kChoice:
        add_choices(batch);
        break;
      case TaskLoss::kMention:
        add_mentions(batch);
        break;
      case TaskLoss::kRanking:  // given batches have no queries, and no labels before their texts
      case TaskLoss::kExtraction:
        break;
    }
    return batch;
  }

  // [T, D], undefined where the file has none.
  at::Tensor delta() const {
    const TensorView* view = file_.find(name_ + ".delta");
    if (view == nullptr) return {};
    const auto width = static_cast<int64_t>(view->count()) / static_cast<int64_t>(tokens_.size());
    if (view->shape != Shape{static_cast<int64_t>(tokens_.size()) / length_, length_, width})
      refuse("delta", "expected the shape [B, L, D]");
    std::vector<float> values = to_fp32(*view);
    const at::Tensor all = at::from_blob(values.data(), {static_cast<int64_t>(tokens_.size()), width}, at::kFloat);
    return take_rows(all, read_.rows_T);
  }

 private:
  [[noreturn]] void refuse(const std::string& tensor, const std::string& message) const {
    throw Error(ErrorCode::kInput, settings_.batches, name_ + "." + tensor + ": " + message);
  }
  const TensorView& tensor(const std::string& name) const {
    const TensorView* view = file_.find(name_ + "." + name);
    if (view == nullptr)
      throw Error(ErrorCode::kInput, settings_.batches, "expected a tensor " + name_ + "." + name + ", got none");
    return *view;
  }
  std::vector<int32_t> integers(const std::string& name) const {
    std::vector<int32_t> values;
    for (const int64_t value : to_int64(tensor(name))) {
      if (!std::in_range<int32_t>(value)) refuse(name, std::to_string(value) + " is out of range");
      values.push_back(static_cast<int32_t>(value));
    }
    return values;
  }
  // The packed row of a position in a sequence.
  int32_t row(const std::string& name, int64_t sequence, int64_t position) const {
    const bool is_inside = position >= 0 && position < length_ && sequence * length_ < std::ssize(tokens_);
    const int32_t row = is_inside ? tokens_[static_cast<size_t>(sequence * length_ + position)] : -1;
    if (row < 0) refuse(name, "expected positions of tokens in their sequence, got " + std::to_string(position));
    return row;
  }
  std::vector<int32_t> rows(const std::string& name) const {
    std::vector<int32_t> rows_B;
    for (const int32_t position : integers(name)) rows_B.push_back(row(name, std::ssize(rows_B), position));
    return rows_B;
  }
  void add_choices(TaskBatch& batch) const {
    batch.right_Q = integers("labels");
    const size_t sequences = batch.input.sequences(), questions = batch.right_Q.size();
    if (questions == 0 || sequences % questions != 0)
      refuse("labels", "expected a number of questions that divides the sequences");
    for (size_t q = 0; q <= questions; ++q)
      batch.questions.push_back(static_cast<int32_t>(q * (sequences / questions)));
  }
  void add_mentions(TaskBatch& batch) const {
    const Shape& shape = tensor("mentions").shape;
    if (shape.size() != 3) refuse("mentions", "expected the shape [B, M, P]");
    batch.right_M = to_fp32(tensor("labels"));
    batch.mentions.push_back(0);
    int64_t number = 0;
    for (const int32_t position : integers("mentions")) {
      const int64_t sequence = number / (shape[1] * shape[2]);
      if (position > 0) batch.mention_rows.push_back(row("mentions", sequence, position));
      if (++number % shape[2] != 0) continue;
      batch.mentions.push_back(static_cast<int32_t>(batch.mention_rows.size()));
      batch.mention_sequences_M.push_back(static_cast<int32_t>(sequence));
    }
  }

  const Checkpoint& file_;
  const ReplaySettings& settings_;
  std::string name_;
  ReplayBatch read_;
  int64_t length_ = 0;
  std::vector<int32_t> tokens_;  // for each element of [B, L] the packed token, or -1
};

void run_step(Trainer& trainer, const std::optional<Teacher>& teacher, const ReplaySettings& settings,
              const Compute& compute, const Step& step, const std::string& name, ReplayResults& results) {
  const TaskBatch batch = step.batch();
  const TaskOptions options{.loss = *settings.task};
  const auto loss = [&]() -> Loss {
    if (teacher) {
      const DistillationLoss result =
          distillation_loss(trainer.model(), *teacher, compute, batch, options, settings.distillation, {});
      results.add(name + ".task_loss", result.task / result.loss.divisor());
      results.add(name + ".distillation_loss", result.distillation / result.loss.divisor());
      return result.loss;
    }
    if (!settings.adversarial) return task_loss(trainer.model(), compute, batch, options, {});
    const AdversarialLoss result =
        adversarial_loss(trainer.model(), compute, batch, options, *settings.adversarial, {}, step.delta());
    results.add(name + ".task_loss", result.task / result.loss.divisor());
    results.add(name + ".adversarial_loss", result.adversarial / result.loss.divisor());
    return result.loss;
  };
  replay_step(trainer, settings, loss, name, results);
}

}  // namespace

int64_t replay_task(const ReplaySettings& settings, const RunHooks& hooks) {
  const Workplace workplace(settings.workplace);
  Trainer trainer(load_task_model(settings.model_folder), settings.optimizer, workplace.compute);
  std::optional<Teacher> teacher;
  if (!settings.teacher_folder.empty()) teacher = Teacher{.model = load_task_model(settings.teacher_folder)};
  const Checkpoint file = Checkpoint::open_file(settings.batches);
  ReplayResults results;
  int64_t step = 0;
  for (; file.find(std::to_string(step) + ".input_ids") != nullptr; ++step) {
    if (hooks.stop() == StopRequest::kStop) return step;
    const std::string name = std::to_string(step);
    run_step(trainer, teacher, settings, workplace.compute, Step(file, settings, name), name, results);
  }
  if (step == 0) throw Error(ErrorCode::kInput, settings.batches, "expected a tensor 0.input_ids, got none");
  results.write(settings.output);
  return step;
}

}  // namespace deberta::train

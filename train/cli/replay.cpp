// The verb `replay`.
#include "deberta/error.h"
#include "options/verb_options.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/note.h"
#include "train/cli/adversarial_options.h"
#include "train/cli/optimizer_options.h"
#include "train/cli/replaced_token_options.h"
#include "train/cli/teacher_options.h"
#include "train/cli/verbs.h"
#include "train/replay/replay_run.h"

namespace deberta::train {
namespace {

std::optional<TaskLoss> task_loss_of(TaskLossChoice choice) {
  switch (choice) {
    case TaskLossChoice::kNone:
      return std::nullopt;
    case TaskLossChoice::kClass:
      return TaskLoss::kClass;
    case TaskLossChoice::kScore:
      return TaskLoss::kScore;
    case TaskLossChoice::kLabels:
      return TaskLoss::kLabels;
    case TaskLossChoice::kTokens:
      return TaskLoss::kTokens;
    case TaskLossChoice::kSpan:
      return TaskLoss::kSpan;
    case TaskLossChoice::kChoice:
      return TaskLoss::kChoice;
    case TaskLossChoice::kMention:
      return TaskLoss::kMention;
  }
  return std::nullopt;
}

}  // namespace

int run_replay(const Options& options) {
  const ReplayVerb requested(options);
  for (const auto& [option, value] :
       {std::pair{"--batches", &requested.batches}, std::pair{"--output", &requested.output}}) {
    if (value->empty()) throw Error(ErrorCode::kUsage, option, "expected a safetensors file, got none");
  }
  const OptimizerSettings& optimizer = requested.optimizer;
  const ReplacedTokenOptions& replaced = requested.replaced_tokens;
  check_replaced_tokens(replaced, objective_of(requested.objective));
  const std::string& generator = replaced.generator_model.value;
  if (requested.adversarial.adversarial != AdversarialChoice::kNone && requested.task_loss == TaskLossChoice::kNone)
    throw Error(ErrorCode::kUsage, "--adversarial", "expected --task-loss, whose answers are compared");
  const std::string teacher = teacher_folder(requested.teacher);
  if (!teacher.empty() && requested.task_loss == TaskLossChoice::kNone)
    throw Error(ErrorCode::kUsage, "--teacher", "expected --task-loss, whose answers are compared");
  if (!teacher.empty() && requested.adversarial.adversarial != AdversarialChoice::kNone)
    throw Error(ErrorCode::kUsage, "--teacher", "expected this or --adversarial, got both");
  const ReplaySettings settings{.model_folder = program::model_path(requested.model),
                                .batches = requested.batches,
                                .output = requested.output,
                                .objective = objective_of(requested.objective),
                                .pair = pair_options(replaced),
                                .discriminator_rate = replaced.discriminator_rate.value,
                                .generator_folder = generator.empty() ? "" : program::model_path(generator),
                                .task = task_loss_of(requested.task_loss),
                                .adversarial = adversarial_options(requested.adversarial),
                                .teacher_folder = teacher,
                                .distillation = {requested.teacher.weight.value, requested.teacher.temperature.value},
                                .decoder_passes = requested.decoder_passes.value,
                                .optimizer = {.adam = adam_options(optimizer)},
                                .learning_rate = *optimizer.learning_rate.value,
                                .max_norm = optimizer.max_grad_norm,
                                .workplace = {.threads = requested.threads,
                                              .kernels = requested.kernels,
                                              .precision = program::precision_of(requested.dtype)}};
  const RunHooks hooks{.stop = [] { return program::interrupted() != 0 ? StopRequest::kStop : StopRequest::kNone; }};
  const int64_t steps = replay(settings, hooks);
  if (program::interrupted() != 0) return program::interrupted();
  program::note(std::to_string(steps) + " steps: losses, gradients and weights are in " + requested.output);
  return 0;
}

}  // namespace deberta::train

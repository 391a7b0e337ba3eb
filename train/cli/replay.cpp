// The verb `replay`.
#include "deberta/error.h"
#include "options/verb_options.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/note.h"
#include "train/cli/optimizer_options.h"
#include "train/cli/verbs.h"
#include "train/loop/replay_run.h"

namespace deberta::train {

int run_replay(const Options& options) {
  const ReplayVerb given(options);
  for (const auto& [option, value] : {std::pair{"--batches", &given.batches}, std::pair{"--output", &given.output}}) {
    if (value->empty()) throw Error(ErrorCode::kUsage, option, "expected a safetensors file, got none");
  }
  const OptimizerSettings& optimizer = given.optimizer;
  const ReplaySettings settings{
      .model_folder = cli::model_path(given.model),
      .batches = given.batches,
      .output = given.output,
      .objective = given.objective == ObjectiveChoice::kCausal ? Objective::kCausal : Objective::kMasked,
      .decoder_passes = given.decoder_passes.value,
      .adam = adam_options(optimizer),
      .learning_rate = optimizer.learning_rate,
      .max_norm = optimizer.max_grad_norm,
      .threads = given.threads,
      .kernels = given.kernels};
  const RunHooks hooks{.stop = [] { return cli::interrupted() != 0 ? StopRequest::kStop : StopRequest::kNone; }};
  const int64_t steps = replay(settings, hooks);
  if (cli::interrupted() != 0) return cli::interrupted();
  cli::note(std::to_string(steps) + " steps: losses, gradients and weights are in " + given.output);
  return 0;
}

}  // namespace deberta::train

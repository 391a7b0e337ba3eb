// Hands pairs and tasks on; language models are replayed here.
#include "train/replay/replay_run.h"

#include <algorithm>
#include <functional>

#include "checkpoint/tensor_table.h"
#include "deberta/checkpoint.h"
#include "deberta/error.h"
#include "train/objectives/language_model.h"
#include "train/replay/pair_replay.h"
#include "train/replay/replay_files.h"
#include "train/replay/replay_step.h"
#include "train/replay/task_replay.h"
#include "train/step/trainer.h"
#include "train/step/workplace.h"

namespace deberta::train {

int64_t replay(const ReplaySettings& settings, const RunHooks& hooks) {
  if (settings.task) return replay_task(settings, hooks);
  if (settings.objective == Objective::kReplaced) return replay_pair(settings, hooks);
  const Workplace workplace(settings.workplace);
  ModelConfig config = load_model_config(settings.model_folder + "/config.json");
  const Checkpoint weights = Checkpoint::open(settings.model_folder);
  config.layout = find_layout(config, weights);
  config.is_causal = settings.objective == Objective::kCausal;
  if (settings.decoder_passes) config.mask_decoder_passes = *settings.decoder_passes;
  Model model = make_model({.config = config, .head = Head::kMaskedLm});
  load_parameters(model, weights);
  Trainer trainer(std::move(model), settings.optimizer, workplace.compute);
  const Checkpoint file = Checkpoint::open_file(settings.batches);
  ReplayResults results;
  int64_t step = 0;
  for (; file.find(std::to_string(step) + ".input_ids") != nullptr; ++step) {
    if (hooks.stop() == StopRequest::kStop) return step;
    const std::string name = std::to_string(step);
    const TrainBatch batch = read_step(file, settings.batches, name).batch;
    const std::function<Loss()> loss = [&] {
      return language_model_loss(trainer.model(), workplace.compute, batch, {});
    };
    replay_step(trainer, settings, loss, name, results);
  }
  if (step == 0) {
    throw Error(ErrorCode::kInput, settings.batches, "expected tensors 0.input_ids and 0.labels, got none");
  }
  results.write(settings.output);
  return step;
}

}  // namespace deberta::train

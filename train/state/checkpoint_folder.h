// Checkpoints of a run: OUTPUT/checkpoint-NNNNNN with the models, trainer/state.json, trainer/optim.safetensors and a
// manifest of them all, and OUTPUT/LATEST with the name of the newest. Whenever the process is killed, what is found
// afterwards is complete: the new checkpoint or the one before.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/manifest_writer.h"
#include "deberta/checkpoint.h"
#include "deberta/error.h"
#include "train/state/trainer_state.h"

namespace deberta::train {

struct CheckpointContents {
  const TrainerState& state;
  std::vector<TensorView> optimizer;  // flat_tensors.h, and what else a run needs
  // Adds the files of the models, as write_model_files() does.
  std::function<void(ManifestWriter&)> add_models = [](ManifestWriter&) {};
  uint64_t models_bytes = 0;  // about as many; for the check of free space
};

// Which older checkpoints stay.
struct Rotation {
  size_t keep_last = 0;                // the new one included; 0: all
  std::optional<int64_t> best_step{};  // always stays
};

std::string checkpoint_name(int64_t step);                         // "checkpoint-000500"
std::vector<int64_t> checkpoint_steps(const std::string& output);  // from the names of folders, newest first
constexpr const char* kStateName = "trainer/state.json";           // within a checkpoint

// Writes the checkpoint of `state.step` and returns its folder; then older ones are removed. A valid one of the same
// step is kept as it is, a damaged one replaced. On failure older checkpoints are untouched and nothing half-written is
// left; the message has the file and how many bytes had been written. Throws kFileWrite and what add_models throws. A
// checkpoint that cannot be removed is a warning.
std::string save_checkpoint(const std::string& output, const CheckpointContents& contents, const Rotation& rotation);

// The error that saving it would throw now, if the disk has no room for it.
std::optional<Error> missing_space(const std::string& output, const CheckpointContents& contents);

struct FoundCheckpoint {
  std::string folder;
  TrainerState state;
  bool is_degraded = false;  // a newer one is damaged or gone
};

// The newest checkpoint whose files are those of its manifest; nothing without one. Each newer one is a warning, but
// for one of a format that only a newer version reads: kUnsupported, since to go on from an older step would remove it.
std::optional<FoundCheckpoint> find_checkpoint(const std::string& output);

// The value of an option in the newest checkpoint of a run; empty: it has none, or there is no checkpoint or no folder.
std::string recorded_option(const std::string& output, const std::string& name);

// Removes and lists what killed runs left half-written or half-removed. For the start of a run, before it saves.
std::vector<std::string> remove_checkpoint_leftovers(const std::string& output);

}  // namespace deberta::train

// A checkpoint of a small run, the same for the same step.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/paths.h"
#include "support/random.h"
#include "train/state/checkpoint_folder.h"
#include "train/state/flat_tensors.h"

namespace deberta::train::test {

inline ParameterLayout make_run_layout() {
  return make_layout({{"a.weight", {7, 3}}, {"a.bias", {7}}, {"b.weight", {}}});
}

// The state and the optimiser of a run after `step` steps.
class SmallRun {
 public:
  explicit SmallRun(int64_t step, const AdamOptions& options = {})
      : layout_(make_run_layout()), weights_(layout_), gradients_(layout_), adam_(layout_, options, weights_) {
    for (int64_t i = 0; i < step; ++i) {
      const std::vector<float> values = deberta::test::normals(static_cast<uint64_t>(i), layout_.size);
      for (const ParameterSlot& slot : layout_.slots)
        std::copy_n(values.begin(), slot.count, gradients_.of(slot).begin());
      adam_.step({.learning_rate = 0.1}, weights_, gradients_);
    }
    state_.step = step;
    state_.total_steps = 1000;
    state_.samples = 64 * step;
    state_.options = {{"learning_rate", "0.1"}, {"seed", "1234"}};
    state_.hashes = {{"train.txt", std::string(64, 'a')}};
    state_.counters = {{"skipped", 2}};
    state_.sums = {{"loss", 1.0 / 3}};
    state_.best = BestMetric{"accuracy", 0.7, 1};
  }
  const TrainerState& state() const { return state_; }
  TrainerState& state() { return state_; }
  Adam& adam() { return adam_; }
  const FlatBuffer& weights() const { return weights_; }

  CheckpointContents contents() const {
    return {.state = state_, .optimizer = optimizer_tensors(adam_, ""), .add_models = [this](ManifestWriter& files) {
              files.add_text("config.json", "{}");
              files.add("generator/model.safetensors", [&](FileWriter& file) {
                write_safetensors(file, "", to_write(flat_tensors(layout_, weights_, "")), {});
              });
            }};
  }

 private:
  ParameterLayout layout_;
  FlatBuffer weights_, gradients_;
  Adam adam_;
  TrainerState state_;
};

inline std::string save(const std::string& output, int64_t step, const Rotation& rotation = {}) {
  const SmallRun run(step);
  return save_checkpoint(output, run.contents(), rotation);
}

// Every file below a folder with its content; folders end in a slash.
inline std::map<std::string, std::string> contents_of(const std::string& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().string().substr(folder.size() + 1);
    if (entry.is_directory()) {
      contents[name + "/"] = "";
    } else {
      contents[name] = read_file(entry.path().string(), 1 << 20);
    }
  }
  return contents;
}

}  // namespace deberta::train::test

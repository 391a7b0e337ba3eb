// Steps of training on made-up sequences, timed: what `bench --training` measures.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "config/model_config.h"
#include "train/step/workplace.h"

namespace deberta::train {

struct StepSeconds {
  double forward = 0, backward = 0, update = 0;  // update: the norm, the clip and AdamW

  double all() const { return forward + backward + update; }
};

// A folder's model with a classifier, with the dropout of its config.json.
class StepTimer {
 public:
  // `workplace` outlives this object. Throws what first_task_model() does.
  StepTimer(const std::string& model_folder, const Workplace& workplace);
  ~StepTimer();
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;

  // One step on random ids: a sequence of each length, all in one pack.
  StepSeconds step(std::span<const int32_t> lengths);

  const ModelConfig& config() const;
  int64_t parameters() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace deberta::train

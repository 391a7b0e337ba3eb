// Stores loss, norm, the mean gradients before the clip, and the weights after the step.
#include "train/replay/replay_step.h"

#include <vector>

namespace deberta::train {

void replay_step(Trainer& trainer, const ReplaySettings& settings, const std::function<Loss()>& loss,
                 const std::string& step, ReplayResults& results) {
  const StepResult result = trainer.step({&loss, 1}, {.rate = settings.learning_rate, .max_norm = settings.max_norm},
                                         [&](const FlatBuffer& gradients, double count) {
                                           std::vector<float> mean;
                                           for (const ParameterSlot& slot : trainer.group().layout().slots) {
                                             mean.clear();
                                             for (const float value : gradients.of(slot))
                                               mean.push_back(static_cast<float>(static_cast<double>(value) / count));
                                             results.add(step + ".grad." + slot.name, slot.shape, mean);
                                           }
                                         });
  results.add(step + ".loss", result.count > 0 ? result.loss / result.divisor : 0);
  results.add(step + ".norm", result.norm);
  for (const ParameterSlot& slot : trainer.group().layout().slots)
    results.add(step + ".weight." + slot.name, slot.shape, trainer.group().weights().of(slot));
}

}  // namespace deberta::train

// Counts the operations of a pass over one sequence, per token.
#include "train/ablation/flops.h"

#include "cost/operations.h"

namespace deberta::train {

double training_flops_per_token(const ModelConfig& config, int32_t length, double predicted) {
  PassShape shape{.lengths = {&length, 1}, .head = Head::kReplacedToken};
  if (predicted > 0) {
    shape.last = LastRows::kSome;
    shape.some = predicted * length;
    shape.head = Head::kMaskedLm;
    shape.predicts_by_decoder = config.has_mask_decoder();
  }
  return kTrainingPasses * forward_operations(config, shape).all() / length;
}

}  // namespace deberta::train

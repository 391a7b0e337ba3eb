// What int8 must know about a model's activations: how large each input channel of its linear layers becomes (collected
// while the fp32 model runs), and what follows from that and from the weights. Runs no model and reads no file.
// K input channels of a linear layer
#pragma once
#include <array>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "checkpoint/calibration.h"
#include "deberta/model.h"
#include "engine/weights.h"

namespace deberta {

// The largest |x| of each channel so far; each pass of forward_with_ranges() widens it.
struct ActivationRanges {
  std::vector<std::array<std::vector<float>, kCalibratedInputs>> layers;
};

// Receives every input of a linear layer in one pass; those that int8 does not quantise are ignored. Thread-safe.
class RangeCollector {
 public:
  RangeCollector(const ModelWeights& weights, const ModelConfig& config, ActivationRanges& ranges);
  void record(const Linear& consumer, const float* x_TK, size_t rows);

 private:
  std::unordered_map<const Linear*, std::vector<float>*> largest_K_;
  std::mutex mutex_;
};

// For every input
//   smooth[k] = max|x_k|^a / max_n|w_nk|^(1-a),  a = `smoothing`
// and up to kMaxOutliers channels that still stand out from the others. A channel that was never active counts as a
// small one, not as none: other texts may activate it. texts and tokens are left to the caller. Throws kNotFinite for
// activations or weights that are not finite, kInternal for ranges of another model.
Calibration make_calibration(const Checkpoint& checkpoint, const ModelConfig& config, const ActivationRanges& ranges,
                             double smoothing);

}  // namespace deberta

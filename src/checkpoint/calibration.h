// calibration.safetensors: the activation scales that int8 needs for one checkpoint, stored next to its weights. Read
// and written here, computed in src/engine/calibration.h. docs/reference/weights.md has the rules of the file.
// K input channels of a linear layer  O outlier channels
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "deberta/checkpoint.h"
#include "deberta/config.h"

namespace deberta {

constexpr std::string_view kCalibrationName = "calibration.safetensors";
constexpr size_t kMaxOutliers = 16;  // per input; each costs as much as four bytes of depth

// The inputs of linear layers that int8 quantises, in each layer. Query, key and value read the same one.
enum class CalibratedInput { kProjections, kAttentionOutput, kUp, kDown };
constexpr size_t kCalibratedInputs = 4;

// The factors of one input's channels before quantisation; 0 marks the outliers, which stay in bf16.
struct InputCalibration {
  std::vector<float> reciprocal_K;
  std::vector<int32_t> outliers_O;  // ascending; follows from the zeros

  explicit InputCalibration(std::vector<float> reciprocal);
  InputCalibration() = default;
};

using LayerCalibration = std::array<InputCalibration, kCalibratedInputs>;

struct Calibration {
  double smoothing = 0.5;  // the exponent of the activations
  uint64_t texts = 0;      // texts that it was computed from
  uint64_t tokens = 0;
  std::string weights;  // identity_of the checkpoint
  std::vector<LayerCalibration> layers;

  const InputCalibration& of(size_t layer, CalibratedInput input) const& {
    return layers[layer][static_cast<size_t>(input)];
  }
  const InputCalibration& of(size_t layer, CalibratedInput input) && = delete;  // it would not outlive the statement
  size_t outliers() const;                                                      // total over all inputs
  size_t most_outliers() const;                                                 // maximum over the inputs
};

// Input channels K of each.
size_t columns_of(CalibratedInput input, const ModelConfig& config);

// SHA-256 of the names, types, shapes and some bytes of the encoder and the embeddings: all bytes of small tensors, a
// few runs of large ones, so that it takes almost no time. It differs between any two trained checkpoints, but not
// necessarily after a single number changed inside a matrix. The head is not included.
std::string identity_of(const Checkpoint& checkpoint);

// The calibration next to the files of `checkpoint`.
std::string calibration_path(const Checkpoint& checkpoint);
bool has_calibration(const Checkpoint& checkpoint);

// The file at `path`. Throws kCalibration (all problems of its tensors, or weights that differ from those of
// `checkpoint`), kSafetensors and what opening throws.
Calibration read_calibration(const std::string& path, const Checkpoint& checkpoint, const ModelConfig& config);

void write_calibration(FileWriter& file, const std::string& path, const Calibration& calibration);

}  // namespace deberta

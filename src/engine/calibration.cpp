// Smoothing moves unevenness from the activations into the weights until both are equally uneven (a = 1/2). It does not
// change what a channel can add to a sum, p = max|x_k| max|w_k|: outliers are found by p.
#include "engine/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "checkpoint/tensor.h"
#include "deberta/error.h"

namespace deberta {
namespace {

// A channel below this fraction of the median counts as that large.
constexpr float kLeastPart = 1.0F / 64;
// A channel is an outlier when sqrt(p), its size after smoothing with a = 1/2, is this many times the median. Up to
// there smoothing alone keeps the error within twice that of even channels (normal numbers, 768 channels); trained
// models without outliers were seen to reach 3.4.
constexpr float kOutlierFactor = 4;

float median_of(std::vector<float> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Raises zeros and near-zeros; all ones when nothing is known.
std::vector<float> raised(std::vector<float> values_K) {
  const float median = median_of(values_K);
  const float least = median > 0 ? median * kLeastPart : 1;
  for (float& value : values_K) value = std::max(value, least);
  return values_K;
}

std::vector<std::string> weights_of(const Checkpoint& checkpoint, size_t layer, CalibratedInput input) {
  const std::string prefix = fmt::format("encoder.layer.{}.", layer);
  const std::string self = prefix + "attention.self.";
  switch (input) {
    case CalibratedInput::kProjections:
      if (checkpoint.find(self + "in_proj.weight") != nullptr) return {self + "in_proj.weight"};
      return {self + "query_proj.weight", self + "key_proj.weight", self + "value_proj.weight"};
    case CalibratedInput::kAttentionOutput:
      return {prefix + "attention.output.dense.weight"};
    case CalibratedInput::kUp:
      return {prefix + "intermediate.dense.weight"};
    case CalibratedInput::kDown:
      return {prefix + "output.dense.weight"};
  }
  return {};
}

void require_finite(const std::vector<float>& values_K, const std::string& what) {
  for (size_t k = 0; k < values_K.size(); ++k) {
    if (std::isfinite(values_K[k])) continue;
    throw Error(ErrorCode::kNotFinite, what,
                fmt::format("channel {}: expected a finite number, got {}", k, values_K[k]));
  }
}

// max_n |w_nk| over all layers that read the input; a NaN is kept.
std::vector<float> largest_weights(const Checkpoint& checkpoint, const std::vector<std::string>& names,
                                   size_t columns) {
  std::vector<float> largest_K(columns, 0.0F);
  for (const std::string& name : names) {
    const TensorView* tensor = checkpoint.find(name);
    if (tensor == nullptr) throw Error(ErrorCode::kInternal, "calibration", "the tensor table has no " + name);
    const std::vector<float> w_NK = to_fp32(*tensor);
    for (size_t at = 0; at < w_NK.size(); ++at) {
      float& largest = largest_K[at % columns];
      const float size = std::abs(w_NK[at]);
      if (!(size <= largest)) largest = size;
    }
    require_finite(largest_K, name);
  }
  return largest_K;
}

// Channels above this size after smoothing are outliers.
float outlier_limit(const std::vector<float>& sizes_K) {
  float limit = kOutlierFactor * median_of(sizes_K);
  if (sizes_K.size() <= kMaxOutliers) return limit;
  std::vector<float> largest = sizes_K;
  const auto first_left = largest.begin() + kMaxOutliers;  // the largest one left once all outlier places are taken
  std::nth_element(largest.begin(), first_left, largest.end(), std::greater<>());
  return std::max(limit, *first_left);
}

InputCalibration calibrate_input(std::vector<float> largest_x_K, std::vector<float> largest_w_K, float smoothing) {
  const std::vector<float> x_K = raised(std::move(largest_x_K)), w_K = raised(std::move(largest_w_K));
  std::vector<float> sizes_K(x_K.size()), reciprocal_K(x_K.size());
  for (size_t k = 0; k < x_K.size(); ++k) sizes_K[k] = std::sqrt(x_K[k]) * std::sqrt(w_K[k]);
  const float limit = outlier_limit(sizes_K);
  for (size_t k = 0; k < x_K.size(); ++k) {
    const float reciprocal = std::pow(w_K[k], 1 - smoothing) / std::pow(x_K[k], smoothing);
    reciprocal_K[k] = sizes_K[k] > limit ? 0 : std::clamp(reciprocal, 0x1p-60F, 0x1p60F);
  }
  return InputCalibration(std::move(reciprocal_K));
}

}  // namespace

RangeCollector::RangeCollector(const ModelWeights& weights, const ModelConfig& config, ActivationRanges& ranges) {
  ranges.layers.resize(weights.layers.size());
  for (size_t n = 0; n < weights.layers.size(); ++n) {
    const LayerWeights& layer = weights.layers[n];
    auto& inputs = ranges.layers[n];
    for (size_t i = 0; i < kCalibratedInputs; ++i)
      inputs[i].resize(columns_of(static_cast<CalibratedInput>(i), config), 0.0F);
    const auto collect = [&](const Linear& linear, CalibratedInput input) {
      largest_K_.emplace(&linear, &inputs[static_cast<size_t>(input)]);
    };
    collect(layer.query, CalibratedInput::kProjections);
    collect(layer.key_value, CalibratedInput::kProjections);
    collect(layer.attention_output, CalibratedInput::kAttentionOutput);
    collect(layer.up, CalibratedInput::kUp);
    collect(layer.down, CalibratedInput::kDown);
  }
}

void RangeCollector::record(const Linear& consumer, const float* x_TK, size_t rows) {
  const auto entry = largest_K_.find(&consumer);
  if (entry == largest_K_.end()) return;
  const size_t columns = entry->second->size();
  std::vector<float> largest_K(columns, 0.0F);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t k = 0; k < columns; ++k) largest_K[k] = std::max(largest_K[k], std::abs(x_TK[row * columns + k]));
  }
  const std::lock_guard lock(mutex_);
  for (size_t k = 0; k < columns; ++k) (*entry->second)[k] = std::max((*entry->second)[k], largest_K[k]);
}

Calibration make_calibration(const Checkpoint& checkpoint, const ModelConfig& config, const ActivationRanges& ranges,
                             double smoothing) {
  if (ranges.layers.size() != static_cast<size_t>(config.num_hidden_layers))
    throw Error(ErrorCode::kInternal, "calibration", "ranges of another model");
  Calibration calibration;
  calibration.smoothing = smoothing;
  calibration.weights = identity_of(checkpoint);
  calibration.layers.resize(ranges.layers.size());
  for (size_t n = 0; n < ranges.layers.size(); ++n) {
    for (size_t i = 0; i < kCalibratedInputs; ++i) {
      const auto input = static_cast<CalibratedInput>(i);
      require_finite(ranges.layers[n][i], fmt::format("layer {}: activations", n + 1));
      calibration.layers[n][i] = calibrate_input(
          ranges.layers[n][i], largest_weights(checkpoint, weights_of(checkpoint, n, input), columns_of(input, config)),
          static_cast<float>(smoothing));
    }
  }
  return calibration;
}

}  // namespace deberta

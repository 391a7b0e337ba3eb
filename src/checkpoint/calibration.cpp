// One F32 tensor for each quantised input of each layer; the rest is metadata. Everything is untrusted.
#include "checkpoint/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "base/checked.h"
#include "base/format_version.h"
#include "base/sha256.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/tensor.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr int64_t kFormat = 1;
constexpr size_t kDigestDigits = 64;
// Bounds of a multiplier: rows of any finite activations that a model can have stay finite.
constexpr float kLeast = 0x1p-60F, kMost = 0x1p60F;

constexpr std::array<std::string_view, kCalibratedInputs> kNames = {
    "attention.self.reciprocal", "attention.output.dense.reciprocal", "intermediate.dense.reciprocal",
    "output.dense.reciprocal"};

std::string tensor_name(size_t layer, size_t input) {
  return fmt::format("encoder.layer.{}.{}", layer, kNames[input]);
}

[[noreturn]] void refuse_calibration(const std::string& where, const std::string& message) {
  throw Error(ErrorCode::kCalibration, where, message);
}

const std::string& metadata_value(const SafetensorsFile& file, std::string_view key) {
  for (const auto& [name, value] : file.metadata()) {
    if (name == key) return value;
  }
  refuse_calibration(file.path(), fmt::format("metadata: {}: missing; calibrate again", key));
}

template <class Number>
Number metadata_number(const SafetensorsFile& file, std::string_view key, Number least, Number most) {
  const std::string& text = metadata_value(file, key);
  const auto value = parse_number<Number>(text);
  if (!value || !(*value >= least && *value <= most)) {
    refuse_calibration(file.path(), fmt::format("metadata: {}: expected a number from {} to {}, got \"{}\"", key, least,
                                                most, text.substr(0, 80)));
  }
  return *value;
}

std::optional<std::string> find_bad_value(const std::vector<float>& reciprocal_K) {
  size_t zeros = 0;
  for (size_t k = 0; k < reciprocal_K.size(); ++k) {
    const float value = reciprocal_K[k];
    zeros += value == 0;
    if (value == 0 || (value >= kLeast && value <= kMost)) continue;
    return fmt::format("channel {}: expected 0 or a number from 2^-60 to 2^60, got {}", k, value);
  }
  if (zeros <= kMaxOutliers) return std::nullopt;
  return fmt::format("expected at most {} channels with 0, got {}", kMaxOutliers, zeros);
}

// Reads one tensor into `input`, or says what is wrong with it.
std::optional<std::string> read_input(const SafetensorsFile& file, const std::string& name, size_t columns,
                                      InputCalibration& input) {
  const TensorView* tensor = file.find(name);
  if (tensor == nullptr) return "missing";
  const Shape expected{static_cast<int64_t>(columns)};
  if (tensor->dtype != DType::kF32 || tensor->shape != expected) {
    return fmt::format("expected F32 {}, got {} {}", to_string(expected), to_string(tensor->dtype),
                       to_string(tensor->shape));
  }
  std::vector<float> reciprocal_K = to_fp32(*tensor);
  if (auto message = find_bad_value(reciprocal_K)) return message;
  input = InputCalibration(std::move(reciprocal_K));
  return std::nullopt;
}

std::vector<LayerCalibration> read_layers(const SafetensorsFile& file, const ModelConfig& config) {
  std::vector<LayerCalibration> layers(static_cast<size_t>(config.num_hidden_layers));
  std::vector<Problem> problems;
  std::set<std::string> expected;
  for (size_t n = 0; n < layers.size(); ++n) {
    for (size_t i = 0; i < kCalibratedInputs; ++i) {
      const std::string name = tensor_name(n, i);
      expected.insert(name);
      const size_t columns = columns_of(static_cast<CalibratedInput>(i), config);
      if (const auto message = read_input(file, name, columns, layers[n][i]))
        problems.push_back({file.path(), fmt::format("tensor {}: {}", name, *message)});
    }
  }
  for (const TensorView& tensor : file.tensors()) {
    if (!expected.contains(tensor.name))
      problems.push_back({file.path(), fmt::format("tensor {}: unexpected", tensor.name)});
  }
  if (!problems.empty()) throw Error(ErrorCode::kCalibration, std::move(problems));
  return layers;
}

// Norms and biases whole; of a matrix 32 runs at equal distances, including the first and the last bytes.
void add_bytes(Sha256& hash, Bytes bytes) {
  constexpr size_t kWhole = size_t{1} << 16, kRuns = 32, kRunBytes = 128;
  if (bytes.size() <= kWhole) return hash.update(bytes);
  for (size_t run = 0; run < kRuns; ++run)
    hash.update(bytes.subspan((bytes.size() - kRunBytes) / (kRuns - 1) * run, kRunBytes));
  hash.update(bytes.last(kRunBytes));
}

bool has_part(const TensorView& tensor) {
  constexpr std::string_view kBuffer = "embeddings.position_ids";
  return (tensor.name.starts_with("encoder.") || tensor.name.starts_with("embeddings.")) && tensor.name != kBuffer;
}

}  // namespace

InputCalibration::InputCalibration(std::vector<float> reciprocal) : reciprocal_K(std::move(reciprocal)) {
  for (size_t k = 0; k < reciprocal_K.size(); ++k) {
    if (reciprocal_K[k] == 0) outliers_O.push_back(static_cast<int32_t>(k));
  }
}

size_t Calibration::outliers() const {
  size_t count = 0;
  for (const LayerCalibration& layer : layers) {
    for (const InputCalibration& input : layer) count += input.outliers_O.size();
  }
  return count;
}

size_t Calibration::most_outliers() const {
  size_t most = 0;
  for (const LayerCalibration& layer : layers) {
    for (const InputCalibration& input : layer) most = std::max(most, input.outliers_O.size());
  }
  return most;
}

size_t columns_of(CalibratedInput input, const ModelConfig& config) {
  return static_cast<size_t>(input == CalibratedInput::kDown ? config.intermediate_size : config.hidden_size);
}

std::string identity_of(const Checkpoint& checkpoint) {
  Sha256 hash;
  for (const TensorView& tensor : checkpoint.tensors()) {
    if (!has_part(tensor)) continue;
    const std::string entry = fmt::format("{} {} {}\n", tensor.name, to_string(tensor.dtype), to_string(tensor.shape));
    hash.update(to_bytes(entry));
    add_bytes(hash, tensor.bytes);
  }
  return hash.finish();
}

std::string calibration_path(const Checkpoint& checkpoint) {
  const std::string file = checkpoint.paths().front();
  return file.substr(0, file.rfind('/') + 1).append(kCalibrationName);
}

bool has_calibration(const Checkpoint& checkpoint) {
  return is_regular_file(calibration_path(checkpoint));
}

Calibration read_calibration(const std::string& path, const Checkpoint& checkpoint, const ModelConfig& config) {
  const SafetensorsFile file(path);
  const std::string& format = metadata_value(file, "format");
  const auto version = parse_number<int64_t>(format);
  if (version) check_format_version(*version, kFormat, file.path());
  if (version != kFormat)
    refuse_calibration(file.path(),
                       fmt::format("metadata: format: expected {}, got \"{}\"", kFormat, format.substr(0, 80)));
  Calibration calibration;
  calibration.weights = metadata_value(file, "weights");
  if (calibration.weights.size() != kDigestDigits || calibration.weights != identity_of(checkpoint)) {
    refuse_calibration(file.path(), fmt::format("does not belong to {}: calibrate again or remove the file",
                                                checkpoint.paths().front()));
  }
  calibration.smoothing = metadata_number<double>(file, "smoothing", 0, 1);
  calibration.texts = metadata_number<uint64_t>(file, "texts", 1, uint64_t{1} << 53);
  calibration.tokens = metadata_number<uint64_t>(file, "tokens", 1, uint64_t{1} << 53);
  calibration.layers = read_layers(file, config);
  return calibration;
}

void write_calibration(FileWriter& file, const std::string& path, const Calibration& calibration) {
  std::vector<TensorToWrite> tensors;
  for (size_t n = 0; n < calibration.layers.size(); ++n) {
    for (size_t i = 0; i < kCalibratedInputs; ++i) {
      const std::vector<float>& values_K = calibration.layers[n][i].reciprocal_K;
      if (const auto message = find_bad_value(values_K))
        throw Error(ErrorCode::kCalibration, path, fmt::format("tensor {}: {}", tensor_name(n, i), *message));
      tensors.push_back({tensor_name(n, i), DType::kF32, Shape{static_cast<int64_t>(values_K.size())},
                         [&values_K](FileWriter& out) { out.write(std::as_bytes(std::span(values_K))); }});
    }
  }
  write_safetensors(file, path, tensors,
                    {{"format", std::to_string(kFormat)},
                     {"smoothing", fmt::format("{}", calibration.smoothing)},
                     {"texts", fmt::format("{}", calibration.texts)},
                     {"tokens", fmt::format("{}", calibration.tokens)},
                     {"weights", calibration.weights}});
}

}  // namespace deberta

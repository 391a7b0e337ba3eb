// Compares configurations and tensors first, reports every difference, then averages tensor by tensor.
#include "checkpoint/average.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "checkpoint/calibration.h"
#include "checkpoint/made_tensor.h"
#include "checkpoint/tensor.h"
#include "deberta/error.h"

namespace deberta {
namespace {

// Keys of config.json that change no answer: who wrote the file, and how the model was trained.
constexpr std::array<std::string_view, 12> kOfNoAnswer = {
    "_name_or_path",       "transformers_version",         "torch_dtype",    "dtype",       "use_cache",
    "hidden_dropout_prob", "attention_probs_dropout_prob", "pooler_dropout", "cls_dropout", "initializer_range",
    "finetuning_task",     "feed_forward_dropout"};

bool changes_answers(std::string_view key) {
  return std::ranges::find(kOfNoAnswer, key) == kOfNoAnswer.end();
}

std::string value_of(const Json& document, std::string_view key) {
  const Json* value = document.find(key);
  return value == nullptr || value->is_null() ? "nothing" : value->dump(0, JsonForm::kPython);
}

void compare_configs(const ModelConfig& base, const std::string& path, std::vector<Problem>& problems) {
  const Json expected = raw_document(base), got = raw_document(load_model_config(path));
  std::vector<std::string> keys;
  for (const Json* document : {&expected, &got}) {
    for (const auto& [key, value] : document->as_object()) keys.push_back(key);
  }
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const std::string& key : keys) {
    const std::string before = value_of(expected, key), now = value_of(got, key);
    if (before != now && changes_answers(key))
      problems.push_back({path, fmt::format("{}: expected {} as in the first model, got {}", key, before, now)});
  }
}

std::string describe(const TensorView& tensor) {
  return fmt::format("{} {}", to_string(tensor.dtype), to_string(tensor.shape));
}

void compare_forms(const Checkpoint& base, const Checkpoint& other, std::vector<Problem>& problems) {
  const auto refuse = [&](const TensorView& tensor, const std::string& what) {
    problems.push_back({other.paths().front(), fmt::format("tensor {}: {}", tensor.name, what)});
  };
  for (const TensorView& tensor : base.tensors()) {
    const TensorView* same = other.find(tensor.name);
    if (same == nullptr)
      refuse(tensor, "missing");
    else if (same->dtype != tensor.dtype || same->shape != tensor.shape)
      refuse(tensor, fmt::format("expected {} as in the first model, got {}", describe(tensor), describe(*same)));
    else if (!is_float(tensor.dtype) && !std::ranges::equal(same->bytes, tensor.bytes))
      refuse(tensor,
             fmt::format("expected the numbers of the first model, got others of type {}", to_string(tensor.dtype)));
  }
  for (const TensorView& tensor : other.tensors()) {
    if (base.find(tensor.name) == nullptr) refuse(tensor, "the first model has none");
  }
}

void check_fp32(const Checkpoint& base, std::vector<Problem>& problems) {
  for (const TensorView& tensor : base.tensors()) {
    if (!is_float(tensor.dtype) || tensor.dtype == DType::kF32) continue;
    problems.push_back({base.paths().front(), fmt::format("tensor {}: expected F32 to average, got {}", tensor.name,
                                                          to_string(tensor.dtype))});
  }
}

void check_not_calibrated(const Checkpoint& model) {
  if (!has_calibration(model)) return;
  throw Error(ErrorCode::kCalibration, calibration_path(model),
              "expected models that are not calibrated for int8, since their scales have no mean; average the models "
              "before calibrating them");
}

// Elements of fp32 tensors of one shape, which may lie at any address.
std::vector<std::byte> mean_of(std::span<const TensorView* const> tensors) {
  std::vector<std::byte> bytes(tensors.front()->bytes.size());
  for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    double sum = 0;
    for (const TensorView* tensor : tensors) {
      float value = 0;
      std::memcpy(&value, tensor->bytes.data() + at, sizeof value);
      sum += value;
    }
    const auto mean = static_cast<float>(sum / static_cast<double>(tensors.size()));
    std::memcpy(bytes.data() + at, &mean, sizeof mean);
  }
  return bytes;
}

std::vector<MadeTensor> means_of(const Checkpoint& base, const std::vector<Checkpoint>& models) {
  std::vector<MadeTensor> means;
  for (const TensorView& tensor : base.tensors()) {
    if (tensor.dtype != DType::kF32) continue;
    std::vector<const TensorView*> tensors = {&tensor};
    for (const Checkpoint& other : models) tensors.push_back(other.find(tensor.name));
    means.push_back({tensor.name, tensor.dtype, tensor.shape, mean_of(tensors)});
  }
  return means;
}

}  // namespace

AveragedModel average_models(const Checkpoint& base, const ModelConfig& config, std::span<const std::string> folders,
                             const OpenOptions& options) {
  std::vector<Checkpoint> models;
  std::vector<Problem> of_configs, of_tensors;
  check_not_calibrated(base);
  check_fp32(base, of_tensors);
  for (const std::string& folder : folders) {
    const Checkpoint& other = models.emplace_back(Checkpoint::open(folder, options));
    check_not_calibrated(other);
    compare_configs(config, folder + "/config.json", of_configs);
    compare_forms(base, other, of_tensors);
  }
  if (!of_configs.empty()) throw Error(ErrorCode::kConfig, std::move(of_configs));
  if (!of_tensors.empty()) throw Error(ErrorCode::kTensors, std::move(of_tensors));
  AveragedModel model{replace_tensors(base, means_of(base, models)), {}};
  const auto averaged = std::ranges::count(base.tensors(), DType::kF32, &TensorView::dtype);
  model.changes.push_back({"weights", "averaged", fmt::format("{} tensors of {} models", averaged, models.size() + 1)});
  return model;
}

}  // namespace deberta

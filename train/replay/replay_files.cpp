// Reads the tensors of a step from safetensors, and collects results under their names.
#include "train/replay/replay_files.h"

#include <utility>

#include "checkpoint/tensor.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"

namespace deberta::train {
namespace {

[[noreturn]] void refuse(const std::string& where, std::string message) {
  throw Error(ErrorCode::kInput, where, std::move(message));
}

}  // namespace

std::vector<int32_t> read_integers(const Checkpoint& file, const std::string& path, const std::string& step,
                                   const std::string& name) {
  const std::string whole = step + "." + name;
  const TensorView* tensor = file.find(whole);
  if (tensor == nullptr) return {};
  if (tensor->shape != file.find(step + ".input_ids")->shape) refuse(path, whole + ": expected the shape of input_ids");
  std::vector<int32_t> values;
  for (const int64_t value : to_int64(*tensor)) {
    if (!std::in_range<int32_t>(value)) refuse(path, whole + ": " + std::to_string(value) + " is out of range");
    values.push_back(static_cast<int32_t>(value));
  }
  return values;
}

ReplayBatch read_inputs(const Checkpoint& file, const std::string& path, const std::string& step) {
  const Shape& shape = file.find(step + ".input_ids")->shape;
  if (shape.size() != 2) refuse(path, step + ".input_ids: expected the shape [B, L]");
  const auto values = [&](const char* name) { return read_integers(file, path, step, name); };
  const std::vector<int32_t> ids_BL = values("input_ids"), type_ids_BL = values("token_type_ids"),
                             position_ids_BL = values("position_ids");
  std::vector<uint8_t> mask_BL;
  for (const int32_t value : values("attention_mask")) mask_BL.push_back(value != 0);
  PackedRows packed = pack({.sequences = static_cast<size_t>(shape[0]),
                            .length = static_cast<size_t>(shape[1]),
                            .ids_BL = ids_BL,
                            .mask_BL = mask_BL,
                            .type_ids_BL = type_ids_BL,
                            .position_ids_BL = position_ids_BL});
  TrainBatch batch;
  batch.ids_T = std::move(packed.batch.ids_T);
  batch.starts = std::move(packed.batch.starts);
  batch.type_ids_T = std::move(packed.batch.type_ids_T);
  batch.position_ids_T = std::move(packed.batch.position_ids_T);
  batch.mask_T = std::move(packed.batch.mask_T);
  batch.longest = packed.batch.longest;
  return {std::move(batch), std::move(packed.rows_T)};
}

ReplayBatch read_step(const Checkpoint& file, const std::string& path, const std::string& step) {
  ReplayBatch read = read_inputs(file, path, step);
  const std::vector<int32_t> labels_BL = read_integers(file, path, step, "labels");
  if (labels_BL.empty()) refuse(path, "expected a tensor " + step + ".labels, got none");
  for (size_t t = 0; t < read.rows_T.size(); ++t) {
    const int32_t label = labels_BL[static_cast<size_t>(read.rows_T[t])];
    if (label < 0) continue;
    read.batch.rows_P.push_back(static_cast<int32_t>(t));
    read.batch.labels_P.push_back(label);
  }
  return read;
}

void ReplayResults::add(const std::string& name, const Shape& shape, std::span<const float> values) {
  const std::vector<float>& kept = values_.emplace_back(values.begin(), values.end());
  views_.push_back({name, DType::kF32, shape, std::as_bytes(std::span(kept))});
}

void ReplayResults::add(const std::string& name, double value) {
  const float single = static_cast<float>(value);
  add(name, {1}, {&single, 1});
}

void ReplayResults::write(const std::string& path) const {
  write_safetensors(path, views_);
}

}  // namespace deberta::train

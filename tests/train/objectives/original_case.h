// Reads cases of the original code's outputs: a folder of NAME.json + NAME.safetensors.
// B sequences  L positions  T packed tokens
#pragma once
#include <ATen/ops/from_blob.h>

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/tensor_table.h"
#include "config/model_config.h"
#include "deberta/model.h"
#include "support/paths.h"
#include "support/torch_numbers.h"
#include "train/model/parameters.h"
#include "train/objectives/batch.h"

namespace deberta::test {

constexpr const char* kNoGoldens = "no folder of original outputs (DEBERTA_GOLDENS, or the shared folder)";

// A tensor of the file as doubles; undefined when it is not there.
inline at::Tensor read(const SafetensorsFile& file, const std::string& name) {
  const TensorView* view = file.find(name);
  if (view == nullptr) return {};
  std::vector<float> values = to_fp32(*view);
  return at::from_blob(values.data(), view->shape, at::kFloat).to(at::kDouble).clone();
}

template <class Integer>
std::vector<Integer> integers(const SafetensorsFile& file, const std::string& name) {
  const TensorView* view = file.find(name);
  std::vector<Integer> values;
  if (view == nullptr) return values;
  for (const int64_t value : to_int64(*view)) values.push_back(static_cast<Integer>(value));
  return values;
}

// Tensors as a checkpoint's.
inline Checkpoint write_checkpoint(const TemporaryFolder& folder, const std::vector<TensorView>& weights) {
  write_safetensors(folder.path("model.safetensors"), weights);
  return Checkpoint::open(folder.path());
}

// The model of a case.
inline train::Model load_case(const Json& about, const SafetensorsFile& file, at::ScalarType type) {
  std::vector<TensorView> weights;
  for (TensorView tensor : file.tensors()) {
    if (!tensor.name.starts_with("w.")) continue;
    tensor.name.erase(0, 2);
    weights.push_back(tensor);
  }
  const TemporaryFolder folder;
  const Checkpoint checkpoint = write_checkpoint(folder, weights);
  train::ModelForm form{.config = parse_model_config(*about.find("config"), "config.json")};
  form.config.layout = find_layout(form.config, checkpoint);
  if (about.find("kind")->as_string() != "encoder") form.head = detect_head(checkpoint);
  form.labels = count_labels(checkpoint);
  form.config.is_causal = about.find("name")->as_string() == "v3_mask3d_causal";
  train::Model model = train::make_model(form, type);
  train::load_parameters(model, checkpoint);
  // The original trains the key biases that version 1 does not have.
  train::visit(model, [](const train::ParameterSpec&, at::Tensor& tensor) { tensor.requires_grad_(true); });
  return model;
}

// Inputs without their padding.
struct PackedCase {
  train::TrainBatch batch = {};
  std::vector<int64_t> real_T = {}, real_BL = {};  // packed rows of real tokens, and their positions in [B * L]
  std::vector<uint8_t> mask_BL = {};
};

// The causal mask of the folder: which tokens are none, as a 2-D mask.
inline std::vector<uint8_t> to_2d(const std::vector<uint8_t>& mask_BLL, size_t length) {
  std::vector<uint8_t> mask_BL;
  for (size_t row = 0; row < mask_BLL.size() / length; ++row) {
    mask_BL.push_back(mask_BLL[row * length + row % length]);
  }
  return mask_BL;
}

// `prefix`: "in.", or that of a step.
inline PackedCase pack_case(const SafetensorsFile& file, const std::string& prefix) {
  PackedCase result;
  const auto ids = integers<int32_t>(file, prefix + "input_ids");
  const auto length = static_cast<size_t>(file.find(prefix + "input_ids")->shape.back());
  result.mask_BL = integers<uint8_t>(file, prefix + "attention_mask");
  if (result.mask_BL.size() > ids.size()) result.mask_BL = to_2d(result.mask_BL, length);
  const PackedRows packed = pack({.sequences = ids.size() / length,
                                  .length = length,
                                  .ids_BL = ids,
                                  .mask_BL = result.mask_BL,
                                  .type_ids_BL = integers<int32_t>(file, prefix + "token_type_ids"),
                                  .position_ids_BL = integers<int32_t>(file, prefix + "position_ids")});
  if (result.mask_BL.empty()) result.mask_BL.assign(ids.size(), 1);
  const Batch& batch = packed.batch;
  result.batch.ids_T = batch.ids_T;
  result.batch.starts = batch.starts;
  result.batch.type_ids_T = batch.type_ids_T;
  result.batch.position_ids_T = batch.position_ids_T;
  result.batch.mask_T = batch.mask_T;
  for (size_t t = 0; t < packed.rows_T.size(); ++t) {
    const auto element = static_cast<size_t>(packed.rows_T[t]);
    if (result.mask_BL[element] == 0) continue;
    result.real_T.push_back(static_cast<int64_t>(t));
    result.real_BL.push_back(static_cast<int64_t>(element));
  }
  return result;
}

// Labels above 0, for language models.
inline void set_labels(PackedCase& packed, const std::vector<int32_t>& labels_BL) {
  for (size_t n = 0; n < packed.real_T.size(); ++n) {
    const int32_t label = labels_BL[static_cast<size_t>(packed.real_BL[n])];
    if (label <= 0) continue;
    packed.batch.rows_P.push_back(static_cast<int32_t>(packed.real_T[n]));
    packed.batch.labels_P.push_back(label);
  }
}

// What stands in [B * L] at the rows to predict: ids drawn there.
inline std::vector<int32_t> at_predicted_rows(const PackedCase& packed, const std::vector<int32_t>& values_BL) {
  std::vector<int32_t> values_P;
  size_t n = 0;
  for (const int32_t row : packed.batch.rows_P) {
    while (packed.real_T[n] != row) ++n;
    values_P.push_back(values_BL[static_cast<size_t>(packed.real_BL[n])]);
  }
  return values_P;
}

// "generator" or "discriminator" of a pair, with its difference under the name of the table; a discriminator without
// tables gets the generator's.
inline train::Model load_of_pair(const Json& about, const SafetensorsFile& file, const std::string& which,
                                 at::ScalarType type) {
  std::map<std::string, TensorView> weights;
  for (const std::string& from : {std::string("generator"), which}) {
    const std::string prefix = "w." + from + ".";
    for (TensorView tensor : file.tensors()) {
      if (!tensor.name.starts_with(prefix)) continue;
      tensor.name.erase(0, prefix.size());
      if (from != which && !tensor.name.starts_with("deberta.embeddings.")) continue;
      if (const size_t at = tensor.name.find("._weight"); at != std::string::npos) tensor.name.erase(at + 1, 1);
      weights[tensor.name] = tensor;
    }
  }
  std::vector<TensorView> tensors;
  for (const auto& [name, tensor] : weights) tensors.push_back(tensor);
  const TemporaryFolder folder;
  const Checkpoint checkpoint = write_checkpoint(folder, tensors);
  train::ModelForm form{.config = parse_model_config(*about.find("config")->find(which), which)};
  form.head = detect_head(checkpoint);
  train::Model model = make_model(form, type);
  load_parameters(model, checkpoint);
  return model;
}

}  // namespace deberta::test

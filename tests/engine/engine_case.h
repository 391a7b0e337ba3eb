// Tiny models and batches for the tests of this room.
#pragma once
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/safetensors.h"
#include "deberta/model.h"
#include "support/paths.h"
#include "support/random.h"
#include "support/test_device.h"
#include "support/tiny_model.h"

namespace deberta::test {

// With a head size that every attention kernel takes; only the reference takes that of `tiny_config`.
inline ModelConfig with_fast_heads() {
  ModelConfig config = tiny_config();
  config.hidden_size = config.embedding_size = config.pooler_hidden_size = 64;
  config.attention_head_size = 32;
  return config;
}

inline Model load_tiny(const ModelConfig& config, Head head = Head::kNone, const ModelOptions& options = {.threads = 1},
                       int64_t labels = 3) {
  const TemporaryFolder folder;
  write_tiny_model(folder.path(), config, head, labels);
  return test::load_model(Checkpoint::open(folder.path()), load_model_config(folder.path("config.json")), options);
}

struct NamedTensor {
  Shape shape;
  std::vector<float> values;
};
using Tensors = std::map<std::string, NamedTensor>;  // under the names of the file

inline void write_tensors(const std::string& path, const Tensors& tensors) {
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : tensors) {
    views.push_back({name, DType::kF32, tensor.shape, std::as_bytes(std::span(tensor.values))});
  }
  write_safetensors(path, views);
}

inline Tensors read_tensors(const std::string& path) {
  Tensors tensors;
  const SafetensorsFile file(path);
  for (const TensorView& tensor : file.tensors()) tensors[tensor.name] = {tensor.shape, to_fp32(tensor)};
  return tensors;
}

// The tiny model of `config`, its tensors changed by change(Tensors&), read with `read_as` as its config.json.
template <class Change>
Model load_edited(const ModelConfig& config, Head head, const ModelOptions& options, const Json& read_as,
                  Change change) {
  const TemporaryFolder folder;
  write_tiny_model(folder.path(), config, head);
  Tensors tensors = read_tensors(folder.path("model.safetensors"));
  change(tensors);
  write_tensors(folder.path("changed.safetensors"), tensors);
  return test::load_model(Checkpoint::open_file(folder.path("changed.safetensors")),
                          parse_model_config(read_as, "config.json"), options);
}

// The tiny model with change(name, values) applied to each tensor before it is loaded.
template <class Change>
Model load_changed(const ModelConfig& config, Head head, const ModelOptions& options, Change change) {
  return load_edited(config, head, options, to_json(config), [&](Tensors& tensors) {
    for (auto& [name, tensor] : tensors) change(name, tensor.values);
  });
}

// `length` ids from the seed, none of them 0.
inline std::vector<int32_t> make_ids(uint64_t seed, size_t length, int64_t vocabulary = 50) {
  std::vector<int32_t> ids(length);
  for (size_t i = 0; i < length; ++i)
    ids[i] = 1 + static_cast<int32_t>(uniform_at(seed, i) * static_cast<double>(vocabulary - 1));
  return ids;
}

inline Batch make_batch(const std::vector<std::vector<int32_t>>& rows) {
  Batch batch;
  for (const auto& row : rows) batch.add(row);
  return batch;
}

inline ForwardResult run(const Model& model, const Batch& batch, const ForwardOptions& options = {}) {
  ForwardResult result;
  model.forward(batch, options, result);
  return result;
}

// h_N of every packed row.
inline std::vector<float> last_hidden(const Model& model, const Batch& batch) {
  ForwardOptions options;
  options.layers = {static_cast<int32_t>(model.config().num_hidden_layers)};
  options.wants_logits = false;
  return run(model, batch, options).hidden[0].rows_TD;
}

inline double cosine_of(std::span<const float> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * double{b[i]};
    aa += double{a[i]} * double{a[i]};
    bb += double{b[i]} * double{b[i]};
  }
  return ab / std::sqrt(aa * bb);
}

inline std::vector<float> slice(const std::vector<float>& values, size_t begin, size_t end) {
  return {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace deberta::test

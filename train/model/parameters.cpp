// Initial values from Philox by name and index, loading with the splits of version 1, and views for files.
#include "train/model/parameters.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <list>
#include <map>

#include "base/philox.h"
#include "checkpoint/layout_conversion.h"
#include "checkpoint/tensor.h"
#include "checkpoint/tensor_table.h"
#include "deberta/error.h"
#include "train/model/lora.h"
#include "train/ops/random_normals.h"

namespace deberta::train {
namespace {

uint64_t hash_of(const std::string& text) {  // FNV-1a
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

// Random words for the elements 4 n to 4 n + 3 of a tensor.
PhiloxCounter init_words(uint64_t seed, const std::string& name, uint64_t n) {
  const uint64_t key = random_key(seed, RandomDomain::kInit), tensor = hash_of(name);
  return philox({static_cast<uint32_t>(n), static_cast<uint32_t>(n >> 32), static_cast<uint32_t>(tensor),
                 static_cast<uint32_t>(tensor >> 32)},
                {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
}

std::vector<float> normal_values(uint64_t seed, const std::string& name, size_t count, double deviation) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; i += 4) {
    const std::array<double, 4> four = to_normals(init_words(seed, name, i / 4));
    for (size_t k = 0; k < std::min<size_t>(4, count - i); ++k) {
      values[i + k] = static_cast<float>(deviation * four[k]);
    }
  }
  return values;
}

std::vector<float> uniform_values(uint64_t seed, const std::string& name, size_t count, double most) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t word = init_words(seed, name, i / 4)[i % 4];
    values[i] = static_cast<float>(most * (2 * ((word + 0.5) / 4294967296.0) - 1));
  }
  return values;
}

// Vaswani et al. 2017, section 3.5, in the order of Transformer-XL (Dai et al. 2019).
std::vector<float> sinusoids(int64_t rows, int64_t columns) {
  constexpr double kLongest = 10000;
  const int64_t half = columns / 2;
  std::vector<float> values_RD(static_cast<size_t>(rows * columns));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t d = 0; d < columns; ++d) {
      const double frequency = std::pow(kLongest, -2.0 * static_cast<double>(d % half) / static_cast<double>(columns));
      const double angle = static_cast<double>(r - rows / 2) * frequency;
      values_RD[static_cast<size_t>(r * columns + d)] =
          static_cast<float>(d < half ? std::sin(angle) : std::cos(angle));
    }
  }
  return values_RD;
}

// Values into a tensor of any type, without a gradient of its own.
void assign(at::Tensor& tensor, std::vector<float> values) {
  tensor.detach().copy_(at::from_blob(values.data(), tensor.sizes(), at::kFloat));
}

void initialise_tensor(const ModelConfig& config, uint64_t seed, const ParameterSpec& spec, at::Tensor& tensor) {
  switch (spec.init) {
    case Init::kNormal:
    case Init::kTable:
      break;
    case Init::kZeros:
      tensor.detach().zero_();
      return;
    case Init::kOnes:
      tensor.detach().fill_(1);
      return;
    case Init::kUniform:
      assign(tensor, uniform_values(seed, spec.name, static_cast<size_t>(tensor.numel()),
                                    1 / std::sqrt(static_cast<double>(tensor.size(1)))));
      return;
    case Init::kSinusoids:
      assign(tensor, sinusoids(tensor.size(0), tensor.size(1)));
      return;
  }
  const auto count = static_cast<size_t>(tensor.numel());
  assign(tensor, normal_values(seed, spec.name, count, config.initializer_range));
  if (spec.init == Init::kTable) tensor.detach()[config.pad_token_id].zero_();
}

// Tensors of a checkpoint, those of fused projections in their split form.
class Source {
 public:
  Source(const Checkpoint& checkpoint, const ModelConfig& config) : checkpoint_(checkpoint) {
    if (config.layout != Layout::kV1 || detect_layout(checkpoint) != Layout::kV1) return;
    plan_layout(checkpoint, config, Layout::kV2, conversion_);
    for (const PlannedTensor& planned : conversion_.tensors) {
      std::vector<std::byte>& bytes = bytes_.emplace_back();
      for (const Bytes& run : planned.runs) bytes.insert(bytes.end(), run.begin(), run.end());
      split_[planned.canonical] = {planned.canonical, planned.from, planned.shape, bytes};
    }
  }
  const TensorView* find(const std::string& name) const {
    const auto entry = split_.find(name);
    return entry != split_.end() ? &entry->second : checkpoint_.find(name);
  }

 private:
  const Checkpoint& checkpoint_;
  Conversion conversion_;
  std::list<std::vector<std::byte>> bytes_;
  std::map<std::string, TensorView> split_;
};

// Files have every layer, also where all are one.
void add_copies_of_layer(int64_t layers, std::vector<TensorView>& views) {
  constexpr std::string_view kFirst = "encoder.layer.0.";
  const size_t count = views.size();
  for (int64_t n = 1; n < layers; ++n) {
    for (size_t v = 0; v < count; ++v) {
      if (!views[v].name.starts_with(kFirst)) continue;
      TensorView copy = views[v];
      copy.name = "encoder.layer." + std::to_string(n) + "." + copy.name.substr(kFirst.size());
      views.push_back(std::move(copy));
    }
  }
}

bool is_of_head(const std::string& name) {
  return !name.starts_with("embeddings.") && !name.starts_with("encoder.");
}

// The shape that the file's tensor must have: of a table by words at least as many rows as are read.
Shape shape_in_file(const ParameterSpec& spec, const TensorView& view, const WordRows& rows) {
  Shape shape = spec.shape;
  if (!spec.is_by_word || rows.is_in_place()) return shape;
  int64_t most = 0;
  for (int64_t row = 0; row < shape.front(); ++row) most = std::max(most, rows.source_of(static_cast<size_t>(row)) + 1);
  shape.front() = most;
  if (view.shape.size() == shape.size() && view.shape.front() > shape.front()) shape.front() = view.shape.front();
  return shape;
}

}  // namespace

void assign_rows(at::Tensor& tensor, const TensorView& view, const WordRows& rows) {
  const std::vector<float> stored = to_fp32(view);
  const auto width = static_cast<size_t>(tensor.numel() / tensor.size(0));
  std::vector<float> values(static_cast<size_t>(tensor.numel()));
  at::from_blob(values.data(), tensor.sizes(), at::kFloat).copy_(tensor.detach());
  for (size_t row = 0; row < static_cast<size_t>(tensor.size(0)); ++row) {
    const int64_t source = rows.source_of(row);
    if (source < 0) continue;
    std::copy_n(stored.data() + static_cast<size_t>(source) * width, width, values.data() + row * width);
  }
  for (const WordRows::Mean& mean : rows.means) {
    for (size_t i = 0; i < width; ++i) {
      double sum = 0;
      for (const int32_t id : mean.of) sum += values[static_cast<size_t>(id) * width + i];
      values[static_cast<size_t>(mean.id) * width + i] = static_cast<float>(sum / static_cast<double>(mean.of.size()));
    }
  }
  assign(tensor, std::move(values));
}

void initialise(Model& model, uint64_t seed, std::span<const std::string> only) {
  visit(model, [&](const ParameterSpec& spec, at::Tensor& tensor) {
    if (!only.empty() && std::find(only.begin(), only.end(), spec.name) == only.end()) return;
    initialise_tensor(model.form.config, seed, spec, tensor);
  });
}

std::vector<std::string> load_parameters(Model& model, const Checkpoint& checkpoint, const LoadRules& rules) {
  const Source source(checkpoint, model.form.config);
  const std::string where = checkpoint.paths().empty() ? "checkpoint" : checkpoint.paths().front();
  std::vector<Problem> problems;
  std::vector<std::string> new_names;
  const TensorView* output =
      facts_of(model.form.head).predicts_words() ? own_output_table(checkpoint, model.form.config) : nullptr;
  if (output != nullptr)
    problems.push_back({where, "tensor " + output->name +
                                   ": expected a language model whose output table is its word table, got a separate "
                                   "table, which can be run but not trained"});
  visit(model, [&](const ParameterSpec& spec, at::Tensor& tensor) {
    if (spec.is_lora != rules.reads_lora) return;
    const bool is_new = (rules.has_new_classifier && spec.name.starts_with("classifier.")) ||
                        (rules.has_new_pooler && spec.name.starts_with("pooler."));
    const TensorView* view = is_new ? nullptr : source.find(spec.name);
    if (view == nullptr && !spec.is_trained) return;
    if (view == nullptr && rules.allows_new_head && is_of_head(spec.name)) {
      new_names.push_back(spec.name);
    } else if (view == nullptr) {
      problems.push_back({where, "tensor missing: " + spec.name});
    } else if (const Shape expected = shape_in_file(spec, *view, rules.rows); view->shape != expected) {
      problems.push_back({where, "tensor " + spec.name + ": expected shape " + to_string(expected) + ", got " +
                                     to_string(view->shape)});
    } else if (spec.is_by_word && !rules.rows.is_in_place()) {
      assign_rows(tensor, *view, rules.rows);
    } else {
      assign(tensor, to_fp32(*view));
    }
  });
  if (!problems.empty()) throw Error(ErrorCode::kTensors, std::move(problems));
  return new_names;
}

std::vector<NamedParameter> trained_parameters(Model& model, const LayerRates& rates) {
  std::vector<NamedParameter> parameters;
  visit(model, [&](const ParameterSpec& spec, at::Tensor& tensor) {
    if (!spec.changes()) return;
    const int64_t depth = layers_below_head(model.form, spec.name);
    parameters.push_back({spec.name, tensor, depth == 0 ? rates.head : std::pow(rates.decay, depth)});
  });
  return parameters;
}

namespace {

std::vector<TensorView> views_of(Model& model, bool is_lora) {
  std::vector<TensorView> views;
  visit(model, [&](const ParameterSpec& spec, at::Tensor& tensor) {
    if (spec.is_lora != is_lora) return;
    const std::span values(tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel()));
    views.push_back({spec.name, DType::kF32, spec.shape, std::as_bytes(values)});
  });
  return views;
}

}  // namespace

std::vector<TensorView> lora_views(Model& model) {
  return views_of(model, true);
}

std::vector<TensorView> to_views(Model& model) {
  std::vector<TensorView> views = views_of(model, false);
  if (model.form.config.shares_layers) add_copies_of_layer(model.form.config.num_hidden_layers, views);
  return views;
}

void move_parameters(Model& model, std::span<const ParameterMemory> memory) {
  size_t n = 0;
  visit(model, [&](const ParameterSpec& spec, at::Tensor& tensor) {
    if (!spec.changes()) return;
    const ParameterMemory& target = memory[n++];
    const at::Tensor moved = at::from_blob(target.weights, tensor.sizes(), at::kFloat);
    moved.copy_(tensor.detach());
    tensor = moved.requires_grad_(true);
    tensor.mutable_grad() = at::from_blob(target.gradients, tensor.sizes(), at::kFloat);
  });
  own_weights_of_lora(model);
}

}  // namespace deberta::train

// Reads the tensors of a checkpoint for load_weights and for the loading functions of heads (output_heads.h), and packs
// them. What it allocates is in the store. Its functions are in weights.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/weights.h"

namespace deberta {

// The relative table before its projections; no rows: the model has none.
struct RelativeRows {
  const float* data = nullptr;
  size_t rows = 0;
};

class WeightLoader {
 public:
  WeightLoader(const Checkpoint& checkpoint, const ModelConfig& config, Precision precision, const KernelSet& kernels,
               const Parallel& parallel, WeightStore& store)
      : checkpoint_(checkpoint),
        config_(config),
        precision_(precision),
        kernels_(kernels),
        parallel_(parallel),
        store_(store) {}

  const Checkpoint& checkpoint() const { return checkpoint_; }
  const ModelConfig& config() const { return config_; }
  const std::shared_ptr<DeviceMemory>& memory() const { return kernels_.memory; }
  Precision precision() const { return precision_; }  // precision of the encoder's layers

  const TensorView& tensor(std::string_view name);
  EmbeddingTable table(std::string_view name);
  const float* vector(const std::string& name);
  Norm norm(const std::string& prefix);
  Linear linear(const std::string& prefix);  // PREFIX.weight and PREFIX.bias, in fp32
  Linear weights_only(std::string_view name, Precision precision);
  // A weight that a head has cut or turned, in fp32. `source` is read during the call alone; no bias: none.
  Linear packed(const WeightSource& source, std::span<const float> bias_N);
  // What the store needs for layer(), but for a checking kernel's copies.
  size_t layer_bytes(int64_t n, const RelativeRows& relative_RD, const Calibration& calibration) const;
  LayerWeights layer(int64_t n, const RelativeRows& relative_RD, const Calibration& calibration);
  ConvolutionWeights convolution();
  RelativeRows relative_table(WeightStore& temporary);

 private:
  struct Dense;
  static Dense stack(const Dense& above, const Dense& below);
  Quantizer place(Quantizer quantizer, size_t depth);
  Linear pack(const WeightSource& source, Precision precision, std::span<const float> bias_N);
  Linear pack(const Dense& dense, Precision precision, const Quantizer& quantizer);
  Dense dense(const std::string& prefix);
  std::array<Dense, 3> content_projections(const std::string& self);
  std::array<Dense, 3> split_in_proj(const std::string& self);
  std::string relative_projection(std::string_view name) const;
  RelativeTable project(const RelativeRows& relative_RD, const std::string& prefix, bool is_reversed);

  const Checkpoint& checkpoint_;
  const ModelConfig& config_;
  Precision precision_;
  const KernelSet& kernels_;
  Parallel parallel_;
  WeightStore& store_;
};

}  // namespace deberta

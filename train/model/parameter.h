// The tensors of a model: each noun of the paper is a struct of them, and lists them once, with name, shape and
// initialisation, for a visitor. Making, initialising, loading and naming are visitors (model.h, parameters.h).
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

#include "deberta/checkpoint.h"

namespace deberta::train {

enum class Init {
  kNormal,  // N(0, initializer_range)
  kTable,   // as kNormal, but the row of the padding id is zero
  kZeros,
  kOnes,
  kUniform,    // within 1 / sqrt(inputs), as torch begins a linear layer and peft a matrix A
  kSinusoids,  // for each row's distance from the middle row: the sines of all frequencies, then the cosines
};

struct ParameterSpec {
  std::string name;  // canonical, as in the checkpoint (checkpoint/tensor_table.h)
  Shape shape;
  Init init = Init::kNormal;
  bool is_trained = true;   // false: stays as initialised
  bool is_frozen = false;   // stays as it was read
  bool is_by_word = false;  // a row for each id of the vocabulary
  bool is_lora = false;     // not in any of the model's files (lora.h)

  bool changes() const { return is_trained && !is_frozen; }
};

using Visit = std::function<void(const ParameterSpec& spec, at::Tensor& tensor)>;

struct Linear {
  at::Tensor weight_OI, bias_O;
};
struct LinearSpec {
  std::string name;
  int64_t inputs = 0, outputs = 0;
  bool trains_bias = true;
};
inline void visit(Linear& linear, const LinearSpec& spec, const Visit& each) {
  each({spec.name + ".weight", {spec.outputs, spec.inputs}, Init::kNormal}, linear.weight_OI);
  each({spec.name + ".bias", {spec.outputs}, Init::kZeros, spec.trains_bias}, linear.bias_O);
}

struct Norm {
  at::Tensor weight_D, bias_D;
};
inline void visit(Norm& norm, const std::string& name, int64_t size, const Visit& each) {
  each({name + ".weight", {size}, Init::kOnes}, norm.weight_D);
  each({name + ".bias", {size}, Init::kZeros}, norm.bias_D);
}

}  // namespace deberta::train

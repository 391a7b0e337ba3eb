// What visitors of a model do: initialise it, read it from a checkpoint, list it for files and for the optimiser.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "deberta/checkpoint.h"
#include "train/model/model.h"

namespace deberta::train {

// Matrices N(0, initializer_range), tables as well, the row of the padding id zero; biases 0, norms 1. A number is a
// function of the seed, the name of its tensor and its index. `only`: names of the tensors to initialise; empty: all.
void initialise(Model& model, uint64_t seed, std::span<const std::string> only = {});

// Where the rows of the tables that have one for each id of the vocabulary come from.
struct WordRows {
  struct Mean {
    int32_t id = 0;
    std::vector<int32_t> of = {};
  };
  std::vector<int64_t> from = {};  // for each id the row of the file's table; -1: none, it keeps its value
  std::vector<Mean> means = {};    // then these rows become means of others

  bool is_in_place() const { return from.empty(); }
  // Rows beyond those of `from` are in place.
  int64_t source_of(size_t row) const { return row < from.size() ? from[row] : static_cast<int64_t>(row); }
};
void assign_rows(at::Tensor& tensor, const TensorView& view, const WordRows& rows);

// Fused projections of version 1 are split. Tensors of the head may be missing when `allows_new_head`: their names are
// the result, and they keep their values. Throws kTensors: missing tensors and wrong shapes, all of them.
struct LoadRules {
  bool allows_new_head = false;
  bool has_new_classifier = false;  // the checkpoint's is of other classes, and not read
  bool has_new_pooler = false;      // the checkpoint's reads other states, and is not read
  bool reads_lora = false;          // the tensors of LoRA alone; else all others
  WordRows rows = {};
};
std::vector<std::string> load_parameters(Model& model, const Checkpoint& checkpoint, const LoadRules& rules = {});

struct NamedParameter {
  std::string name;
  at::Tensor tensor;  // the model's own
  double rate = 1;    // multiplies the learning rate
};
// Factors of the learning rate: `head` of the head's tensors, decay^n of those n layers below it (layers_below_head).
struct LayerRates {
  double head = 1;
  double decay = 1;
};
// Those that are trained: what optimisers and gradients are about.
std::vector<NamedParameter> trained_parameters(Model& model, const LayerRates& rates = {});

// Every tensor but those of LoRA, fp32 on the CPU, under its canonical name: to be written, or read by the engine. They
// are views of the model's memory.
std::vector<TensorView> to_views(Model& model);
std::vector<TensorView> lora_views(Model& model);

// Trained parameters move into memory of the caller, in the order of trained_parameters(): weights with their values,
// and gradients, which add up there. fp32; both outlive the model. Weights that LoRA adds to become the model's own.
struct ParameterMemory {
  float* weights = nullptr;
  float* gradients = nullptr;
};
void move_parameters(Model& model, std::span<const ParameterMemory> memory);

}  // namespace deberta::train

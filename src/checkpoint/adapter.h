// Merges a peft LoRA adapter into the weights of the model that it was trained on, as peft's merge_and_unload() does:
//   W' = W + scale B A        scale: alpha / r, or alpha / sqrt(r) of rank-stabilised LoRA
// Whole tensors that were trained with it (a classifier, biases) replace the model's.
#pragma once
#include <string>
#include <vector>

#include "checkpoint/conversion.h"
#include "config/model_config.h"
#include "deberta/checkpoint.h"

namespace deberta {

struct MergedModel {
  Checkpoint checkpoint;  // merged matrices in memory, the others in the model's files
  ModelConfig config;     // with another number of classes: without the model's labels
  std::vector<Change> changes;
};

// `folder` has adapter_config.json, and adapter_model.safetensors or adapter_model.bin. Throws kFolder (no adapter),
// kConfig, kUnsupported (all unsupported settings of the adapter), kTensors (tensors that do not fit the model, or do
// not form the kind that the adapter was trained for), and what opening the weights throws.
MergedModel merge_adapter(const Checkpoint& base, const ModelConfig& config, const std::string& folder,
                          const OpenOptions& options = {});

}  // namespace deberta

// Merges a peft LoRA adapter into the weights of the model that it was trained on, as merge_and_unload() of peft
// does:
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
  Checkpoint checkpoint;  // merged matrices in memory, the others of the files of the model
  ModelConfig config;     // of another number of classes: without the labels of the model
  std::vector<Change> changes;
};

// `folder` has adapter_config.json, and adapter_model.safetensors or adapter_model.bin. Throws kFolder (no adapter),
// kConfig, kUnsupported (all unsupported settings of the adapter), kTensors (tensors that do not
// fit the model, or make none of the kind that the adapter was trained for), and what opening the weights throws.
MergedModel merge_adapter(const Checkpoint& base, const ModelConfig& config, const std::string& folder,
                          const OpenOptions& options = {});

}  // namespace deberta

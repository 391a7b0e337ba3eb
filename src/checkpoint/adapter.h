// A LoRA adapter of peft put into the weights of the model that it was trained beside, as merge_and_unload() of peft
// does:
//   W' = W + scale B A        scale: alpha / r, or alpha / sqrt(r) of rank-stabilised LoRA
// and whole tensors that were trained with it (a classifier, biases) in place of the model's.
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
// kConfig, kUnsupported (all that is in the adapter's settings and not computed here), kTensors (tensors that do not
// fit the model, or make none of the kind that the adapter was trained for), and what opening the weights throws.
MergedModel merge_adapter(const Checkpoint& base, const ModelConfig& config, const std::string& folder,
                          const OpenOptions& options = {});

}  // namespace deberta

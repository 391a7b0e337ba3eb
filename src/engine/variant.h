// Which DeBERTa a checkpoint is: the configuration plus what only the tensors tell, the head, and whether the mask
// decoder runs.
#pragma once
#include <string>

#include "deberta/checkpoint.h"
#include "deberta/config.h"
#include "deberta/model.h"
#include "heads/head_facts.h"

namespace deberta {

struct HeadWeights;
class WeightLoader;
struct Pass;
struct Workspace;

// Sizes of configurations and batches are signed; they have been checked.
inline size_t as_size(int64_t value) {
  return static_cast<size_t>(value);
}

// A head as the engine computes it (output_heads.h).
struct EngineHead {
  const HeadFacts* facts = nullptr;
  HeadWeights (*load)(WeightLoader& loader) = nullptr;
  void (*compute)(const Pass& pass, const Workspace& space, ForwardResult& result) = nullptr;  // the logits
};

struct Variant {
  ModelConfig config;
  EngineHead head;
  bool has_mask_decoder = false;

  // The absolute table is read: by the embeddings, or by the mask decoder.
  bool reads_positions() const { return config.position_biased_input || has_mask_decoder; }
};

// Whether logits are asked of the mask decoder, where the model has one.
inline bool asks_mask_decoder(const ForwardOptions& options) {
  return options.wants_logits && !options.skips_mask_decoder;
}

// Compares every tensor with the table first. Throws kTensors (all problems), kUnsupported.
Variant find_variant(const Checkpoint& checkpoint, const ModelConfig& config, MaskDecoder mask_decoder);

}  // namespace deberta

// Which DeBERTa a checkpoint is: the configuration plus what only the tensors tell, the head, and whether the mask
// decoder runs.
#pragma once
#include <string>

#include "deberta/checkpoint.h"
#include "deberta/config.h"
#include "deberta/model.h"

namespace deberta {

// Sizes of configurations and batches are signed; they have been checked.
inline size_t as_size(int64_t value) {
  return static_cast<size_t>(value);
}

struct Variant {
  ModelConfig config;
  Head head = Head::kNone;
  bool has_mask_decoder = false;

  // The absolute table is read: by the embeddings, or by the mask decoder.
  bool reads_positions() const { return config.position_biased_input || has_mask_decoder; }
};

// Why the engine does not compute models of this form, which only the trainer has; empty: it does.
std::string find_foreign_form(const ModelConfig& config, Head head);

// Compares every tensor with the table first. Throws kTensors (all problems), kUnsupported.
Variant find_variant(const Checkpoint& checkpoint, const ModelConfig& config, MaskDecoder mask_decoder);

}  // namespace deberta

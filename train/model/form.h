// Which DeBERTa is trained: the configuration of its files, its head, and what files cannot express.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "deberta/checkpoint.h"
#include "deberta/config.h"
#include "heads/forms.h"

namespace deberta::train {

// Low-rank additions to some matrices of the encoder (LoRA, Hu et al. 2021), which are trained instead of them.
struct LoraForm {
  int64_t rank = 8;
  double alpha = 8;
  std::vector<std::string> targets = {};  // the last parts of the names of linear layers, as in peft

  double scale() const { return alpha / static_cast<double>(rank); }
};

struct ModelForm {
  // layout kV1: trained with split projections and key biases fixed at 0 (model-heads.md#layout-of-version-1)
  ModelConfig config;
  Head head = Head::kNone;
  int64_t labels = 0;  // classes C of a classifier
  // The embeddings and so many of the first layers stay as they were read; of all layers, the relative table too. None:
  // everything is trained.
  std::optional<int64_t> frozen_layers = std::nullopt;
  std::optional<LoraForm> lora = std::nullopt;  // then only these and the head are trained

  // A language model whose embeddings have no positions gets them in the mask decoder (model.md#mask-decoder).
  bool has_mask_decoder() const { return predicts_by_decoder(config, facts_of(head)); }
  // Whether the model reads the absolute table: otherwise it has none.
  bool reads_positions() const { return config.position_biased_input || has_mask_decoder(); }
  bool has_c2p() const { return config.relative_attention && config.has_c2p; }
  bool has_p2c() const { return config.relative_attention && config.has_p2c; }
  bool has_p2p() const { return config.relative_attention && config.has_p2p; }
};

// Whether the tensor of this name stays as it was read; with LoRA, as training finds it.
bool is_frozen(const ModelForm& form, const std::string& name);

// How many layers the tensor of this name is below the head: 0 of the head, 1 of the last layer and of the norm after
// it, as many as there are layers of the first one and of the convolution beside it, one more of the embeddings and of
// the relative table, which all layers read. Layers that are one (share_layers) count as one.
int64_t layers_below_head(const ModelForm& form, const std::string& name);

// Why the form cannot be trained, all reasons; empty: it can.
std::vector<std::string> find_obstacles(const ModelForm& form);

}  // namespace deberta::train

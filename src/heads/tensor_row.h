// A row of a table of tensors: those of the encoder are in checkpoint/tensor_rows.cpp, those of each head beside the
// head's other facts (head_facts.cpp).
#pragma once
#include <cstdint>
#include <string_view>

#include "deberta/config.h"

namespace deberta {

constexpr std::string_view kLayerMark = "{n}";  // in a name: stands for each layer

struct TensorRow {
  using Condition = bool (*)(const ModelConfig&);
  static constexpr bool always(const ModelConfig&) { return true; }
  static constexpr bool never(const ModelConfig&) { return false; }

  std::string_view name;   // canonical; of a layer, with {n} in place of its number
  std::string_view shape;  // dimensions with commas between; products and quotients of numbers and of the letters:
                           // V vocabulary  E embedding  D hidden  H heads  K head size  F feed-forward  R relative rows
                           // P absolute positions  Y token types  C classes  W convolution width  G convolution groups
                           // U words and labels of entities  I inner columns of the ends of their spans
  Condition exists = always;       // a model of this configuration may have it
  Condition is_required = always;  // ... and must
  std::string_view key = {};       // the configuration key that decides it, for messages; may be empty
  std::string_view alias = {};     // another name in files (transformers' language-model head); may be empty
  bool may_accompany = false;      // a head's tensor that published files carry beside another head: never unexpected
  // Of a head's layers: how many of them a model has. Those of the encoder are counted by num_hidden_layers.
  int64_t (*layers)(const ModelConfig&) = nullptr;

  constexpr bool is_of_layers() const { return name.find(kLayerMark) != std::string_view::npos; }
  // Whether it is the row of the tensor with this canonical name, in any layer.
  bool names(std::string_view canonical_name) const;
};

}  // namespace deberta

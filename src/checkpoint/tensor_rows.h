// The rows of the tensor table. Only this room reads them; others ask tensor_table.h.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "deberta/checkpoint.h"
#include "deberta/config.h"

namespace deberta {

constexpr std::string_view kLayerMark = "{n}";  // of a name: stands for each layer
// Of a language model. transformers has no other name for one that is not the word table.
constexpr std::string_view kOutputTable = "cls.predictions.decoder.weight";

struct TensorRow {
  using Condition = bool (*)(const ModelConfig&);

  std::string_view name;   // canonical, with kLayerMark
  std::string_view shape;  // dimensions with commas between; products and quotients of numbers and of the letters:
                           // V vocabulary  E embedding  D hidden  H heads  K head size  F feed-forward  R relative rows
                           // P absolute positions  Y token types  C classes  W convolution width  G convolution groups
  uint32_t heads;          // bit_of() of the heads that have it
  Condition exists;        // a model of this configuration may have it
  Condition is_required;   // ... and must
  std::string_view key;    // the configuration key that decides it, for messages; may be empty
  std::string_view alias;  // another name in files (transformers' language-model head); may be empty
  bool may_accompany;      // published files carry it beside another head: never unexpected
};

constexpr uint32_t bit_of(Head head) {
  return uint32_t{1} << static_cast<uint32_t>(head);
}
constexpr uint32_t kEveryHead = ~uint32_t{0};
inline bool has_head(const TensorRow& row, Head head) {
  return (row.heads & bit_of(head)) != 0;
}
inline bool is_head_row(const TensorRow& row) {
  return row.heads != kEveryHead;
}

std::span<const TensorRow> tensor_rows();

// The row that `canonical_name` belongs to, whatever the configuration; nullptr when none.
const TensorRow* find_tensor_row(std::string_view canonical_name);

// Names that files carry and nothing reads: buffers, and the deltas of replaced-token training.
bool is_ignored_tensor(std::string_view canonical_name);

// Copies of another tensor that some files carry. They must equal it: a model whose copy differs is another model.
struct TiedTensor {
  std::string_view name;
  std::string_view same_as;
};
std::span<const TiedTensor> tied_tensors();

// The row's name when `name` is an alias, else `name`.
std::string_view to_canonical_name(std::string_view name);

}  // namespace deberta

// The rows of the tensor table: those of the encoder, and those of every head (heads/head_facts.h). Only this room
// reads them; others ask tensor_table.h.
#pragma once
#include <span>
#include <string_view>

#include "heads/tensor_row.h"

namespace deberta {

std::span<const TensorRow> encoder_rows();

// The row that `canonical_name` belongs to, whatever the configuration and the head; nullptr when none.
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

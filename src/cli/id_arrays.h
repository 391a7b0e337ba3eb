// Encoded texts as the arrays that models take: padded on the right to the longest.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "deberta/checkpoint.h"
#include "deberta/tokenizer.h"

namespace deberta::cli {

// B texts, L tokens of the longest
struct IdArrays {
  size_t texts = 0, length = 0;
  std::vector<int64_t> ids_BL = {}, mask_BL = {}, type_ids_BL = {};

  // input_ids, attention_mask and token_type_ids, I64 [B, L] each; they refer to the values here.
  std::vector<TensorView> tensors() const;
};

IdArrays to_arrays(std::span<const Encoding> encodings, int32_t pad_id);

}  // namespace deberta::cli

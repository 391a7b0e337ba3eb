// Fills rectangular arrays of ids, masks and types from encodings of different lengths.
#include "cli/id_arrays.h"

#include <algorithm>

namespace deberta::cli {

IdArrays to_arrays(std::span<const Encoding> encodings, int32_t pad_id) {
  IdArrays arrays{.texts = encodings.size()};
  for (const Encoding& encoding : encodings) arrays.length = std::max(arrays.length, encoding.size());
  for (const Encoding& encoding : encodings) {
    const size_t padding = arrays.length - encoding.size();
    const auto add = [&](std::vector<int64_t>& values, const auto& own, int64_t pad) {
      values.insert(values.end(), own.begin(), own.end());
      values.insert(values.end(), padding, pad);
    };
    add(arrays.ids_BL, encoding.ids, pad_id);
    add(arrays.mask_BL, std::vector<int64_t>(encoding.size(), 1), 0);
    add(arrays.type_ids_BL, encoding.type_ids, 0);
  }
  return arrays;
}

std::vector<TensorView> IdArrays::tensors() const {
  const Shape shape{static_cast<int64_t>(texts), static_cast<int64_t>(length)};
  std::vector<TensorView> views;
  for (const auto& [name, values] : {std::pair("input_ids", &ids_BL), std::pair("attention_mask", &mask_BL),
                                     std::pair("token_type_ids", &type_ids_BL)})
    views.push_back({name, DType::kI64, shape, std::as_bytes(std::span(*values))});
  return views;
}

}  // namespace deberta::cli

// A look inside the model: the attention terms for the tokens of a text, and the rows of the relative table.
// H heads  L tokens
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "deberta/config.h"
#include "deberta/error.h"
#include "deberta/model.h"
#include "deberta/tokenizer.h"

namespace deberta {

// One layer, [H, L, L] each: row of the query, column of the key; all times 1 / sqrt(d * n_types). A term that the
// model lacks is empty. `sum_HLL` is c2c + c2p + p2c, added in this order in single precision.
struct LayerTerms {
  int32_t layer = 0;  // 1 .. num_hidden_layers
  std::vector<float> c2c_HLL, c2p_HLL, p2c_HLL, sum_HLL;
  std::vector<float> softmax_HLL;  // the weights of the values
};

struct AttentionTerms {
  size_t heads = 0;
  size_t tokens = 0;
  std::vector<LayerTerms> layers;
};

// The scores of one encoded text, computed by the model's own forward pass with the reference kernel. `layers`:
// ascending; empty: all. Needs 20 H L^2 bytes per layer. Throws kInput for a layer that the model does not have, and
// whatever Model::forward throws.
DEBERTA_API AttentionTerms attention_terms(const Model& model, const Encoding& encoding,
                                           const std::vector<int32_t>& layers = {});

// The row of the relative table (0 .. 2 span() - 1) for each distance query - key from -(length - 1) to length - 1.
// Throws kInput without relative attention or for a length outside 1 .. 2^20, kUnsupported for a table whose formula
// is undefined.
DEBERTA_API std::vector<int32_t> relative_position_rows(const ModelConfig& config, int64_t length,
                                                        DistanceRule rule = DistanceRule::kOriginal);

}  // namespace deberta

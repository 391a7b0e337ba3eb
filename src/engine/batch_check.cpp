// Checks of batches and options; the kernels trust what passes here.
#include "engine/batch_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"

namespace deberta {
namespace {

[[noreturn]] void refuse(std::string where, std::string message) {
  throw Error(ErrorCode::kInput, std::move(where), std::move(message));
}

void check_starts(const Batch& batch) {
  if (batch.starts.empty() && batch.tokens() == 0) return;
  const bool is_right = !batch.starts.empty() && batch.starts.front() == 0 &&
                        std::is_sorted(batch.starts.begin(), batch.starts.end()) &&
                        static_cast<size_t>(batch.starts.back()) == batch.tokens();
  if (!is_right) refuse("batch", fmt::format("starts: expected ascending numbers from 0 to {} tokens", batch.tokens()));
}

void check_size(const char* name, size_t size, size_t tokens) {
  if (size != 0 && size != tokens) refuse("batch", fmt::format("{}: expected {} elements, got {}", name, tokens, size));
}

// "row 3, token 5" for the packed row.
std::string place_of(const Batch& batch, size_t row) {
  const auto after = std::upper_bound(batch.starts.begin(), batch.starts.end(), static_cast<int32_t>(row));
  const auto sequence = after - batch.starts.begin() - 1;
  return fmt::format("row {}, token {}", sequence,
                     row - static_cast<size_t>(batch.starts[static_cast<size_t>(sequence)]));
}

bool is_below(int32_t value, int64_t limit) {
  return value >= 0 && value < limit;
}

void check_ids(const Batch& batch, const ModelConfig& config) {
  for (size_t t = 0; t < batch.tokens(); ++t) {
    if (is_below(batch.ids_T[t], config.vocab_size)) continue;
    throw Error(ErrorCode::kTokenId, place_of(batch, t),
                fmt::format("token id: expected 0 to {}, got {}", config.vocab_size - 1, batch.ids_T[t]));
  }
}

void check_types(const Batch& batch, const ModelConfig& config) {
  if (config.type_vocab_size == 0) return;
  for (size_t t = 0; t < batch.type_ids_T.size(); ++t) {
    if (is_below(batch.type_ids_T[t], config.type_vocab_size)) continue;
    refuse(place_of(batch, t),
           fmt::format("type id: expected 0 to {}, got {}", config.type_vocab_size - 1, batch.type_ids_T[t]));
  }
}

void check_positions(const Batch& batch, const ModelConfig& config) {
  if (!config.position_biased_input) return;
  const int64_t rows = config.max_position_embeddings;
  for (size_t t = 0; t < batch.position_ids_T.size(); ++t) {
    if (is_below(batch.position_ids_T[t], rows)) continue;
    refuse(place_of(batch, t),
           fmt::format("position: expected 0 to {} (max_position_embeddings {}), got {}; shorten the text", rows - 1,
                       rows, batch.position_ids_T[t]));
  }
  if (!batch.position_ids_T.empty()) return;
  for (size_t b = 0; b < batch.sequences(); ++b) {
    const int64_t length = batch.starts[b + 1] - batch.starts[b];
    if (length <= rows) continue;
    refuse(fmt::format("row {}", b),
           fmt::format("expected at most {} tokens (max_position_embeddings), got {}; shorten the text", rows, length));
  }
}

}  // namespace

void check_batch(const Batch& batch, const ModelConfig& config) {
  check_starts(batch);
  check_size("type_ids", batch.type_ids_T.size(), batch.tokens());
  check_size("position_ids", batch.position_ids_T.size(), batch.tokens());
  check_size("mask", batch.mask_T.size(), batch.tokens());
  check_ids(batch, config);
  check_types(batch, config);
  check_positions(batch, config);
}

void check_options(const ForwardOptions& options, const Batch& batch, const ModelConfig& config) {
  int64_t least = 0;
  for (const int32_t layer : options.layers) {
    if (layer < least || layer > config.num_hidden_layers) {
      refuse("layers", fmt::format("expected ascending numbers from 0 to {}, got {}", config.num_hidden_layers, layer));
    }
    least = int64_t{layer} + 1;
  }
  least = 0;
  for (const int32_t row : options.rows) {
    if (row < least || static_cast<size_t>(row) >= batch.tokens()) {
      refuse("rows", fmt::format("expected ascending numbers below {} tokens, got {}", batch.tokens(), row));
    }
    least = int64_t{row} + 1;
  }
}

}  // namespace deberta

// Checks of batches and options; the kernels trust what passes here.
#include "engine/batch_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "deberta/error.h"

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

int64_t length_of(const Batch& batch, size_t sequence) {
  return int64_t{batch.starts[sequence + 1]} - batch.starts[sequence];
}

void check_positions(const Batch& batch, const ModelConfig& config) {
  const int64_t rows = config.max_position_embeddings;
  for (size_t t = 0; t < batch.position_ids_T.size(); ++t) {
    if (is_below(batch.position_ids_T[t], rows)) continue;
    refuse(place_of(batch, t),
           fmt::format("position: expected 0 to {} (max_position_embeddings {}), got {}; shorten the text", rows - 1,
                       rows, batch.position_ids_T[t]));
  }
  if (!batch.position_ids_T.empty()) return;
  for (size_t b = 0; b < batch.sequences(); ++b) {
    const int64_t length = length_of(batch, b);
    if (length <= rows) continue;
    refuse(fmt::format("row {}", b),
           fmt::format("expected at most {} tokens (max_position_embeddings), got {}; shorten the text", rows, length));
  }
}

void check_masks(const Batch& batch) {
  if (batch.masks_B.empty()) return;
  if (batch.masks_B.size() != batch.sequences()) {
    refuse("batch", fmt::format("3-D masks: expected one for each of {} sequences, got {}", batch.sequences(),
                                batch.masks_B.size()));
  }
  for (size_t b = 0; b < batch.sequences(); ++b) {
    const auto words = static_cast<size_t>(length_of(batch, b) * ((length_of(batch, b) + 63) / 64));
    if (batch.masks_B[b].empty() || batch.masks_B[b].size() == words) continue;
    refuse(fmt::format("row {}", b), fmt::format("3-D mask: expected {} words for {} tokens, got {}", words,
                                                 length_of(batch, b), batch.masks_B[b].size()));
  }
}

void check_given_buckets(const Batch& batch, const ModelConfig& config) {
  if (batch.given_buckets_LL.empty() && batch.given_length == 0) return;
  if (!config.relative_attention) refuse("batch", "relative positions: the model has no relative attention");
  const auto length = static_cast<size_t>(std::max(batch.given_length, 0));
  if (batch.given_buckets_LL.size() != length * length) {
    refuse("batch", fmt::format("relative positions: expected {} x {} bucket numbers, got {}", batch.given_length,
                                batch.given_length, batch.given_buckets_LL.size()));
  }
  for (size_t b = 0; b < batch.sequences(); ++b) {
    if (length_of(batch, b) <= batch.given_length) continue;
    refuse(fmt::format("row {}", b), fmt::format("relative positions: expected at most {} tokens, got {}",
                                                 batch.given_length, length_of(batch, b)));
  }
}

void check_rows(const ForwardOptions& options, const Batch& batch, const HeadFacts& head) {
  if (options.rows.empty()) return;
  if (!head.takes_rows()) refuse("rows", fmt::format("expected a head that reads tokens, got the head {}", head.name));
  int64_t least = 0;
  for (const int32_t row : options.rows) {
    if (row < least || as_size(row) >= batch.tokens()) {
      refuse("rows", fmt::format("expected ascending numbers below {} tokens, got {}", batch.tokens(), row));
    }
    least = int64_t{row} + 1;
  }
}

void check_group(const TokenGroup& group, const Batch& batch, const HeadFacts& head, size_t number) {
  const std::string where = fmt::format("group {}", number);
  if (group.sequence < 0 || as_size(group.sequence) >= batch.sequences()) {
    refuse(where, fmt::format("expected a sequence below {}, got {}", batch.sequences(), group.sequence));
  }
  if (head.groups == HeadGroups::kFirstAndLast && group.rows.size() != 2)
    refuse(where, fmt::format("expected the first and the last row of a span, got {} rows", group.rows.size()));
  const int32_t begin = batch.starts[as_size(group.sequence)], end = batch.starts[as_size(group.sequence) + 1];
  for (const int32_t row : group.rows) {
    if (row >= begin && row < end) continue;
    refuse(where, fmt::format("expected rows {} to {} of sequence {}, got {}", begin, end - 1, group.sequence, row));
  }
}

void check_groups(const ForwardOptions& options, const Batch& batch, const HeadFacts& head) {
  if (options.groups.empty()) return;
  if (!head.takes_groups())
    refuse("groups", fmt::format("expected a head that takes groups of rows, got the head {}", head.name));
  if (!options.rows.empty()) refuse("groups", "expected rows or groups, got both");
  for (size_t n = 0; n < options.groups.size(); ++n) check_group(options.groups[n], batch, head, n);
}

void check_labelled_words(const LabelledWords& words, const Batch& batch, size_t sequence) {
  const std::string where = fmt::format("entities of row {}", sequence);
  const int32_t begin = batch.starts[sequence], end = batch.starts[sequence + 1];
  for (const std::vector<int32_t>* rows : {&words.labels, &words.pieces}) {
    for (const int32_t row : *rows) {
      if (row >= begin && row < end) continue;
      refuse(where, fmt::format("expected rows {} to {}, got {}", begin, end - 1, row));
    }
  }
  const std::vector<int32_t>& starts = words.word_starts;
  const bool fits = starts.empty() ? words.pieces.empty()
                                   : starts.front() == 0 && std::ranges::is_sorted(starts) &&
                                         as_size(starts.back()) == words.pieces.size();
  if (!fits) refuse(where, fmt::format("expected ascending starts of words in {} pieces", words.pieces.size()));
}

void check_entities(const ForwardOptions& options, const Batch& batch, const HeadFacts& head) {
  if (options.entities.empty()) return;
  if (!head.takes_labelled_words())
    refuse("entities", fmt::format("expected a head that reads labels and words, got the head {}", head.name));
  if (options.entities.size() != batch.sequences())
    refuse("entities", fmt::format("expected labels and words of each of {} sequences, got {}", batch.sequences(),
                                   options.entities.size()));
  for (size_t b = 0; b < batch.sequences(); ++b) check_labelled_words(options.entities[b], batch, b);
}

}  // namespace

void check_batch(const Batch& batch, const Variant& variant, const ForwardOptions& options) {
  check_starts(batch);
  check_size("type_ids", batch.type_ids_T.size(), batch.tokens());
  check_size("position_ids", batch.position_ids_T.size(), batch.tokens());
  check_size("mask", batch.mask_T.size(), batch.tokens());
  check_masks(batch);
  check_given_buckets(batch, variant.config);
  check_ids(batch, variant.config);
  check_types(batch, variant.config);
  const bool runs_decoder = variant.has_mask_decoder && asks_mask_decoder(options);
  if (variant.config.position_biased_input || runs_decoder) check_positions(batch, variant.config);
}

void check_options(const ForwardOptions& options, const Batch& batch, const Variant& variant) {
  const int64_t layers = variant.config.num_hidden_layers;
  int64_t least = 0;
  for (const int32_t layer : options.layers) {
    if (layer < least || layer > layers) {
      refuse("layers", fmt::format("expected ascending numbers from 0 to {}, got {}", layers, layer));
    }
    least = int64_t{layer} + 1;
  }
  const bool runs_for_all = variant.has_mask_decoder && asks_mask_decoder(options) && options.rows.empty();
  if (options.wants_decoder_scores && !runs_for_all)
    refuse("wants_decoder_scores", "expected a mask decoder that runs for all rows, got none");
  check_rows(options, batch, *variant.head.facts);
  check_groups(options, batch, *variant.head.facts);
  check_entities(options, batch, *variant.head.facts);
}

}  // namespace deberta

// Packed sequences: the only form of input below this line. No padding exists.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace deberta {

// T tokens of B sequences, one after the other. Row t belongs to sequence b when starts[b] <= t < starts[b + 1].
struct Batch {
  std::vector<int32_t> ids_T;
  std::vector<int32_t> starts;          // cu_seqlens [B + 1], starts[0] = 0
  std::vector<int32_t> type_ids_T;      // empty: all 0
  std::vector<int32_t> position_ids_T;  // rows of the absolute table; empty: 0 .. L-1 in each sequence
  std::vector<uint8_t> mask_T;          // 0: a masked token kept in the pack so that distances stay true; empty: none
  int32_t longest = 0;                  // tokens of the longest sequence

  // 3-D masks [L, L], one for each sequence: bit j % 64 of word i * ceil(L / 64) + j / 64 lets query i see key j. An
  // empty one lets all; no masks at all: none. mask_T holds beside them. A token that no query sees is masked as an
  // input (its embedding is zero), but still asks as a query.
  std::vector<std::vector<uint64_t>> masks_B;
  // Relative positions given instead of i - j: bucket numbers [given_length, given_length] of query i and key j, one
  // matrix for all sequences, at least as long as the longest. Empty: from the distances.
  std::vector<int32_t> given_buckets_LL;
  int32_t given_length = 0;

  size_t tokens() const { return ids_T.size(); }
  size_t sequences() const { return starts.empty() ? 0 : starts.size() - 1; }

  // Appends one sequence without holes. Throws kInput when type_ids is neither empty nor as long as ids.
  void add(std::span<const int32_t> ids, std::span<const int32_t> type_ids = {});
};

// Padded rows [B, L] as model inputs come from elsewhere. mask 0 at the ends is padding and is left out; a 0 between
// two tokens is a hole and stays as a masked key. rows[t] = b * L + l of each packed row. A wholly masked row becomes a
// sequence of length 0. Where a 3-D mask is given nothing is left out, and with given relative positions nothing before
// the last unmasked token, so that rows of the matrices stay those of the tokens.
struct PackedRows {
  Batch batch;
  std::vector<int32_t> rows_T;
};
struct PaddedInput {
  size_t sequences = 0;
  size_t length = 0;
  std::span<const int32_t> ids_BL;
  std::span<const uint8_t> mask_BL = {};          // empty: all 1
  std::span<const int32_t> type_ids_BL = {};      // empty: all 0
  std::span<const int32_t> position_ids_BL = {};  // empty: 0 .. L-1
  std::span<const uint8_t> mask_BLL = {};         // 3-D: row of the query, column of the key; instead of mask_BL
  std::span<const int32_t> buckets_LL = {};       // relative positions given, for all sequences
  bool keeps_padding = false;                     // nothing is left out: padding stays as masked tokens
};
PackedRows pack(const PaddedInput& input);

}  // namespace deberta

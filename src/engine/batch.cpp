// Packing: sequences one after the other, padding left out, holes kept.
#include "deberta/model.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <string>

#include "deberta/error.h"

namespace deberta {
namespace {

[[noreturn]] void refuse(std::string message) {
  throw Error(ErrorCode::kInput, "batch", std::move(message));
}

void check_room(size_t tokens, size_t more) {
  constexpr size_t kMost = std::numeric_limits<int32_t>::max();
  if (more > kMost - tokens) refuse(fmt::format("expected at most {} tokens, got {}", kMost, tokens + more));
}

void check_size(const char* name, size_t size, size_t expected, bool may_be_empty) {
  if (size == expected || (may_be_empty && size == 0)) return;
  refuse(fmt::format("{}: expected {} elements, got {}", name, expected, size));
}

void check_padded(const PaddedInput& input) {
  if (input.length != 0 && input.sequences > std::numeric_limits<int32_t>::max() / input.length) {
    refuse(fmt::format("expected fewer tokens than {} sequences of {}", input.sequences, input.length));
  }
  const size_t count = input.sequences * input.length;
  check_size("ids", input.ids_BL.size(), count, false);
  check_size("mask", input.mask_BL.size(), count, true);
  check_size("type_ids", input.type_ids_BL.size(), count, true);
  check_size("position_ids", input.position_ids_BL.size(), count, true);
  check_size("3-D mask", input.mask_BLL.size(), count * input.length, true);
  check_size("relative positions", input.buckets_LL.size(), input.length * input.length, true);
  if (!input.mask_BL.empty() && !input.mask_BLL.empty()) refuse("mask: expected two dimensions or three, got both");
}

// The tokens kept from one padded row: from its first to its last unmasked one, or from the start of the row when given
// relative positions count from there.
struct Kept {
  size_t begin = 0;
  size_t end = 0;
};
Kept kept_tokens(const PaddedInput& input, size_t sequence) {
  if (input.mask_BL.empty() || input.keeps_padding) return {0, input.length};
  const auto mask_L = input.mask_BL.subspan(sequence * input.length, input.length);
  Kept kept{0, input.length};
  while (kept.end > 0 && mask_L[kept.end - 1] == 0) --kept.end;
  if (!input.buckets_LL.empty()) return kept;
  while (kept.begin < kept.end && mask_L[kept.begin] == 0) ++kept.begin;
  return kept;
}

void append_row(PackedRows& packed, const PaddedInput& input, size_t row, size_t position) {
  Batch& batch = packed.batch;
  packed.rows_T.push_back(static_cast<int32_t>(row));
  batch.ids_T.push_back(input.ids_BL[row]);
  batch.mask_T.push_back(input.mask_BL.empty() || input.mask_BL[row] != 0 ? 1 : 0);
  if (!input.type_ids_BL.empty()) batch.type_ids_T.push_back(input.type_ids_BL[row]);
  batch.position_ids_T.push_back(input.position_ids_BL.empty() ? static_cast<int32_t>(position)
                                                               : input.position_ids_BL[row]);
}

// Rows of L bits, each starting at a new word.
std::vector<uint64_t> pack_bits(std::span<const uint8_t> mask_LL, size_t length) {
  const size_t words = (length + 63) / 64;
  std::vector<uint64_t> bits(length * words);
  for (size_t at = 0; at < mask_LL.size(); ++at) {
    const size_t i = at / length, j = at % length;
    if (mask_LL[at] != 0) bits[i * words + j / 64] |= uint64_t{1} << (j % 64);
  }
  return bits;
}

void append_matrices(Batch& batch, const PaddedInput& input) {
  const size_t size = input.length * input.length;
  for (size_t b = 0; b < input.sequences && !input.mask_BLL.empty(); ++b) {
    batch.masks_B.push_back(pack_bits(input.mask_BLL.subspan(b * size, size), input.length));
  }
  batch.given_buckets_LL.assign(input.buckets_LL.begin(), input.buckets_LL.end());
  if (!input.buckets_LL.empty()) batch.given_length = static_cast<int32_t>(input.length);
}

void append_zeros_or(std::vector<int32_t>& values, size_t before, size_t count, std::span<const int32_t> input) {
  if (values.empty() && input.empty()) return;
  values.resize(before);
  if (input.empty()) {
    values.resize(before + count);
  } else {
    values.insert(values.end(), input.begin(), input.end());
  }
}

}  // namespace

void Batch::add(std::span<const int32_t> ids, std::span<const int32_t> type_ids) {
  const size_t before = tokens();
  check_size("type_ids", type_ids.size(), ids.size(), true);
  check_room(before, ids.size());
  if (starts.empty()) starts.push_back(0);
  ids_T.insert(ids_T.end(), ids.begin(), ids.end());
  append_zeros_or(type_ids_T, before, ids.size(), type_ids);
  if (!mask_T.empty()) mask_T.resize(tokens(), 1);
  if (!masks_B.empty()) masks_B.emplace_back();
  if (!position_ids_T.empty()) {
    for (size_t l = 0; l < ids.size(); ++l) position_ids_T.push_back(static_cast<int32_t>(l));
  }
  starts.push_back(static_cast<int32_t>(tokens()));
  longest = std::max(longest, static_cast<int32_t>(ids.size()));
}

PackedRows pack(const PaddedInput& input) {
  check_padded(input);
  PackedRows packed;
  Batch& batch = packed.batch;
  batch.starts.push_back(0);
  bool has_holes = false;
  bool has_positions = !input.position_ids_BL.empty();
  for (size_t b = 0; b < input.sequences; ++b) {
    const Kept kept = kept_tokens(input, b);
    for (size_t l = kept.begin; l < kept.end; ++l) {
      append_row(packed, input, b * input.length + l, l);
      has_holes = has_holes || batch.mask_T.back() == 0;
    }
    has_positions = has_positions || (kept.begin > 0 && kept.begin < kept.end);
    batch.starts.push_back(static_cast<int32_t>(batch.tokens()));
    batch.longest = std::max(batch.longest, static_cast<int32_t>(kept.end - kept.begin));
  }
  if (!has_holes) batch.mask_T.clear();
  if (!has_positions) batch.position_ids_T.clear();
  append_matrices(batch, input);
  return packed;
}

}  // namespace deberta

// The table of rows that the kernels read, for users.
#include <fmt/core.h>

#include "deberta/analysis.h"
#include "kernels/rel_lut.h"

namespace deberta {

std::vector<int32_t> relative_position_rows(const ModelConfig& config, int64_t length, DistanceRule rule) {
  constexpr int64_t kMaxLength = int64_t{1} << 20;
  if (!config.relative_attention)
    throw Error(ErrorCode::kInput, "relative_attention", "expected true, got false: the model has no relative table");
  if (length < 1 || length > kMaxLength)
    throw Error(ErrorCode::kInput, "length", fmt::format("expected 1..{}, got {}", kMaxLength, length));
  const RelLut lut({config.position_buckets, config.max_relative_positions, rule == DistanceRule::kOriginal, length});
  std::vector<int32_t> rows;
  for (int64_t distance = 1 - length; distance < length; ++distance) rows.push_back(lut.row(distance));
  return rows;
}

}  // namespace deberta

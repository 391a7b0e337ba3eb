// The table of rows that the kernels read, for users.
#include <fmt/core.h>

#include "config/extraction_config.h"
#include "deberta/analysis.h"
#include "kernels/rel_lut.h"

namespace deberta {

std::vector<int32_t> relative_position_rows(const ModelConfig& config, int64_t length, DistanceRule rule) {
  constexpr int64_t kMaxLength = int64_t{1} << 20;
  if (!config.relative_attention)
    throw Error(ErrorCode::kInput, "relative_attention", "expected true, got false: the model has no relative table");
  if (length < 1 || length > kMaxLength)
    throw Error(ErrorCode::kInput, "length", fmt::format("expected 1..{}, got {}", kMaxLength, length));
  const RelLut lut({config.position_buckets, config.max_relative_positions,
                    distance_rule(config, rule) == DistanceRule::kOriginal, length});
  std::vector<int32_t> rows;
  for (int64_t distance = 1 - length; distance < length; ++distance) rows.push_back(lut.row(distance));
  return rows;
}

std::vector<int32_t> relative_index(const ModelConfig& config, int64_t length, DistanceRule rule) {
  constexpr int64_t kMostIndexed = 2048;
  if (length > kMostIndexed)
    throw Error(ErrorCode::kInput, "length", fmt::format("expected 1..{}, got {}", kMostIndexed, length));
  const std::vector<int32_t> rows = relative_position_rows(config, length, rule);
  std::vector<int32_t> index_LL;
  for (int64_t query = 0; query < length; ++query) {
    for (int64_t key = 0; key < length; ++key) index_LL.push_back(rows[static_cast<size_t>(query - key + length - 1)]);
  }
  return index_LL;
}

}  // namespace deberta

// The bucket formula (model.md#relative-positions) and the tables made from it.
#include "kernels/rel_lut.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "deberta/error.h"

namespace deberta {
namespace {

int64_t span_of(const RelLutParams& p) {
  return p.position_buckets > 0 ? p.position_buckets : p.max_relative_positions;
}

// transformers takes the logarithms of a tensor of floats, the original of doubles: a few distances differ by a bucket.
template <typename Real>
int64_t logarithmic_bucket(int64_t size, int64_t mid, int64_t last) {
  const Real border = std::log(static_cast<Real>(static_cast<double>(last) / static_cast<double>(mid)));
  const Real ratio = std::log(static_cast<Real>(size) / static_cast<Real>(mid)) / border;
  return static_cast<int64_t>(std::ceil(ratio * static_cast<Real>(mid - 1))) + mid;
}

// b(r): the distance itself near the diagonal, logarithmic beyond half the buckets.
int64_t bucket_of(const RelLutParams& p, int64_t distance) {
  if (p.position_buckets <= 0) return distance;
  const int64_t last = p.max_relative_positions - 1;
  const int64_t clamped = p.clamps_distance ? std::clamp(distance, -last, last) : distance;
  const int64_t mid = p.position_buckets / 2;
  const int64_t size = std::abs(clamped);
  if (size <= mid) return clamped;
  const int64_t bucket =
      p.clamps_distance ? logarithmic_bucket<double>(size, mid, last) : logarithmic_bucket<float>(size, mid, last);
  return clamped < 0 ? -bucket : bucket;
}

int64_t rows_of(const RelLutParams& p) {
  return p.kept_rows > 0 ? p.kept_rows : 2 * span_of(p);
}

int64_t row_of(const RelLutParams& p, int64_t distance) {
  const int64_t rows = rows_of(p);
  return std::clamp<int64_t>(bucket_of(p, distance) + rows / 2, 0, rows - 1);
}

void check_params(const RelLutParams& p) {
  const auto refuse = [](const std::string& message) {
    throw Error(ErrorCode::kUnsupported, "relative table", message);
  };
  if (p.max_relative_positions < 1 || p.max_length < 0) refuse("expected positive sizes");
  if (2 * span_of(p) > std::numeric_limits<int16_t>::max()) {
    refuse(fmt::format("expected at most {} rows, got {}", std::numeric_limits<int16_t>::max(), 2 * span_of(p)));
  }
  if (p.kept_rows < 0 || p.kept_rows > 2 * span_of(p) || p.kept_rows % 2 != 0) {
    refuse(fmt::format("kept_rows: expected an even number of the {} rows, got {}", 2 * span_of(p), p.kept_rows));
  }
  if (p.position_buckets <= 0) return;
  if (p.position_buckets < 2) refuse(fmt::format("position_buckets: expected at least 2, got {}", p.position_buckets));
  if (!p.clamps_distance && p.max_relative_positions - 1 == p.position_buckets / 2) {  // a division by log(1)
    refuse(
        fmt::format("distance=hf: expected max_relative_positions other than half of position_buckets and one, got {}",
                    p.max_relative_positions));
  }
}

}  // namespace

int64_t reached_rows(const RelLutParams& params, int64_t longest) {
  constexpr int64_t kUnit = 16;  // halves are multiples of it: rows keep their pairs and lines
  check_params(params);
  int64_t farthest = 0;
  for (int64_t t = 1; t < longest; ++t) farthest = std::max(farthest, std::abs(bucket_of(params, t)));
  return std::min((farthest + 2 + kUnit - 1) / kUnit * kUnit, span_of(params)) * 2;
}

RelLut::RelLut(const RelLutParams& params) {
  check_params(params);
  rows_ = rows_of(params);
  extent_ = params.max_length + kMargin;
  const auto lanes = static_cast<int64_t>(kLanes);
  std::vector<int16_t> wide;  // for |t| <= extent + lanes
  for (int64_t t = -extent_ - lanes; t <= extent_ + lanes; ++t) {
    wide.push_back(static_cast<int16_t>(row_of(params, t)));
  }
  row_.assign(wide.begin() + lanes, wide.end() - lanes);
  find_limits(params);
  build_perms(wide);
}

void RelLut::find_limits(const RelLutParams& params) {
  const int64_t last = params.max_relative_positions - 1;
  linear_limit_ = params.position_buckets > 0 ? std::min(params.position_buckets / 2, last) : last;
  linear_limit_ = std::min(linear_limit_, rows_ / 2 - 1);
  t_hi_ = extent_;
  while (t_hi_ > 0 && row(t_hi_ - 1) == row(extent_)) --t_hi_;
  t_lo_ = -extent_;
  while (t_lo_ < 0 && row(t_lo_ + 1) == row(-extent_)) ++t_lo_;
}

void RelLut::build_perms(const std::vector<int16_t>& wide) {
  for (size_t i = 1; i < wide.size(); ++i) {
    const int step = wide[i] - wide[i - 1];
    if (step < 0 || step > 1) has_unit_steps_ = false;
  }
  if (!has_unit_steps_) return;
  perm_q_.resize(row_.size());
  perm_k_.resize(row_.size());
  for (size_t i = 0; i < row_.size(); ++i) {
    const int16_t* here = &wide[i + kLanes];
    for (size_t lane = 0; lane < kLanes; ++lane) {
      perm_q_[i][lane] = static_cast<uint8_t>(here[lane] - here[0]);
      perm_k_[i][lane] = static_cast<uint8_t>(here[0] - *(here - lane));
    }
  }
}

}  // namespace deberta

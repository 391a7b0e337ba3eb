// The bucket formula (algorithm.md 4) and the tables made from it.
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

int64_t row_of(const RelLutParams& p, int64_t distance) {
  const int64_t span = span_of(p);
  return std::clamp<int64_t>(bucket_of(p, distance) + span, 0, 2 * span - 1);
}

void check_params(const RelLutParams& p) {
  const auto refuse = [](const std::string& message) {
    throw Error(ErrorCode::kUnsupported, "relative table", message);
  };
  if (p.max_relative_positions < 1 || p.max_length < 0) refuse("expected positive sizes");
  if (2 * span_of(p) > std::numeric_limits<int16_t>::max()) {
    refuse(fmt::format("expected at most {} rows, got {}", std::numeric_limits<int16_t>::max(), 2 * span_of(p)));
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

RelLut::RelLut(const RelLutParams& params) {
  check_params(params);
  rows_ = 2 * span_of(params);
  extent_ = params.max_length + kMargin;
  row_.resize(static_cast<size_t>(2 * extent_ + 1));
  for (int64_t t = -extent_; t <= extent_; ++t) row_[at(t)] = static_cast<int16_t>(row_of(params, t));
  find_limits(params);
  build_perms(params);
}

void RelLut::find_limits(const RelLutParams& params) {
  const int64_t last = params.max_relative_positions - 1;
  linear_limit_ = params.position_buckets > 0 ? std::min(params.position_buckets / 2, last) : last;
  t_hi_ = extent_;
  while (t_hi_ > 0 && row(t_hi_ - 1) == row(extent_)) --t_hi_;
  t_lo_ = -extent_;
  while (t_lo_ < 0 && row(t_lo_ + 1) == row(-extent_)) ++t_lo_;
}

void RelLut::build_perms(const RelLutParams& params) {
  const int64_t margin = static_cast<int64_t>(kLanes);
  for (int64_t t = -extent_ - margin; t < extent_ + margin; ++t) {
    const int64_t step = row_of(params, t + 1) - row_of(params, t);
    if (step < 0 || step > 1) has_unit_steps_ = false;
  }
  if (!has_unit_steps_) return;
  perm_q_.resize(row_.size());
  perm_k_.resize(row_.size());
  for (int64_t t = -extent_; t <= extent_; ++t) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const auto l = static_cast<int64_t>(lane);
      perm_q_[at(t)][lane] = static_cast<uint8_t>(row_of(params, t + l) - row(t));
      perm_k_[at(t)][lane] = static_cast<uint8_t>(row(t) - row_of(params, t - l));
    }
  }
}

}  // namespace deberta

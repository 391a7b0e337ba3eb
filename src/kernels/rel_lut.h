// Rows of the relative table by distance t = i - j (model.md#relative-positions): the only place that knows the bucket
// formula. Kernels of every version and device read these fields and nothing else. Built on the host as the original or
// transformers does, in double or in float: an error of 1e-7 in a logarithm moves a row.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace deberta {

struct RelLutParams {
  int64_t position_buckets = -1;         // < 1: none, the row is the clamped distance (v1)
  int64_t max_relative_positions = 512;  // M
  bool clamps_distance = true;           // the original clamps t to +-(M - 1) before bucketing, HF does not
  int64_t max_length = 512;              // L_max: tables hold |t| <= L_max + kMargin
  int64_t kept_rows = 0;  // the middle rows of the table that a caller has, even, as reached_rows(); 0: all
};

// Rows in the middle of the table, enough for sequences of up to `longest` tokens: none of their distances falls on the
// outermost two unless they are those of the table. A multiple of 32, or all rows. Throws as RelLut.
int64_t reached_rows(const RelLutParams& params, int64_t longest);

class RelLut {
 public:
  static constexpr int64_t kMargin = 128;  // lanes and tiles overrun the sequence
  static constexpr size_t kLanes = 16;
  using Perm = std::array<uint8_t, kLanes>;

  // Throws kUnsupported for settings whose formula has no value (fewer than 2 buckets, distances beyond M without the
  // clamp when M - 1 is not above half the buckets) or whose rows do not fit into 16 bits.
  explicit RelLut(const RelLutParams& params);

  int64_t rows() const { return rows_; }      // R
  int64_t extent() const { return extent_; }  // the fields below are defined for |t| <= extent
  int64_t max_length() const { return extent_ - kMargin; }

  int32_t row(int64_t t) const { return row_[at(t)]; }

  // 16 queries i..i+15 against one key: row(t + l) = base_q(t) + perm_q(t)[l].
  int32_t base_q(int64_t t) const { return row(t); }
  const Perm& perm_q(int64_t t) const { return perm_q_[at(t)]; }
  // One query against 16 keys j..j+15, reversed rows so that the index grows with j:
  // R - 1 - row(t - l) = base_k(t) + perm_k(t)[l].
  int32_t base_k(int64_t t) const { return static_cast<int32_t>(rows_) - 1 - row(t); }
  const Perm& perm_k(int64_t t) const { return perm_k_[at(t)]; }

  // The same from distance 0, for kernels: row(t), and 16 bytes for each t. Perms need unit steps.
  const int16_t* rows_from_0() const { return row_.data() + extent_; }
  const uint8_t* perms_q_from_0() const { return perm_q_.data()->data() + kLanes * at(0); }
  const uint8_t* perms_k_from_0() const { return perm_k_.data()->data() + kLanes * at(0); }

  // row(t + 1) - row(t) is 0 or 1 everywhere: perms stay below 16 and a tile touches one window of rows. False for
  // tables whose half is almost all buckets; then perms are not defined and only the reference may run.
  bool has_unit_steps() const { return has_unit_steps_; }

  // row(t) = t + R / 2 for |t| <= linear_limit.
  int64_t linear_limit() const { return linear_limit_; }
  // row(t) is constant for t >= t_hi and for t <= t_lo, within the extent.
  int64_t t_hi() const { return t_hi_; }
  int64_t t_lo() const { return t_lo_; }

 private:
  size_t at(int64_t t) const { return static_cast<size_t>(t + extent_); }
  void find_limits(const RelLutParams& params);
  void build_perms(const std::vector<int16_t>& wide);

  int64_t rows_ = 0;
  int64_t extent_ = 0;
  int64_t linear_limit_ = 0;
  int64_t t_hi_ = 0;
  int64_t t_lo_ = 0;
  bool has_unit_steps_ = true;
  std::vector<int16_t> row_;
  std::vector<Perm> perm_q_;
  std::vector<Perm> perm_k_;
};

}  // namespace deberta

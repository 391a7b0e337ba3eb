#include "eval/row_part.h"

#include <cmath>

#include "base/philox.h"

namespace deberta {

bool PartPicker::takes(std::optional<uint64_t> group) {
  ++rows_;
  if (!part_) return true;
  if (!group || group != group_) {
    group_ = group;
    holds_out_ = is_held_out(units_++);
  }
  const bool is_taken = holds_out_ == part_->is_held_out;
  left_out_ += !is_taken;
  return is_taken;
}

bool PartPicker::is_held_out(uint64_t unit) const {
  const double share = part_->share;
  const auto first_of = [&](double block) { return static_cast<uint64_t>(std::ceil(block / share)); };
  // Blocks begin at whole numbers, so that they have 1 / share units in the mean.
  auto block = static_cast<uint64_t>(std::floor(static_cast<double>(unit) * share));
  while (first_of(static_cast<double>(block)) > unit) --block;
  while (first_of(static_cast<double>(block + 1)) <= unit) ++block;
  const uint64_t first = first_of(static_cast<double>(block));
  const uint64_t size = first_of(static_cast<double>(block + 1)) - first;
  const PhiloxKey key{static_cast<uint32_t>(part_->seed), static_cast<uint32_t>(part_->seed >> 32)};
  const PhiloxCounter bits = philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 1}, key);
  return unit == first + (uint64_t{bits[0]} * size >> 32);
}

}  // namespace deberta

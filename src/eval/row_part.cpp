// Draws the held-out row of each block, or the folds of each stratum, from Philox: no state but counters.
#include "eval/row_part.h"

#include <cmath>
#include <utility>

#include "base/philox.h"

namespace deberta {

bool PartPicker::takes(const RowKey& row) {
  ++rows_;
  if (!part_) return true;
  if (row.group) {
    auto known = groups_.find(*row.group);
    if (known == groups_.end()) known = groups_.emplace(*row.group, draw(row)).first;
    holds_out_ = known->second;
    neighbours_.reset();
  } else if (!row.neighbours || row.neighbours != neighbours_) {
    neighbours_ = row.neighbours;
    holds_out_ = draw(row);
  }
  const bool is_taken = holds_out_ == part_->is_held_out;
  left_out_ += !is_taken;
  return is_taken;
}

// Whether the next unit is held out.
bool PartPicker::draw(const RowKey& row) {
  if (part_->folds == 0) return is_held_out(units_++);
  const auto number = static_cast<uint32_t>(strata_.size());
  Stratum& stratum = strata_.try_emplace(row.stratum, Stratum{number}).first->second;
  const bool holds_out = fold_of(stratum) == part_->fold;
  ++stratum.units;
  return holds_out;
}

// Each fold gets one unit of every stretch of `folds` units; their order within a stretch is that of random numbers.
size_t PartPicker::fold_of(const Stratum& stratum) const {
  const uint64_t stretch = stratum.units / part_->folds;
  const size_t position = stratum.units % part_->folds;
  const PhiloxKey key{static_cast<uint32_t>(part_->seed), static_cast<uint32_t>(part_->seed >> 32)};
  const auto number_of = [&](size_t i) {
    const PhiloxCounter at{static_cast<uint32_t>(stretch), static_cast<uint32_t>(stretch >> 32), stratum.number,
                           2 + static_cast<uint32_t>(i / 4)};
    return std::pair(philox(at, key)[i % 4], i);
  };
  size_t fold = 0;
  for (size_t i = 0; i < part_->folds; ++i) fold += number_of(i) < number_of(position);
  return fold;
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

// Entities that are counted: those that are right, those that were found, and those that are both.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/evaluation.h"

namespace deberta {

// 0 of nothing.
double share_of(uint64_t count, uint64_t whole);

struct EntityCounts {
  uint64_t gold = 0;
  uint64_t predicted = 0;
  uint64_t both = 0;

  void add(const EntityCounts& other);
  // "precision", "recall" or "f1". Throws kInternal for another name.
  double value(std::string_view metric) const;
};

// precision, recall, f1 and support of one type: "f1/PER".
void add_metrics(const std::string& type, const EntityCounts& counts, std::vector<Metric>& metrics);

}  // namespace deberta

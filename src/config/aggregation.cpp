// Both directions are read from the one table in the header.
#include "config/aggregation.h"

#include <algorithm>

namespace deberta {

std::optional<Aggregation> aggregation_named(std::string_view name) {
  const auto entry = std::ranges::find(kAggregations, name, [](const auto& row) { return row.first; });
  return entry == kAggregations.end() ? std::nullopt : std::optional(entry->second);
}

std::string_view to_string(Aggregation aggregation) {
  return std::ranges::find(kAggregations, aggregation, [](const auto& row) { return row.second; })->first;
}

}  // namespace deberta

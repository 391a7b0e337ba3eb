// Shares of sums.
#include "metrics/entity_counts.h"

#include <fmt/format.h>

#include "deberta/error.h"

namespace deberta {

double share_of(uint64_t count, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(count) / static_cast<double>(whole);
}

void EntityCounts::add(const EntityCounts& other) {
  gold += other.gold;
  predicted += other.predicted;
  both += other.both;
}

double EntityCounts::value(std::string_view metric) const {
  if (metric == "precision") return share_of(both, predicted);
  if (metric == "recall") return share_of(both, gold);
  if (metric == "f1") return share_of(2 * both, gold + predicted);
  throw Error(ErrorCode::kInternal, "metrics", fmt::format("unknown metric {}", metric));
}

void add_metrics(const std::string& type, const EntityCounts& counts, std::vector<Metric>& metrics) {
  for (const char* name : {"precision", "recall", "f1"})
    metrics.push_back({fmt::format("{}/{}", name, type), counts.value(name)});
  metrics.push_back({"support/" + type, static_cast<double>(counts.gold)});
  metrics.back().is_sampled = false;
}

}  // namespace deberta

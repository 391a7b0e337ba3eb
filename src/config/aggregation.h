// The names of the ways in which pieces become entities, as transformers has them.
#pragma once
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "deberta/config.h"

namespace deberta {

constexpr std::array<std::pair<std::string_view, Aggregation>, 5> kAggregations = {{{"none", Aggregation::kNone},
                                                                                    {"simple", Aggregation::kSimple},
                                                                                    {"first", Aggregation::kFirst},
                                                                                    {"average", Aggregation::kAverage},
                                                                                    {"max", Aggregation::kMax}}};

// Nothing for another name.
std::optional<Aggregation> aggregation_named(std::string_view name);
std::string_view to_string(Aggregation aggregation);

}  // namespace deberta

// Names of the kinds, and access to the values.
#include "base/pickle_value.h"

#include <array>

namespace deberta {
std::string_view to_string(PickleKind kind) {
  constexpr std::array<std::string_view, 15> kNames = {"None",        "bool",   "integer", "float",  "string",
                                                       "value",       "global", "tuple",   "list",   "dict",
                                                       "OrderedDict", "set",    "storage", "tensor", "parameter"};
  return kNames.at(static_cast<size_t>(kind));
}

std::span<const PickleValue> Pickle::items(const PickleValue& value) const {
  if (value.kind < PickleKind::kTuple) return {};
  return objects_.at(static_cast<size_t>(value.number));
}

}  // namespace deberta

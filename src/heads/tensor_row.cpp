// The number of a layer, in a name.
#include "heads/tensor_row.h"

#include "base/checked.h"

namespace deberta {

bool TensorRow::names(std::string_view canonical_name) const {
  if (!is_of_layers()) return name == canonical_name;
  const size_t mark = name.find(kLayerMark);
  const std::string_view before = name.substr(0, mark), after = name.substr(mark + kLayerMark.size());
  if (canonical_name.size() <= before.size() + after.size()) return false;
  if (!canonical_name.starts_with(before) || !canonical_name.ends_with(after)) return false;
  canonical_name.remove_prefix(before.size());
  canonical_name.remove_suffix(after.size());
  return parse_number<uint32_t>(canonical_name).has_value();
}

}  // namespace deberta

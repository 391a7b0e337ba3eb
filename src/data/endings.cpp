// Compares the end of a path with a lower-case ending; the path may be in either case.
#include "data/endings.h"

#include <algorithm>

#include "base/ascii.h"

namespace deberta {
bool has_ending(std::string_view path, std::string_view ending) {
  return path.size() >= ending.size() &&
         std::equal(ending.begin(), ending.end(), path.end() - static_cast<std::ptrdiff_t>(ending.size()),
                    [](char a, char b) { return a == lower_case(b); });
}

}  // namespace deberta

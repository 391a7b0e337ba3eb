// A number with an optional unit, in seconds; whatever else stands there is a usage error.
#include "options/duration.h"

#include <cmath>
#include <optional>
#include <string>

#include "base/checked.h"
#include "deberta/error.h"

namespace deberta {
namespace {

// 0: no unit.
double seconds_of(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 60 * 60;
    case 'd':
      return 24 * 60 * 60;
    default:
      return 0;
  }
}

}  // namespace

double parse_duration(std::string_view text, std::string_view where) {
  const double unit = text.empty() ? 0 : seconds_of(text.back());
  const std::optional<double> number = parse_number<double>(unit > 0 ? text.substr(0, text.size() - 1) : text);
  if (number && *number >= 0 && std::isfinite(*number)) return unit > 0 ? *number * unit : *number;
  throw Error(ErrorCode::kUsage, std::string(where),
              "expected a time such as 90, 90m, 1.5h or 2d, got \"" + std::string(text) + "\"");
}

}  // namespace deberta

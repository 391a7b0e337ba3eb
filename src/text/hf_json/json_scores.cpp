// Multiplies the shortest digits by a power of ten, as the library does: last bits may differ from the double.
#include "text/hf_json/json_scores.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/checked.h"

namespace deberta {
namespace {

constexpr int kLargestPower = 308;

double power_of_ten(int exponent) {
  return *parse_number<double>("1e" + std::to_string(exponent));
}

}  // namespace

double library_score(double value) {
  std::array<char, 32> buffer{};
  const auto written =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value), std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<size_t>(written.ptr - buffer.data()));
  const size_t e = text.find('e');
  std::string digits(text.substr(0, e));
  const std::string_view power = text.substr(e + (text[e + 1] == '+' ? 2 : 1));
  int exponent = *parse_number<int>(power);
  if (digits.size() > 1) {
    exponent -= static_cast<int>(digits.size()) - 2;
    digits.erase(1, 1);  // the point
  }
  auto result = static_cast<double>(*parse_number<uint64_t>(digits));
  for (; exponent < -kLargestPower; exponent += kLargestPower) result /= power_of_ten(kLargestPower);
  result = exponent < 0 ? result / power_of_ten(-exponent) : result * power_of_ten(exponent);
  return std::signbit(value) ? -result : result;
}

}  // namespace deberta

// Numbers of heads. The program and its library index heads from 0, into [H, ...]; what people read and write (options,
// columns, JSON, charts, requests) counts them from 1, as it counts layers. Only these functions turn one into the
// other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace deberta {

constexpr int64_t head_number(size_t index) {
  return static_cast<int64_t>(index) + 1;
}

// `number`: from 1.
constexpr size_t head_index(size_t number) {
  return number - 1;
}

inline constexpr std::string_view kHeadRemedy = "heads count from 1";  // where a number is refused, such as 0

}  // namespace deberta

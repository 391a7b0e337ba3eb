// The order of many strings by bytes, faster than comparing them all: the first eight bytes are compared as a number.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace deberta {

// Positions in `texts`, sorted by text; equal texts stay in their order. At most 2^32 - 1 texts.
std::vector<uint32_t> text_order(std::span<const std::string_view> texts);

}  // namespace deberta

// Compressed streams made by the libraries' own writers, and some that few programs write.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "data/decompressor.h"

namespace deberta::test {

std::string compressed(std::string_view text, Compression compression);
// Streams whose decoder needs a window of 2^log bytes, a dictionary of `size_bytes`.
std::string zstd_with_window(std::string_view text, int log);
std::string xz_with_dictionary(std::string_view text, uint32_t size_bytes);

}  // namespace deberta::test

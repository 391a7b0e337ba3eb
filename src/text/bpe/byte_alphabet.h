// The alphabet of byte-level BPE as GPT-2 introduced it: vocabularies write each byte as one printable code point, so
// that a space is U+0120 and no piece holds white space.
#pragma once
#include <cstdint>
#include <optional>

namespace deberta {

char32_t to_alphabet(uint8_t byte);
// Nothing for a code point that is not in the alphabet.
std::optional<uint8_t> from_alphabet(char32_t point);

}  // namespace deberta

// A compiled table of replacements, looked up everywhere in a text: the last 64 bytes of the input, and some of ours.
#include "text/spm/charsmap.h"

#include <algorithm>

#include "base/utf8.h"
#include "fuzz.h"

namespace deberta::fuzz {
namespace {

void look_up(const Charsmap& map, std::string_view text) {
  for (size_t at = 0; at <= text.size(); ++at) {
    const Charsmap::Match match = map.longest_prefix(text.substr(at));
    FUZZ_REQUIRE(match.size_bytes <= text.size() - at);
    FUZZ_REQUIRE(is_valid_utf8(match.replacement));
  }
}

}  // namespace

void run(Bytes input) {
  const Charsmap map(to_text(input), "in");
  look_up(map, to_text(input.last(std::min<size_t>(64, input.size()))));
  look_up(map, "abc \xEF\xBC\xA1\xE2\x91\xA0\xCC\x81\xF0\x9F\x98\x80 \xE3\x80\x80\x01\xFF");
  std::string each;
  for (int byte = 1; byte < 256; ++byte) each += static_cast<char>(byte);
  look_up(map, each);
  for (int byte = 0; byte < 0x80; ++byte) {
    const char two[] = {static_cast<char>(byte), 'a'};
    if (map.is_plain(static_cast<uint8_t>(byte))) FUZZ_REQUIRE(map.longest_prefix({two, 1}).size_bytes == 0);
  }
}

}  // namespace deberta::fuzz

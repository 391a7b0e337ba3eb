// The version of a format of our own, as a file of it says. What a newer program wrote is refused as such: it is
// neither damaged nor to be overwritten.
#pragma once
#include <cstdint>
#include <string>

namespace deberta {

// Throws kUnsupported where `got` is above `newest`, the newest version that this program reads. Lower ones are for the
// reader to judge.
void check_format_version(int64_t got, int64_t newest, const std::string& where);

}  // namespace deberta

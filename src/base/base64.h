// Base64 (RFC 4648, section 4), decoding only.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace deberta {

// Strict: whole groups of four, '=' only at the end, unused bits zero, no white space. Nothing otherwise.
std::optional<std::string> parse_base64(std::string_view text);

}  // namespace deberta

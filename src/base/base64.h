// Base64 (RFC 4648, section 4).
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace deberta {

// Strict: whole groups of four, '=' only at the end, unused bits zero, no white space. Nothing otherwise.
std::optional<std::string> parse_base64(std::string_view text);

std::string to_base64(std::string_view bytes);

}  // namespace deberta

// Escapes, numbers, and the widths of characters by kind.
#include "chart/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/utf8.h"

namespace deberta::chart {
namespace {

constexpr std::string_view kCut = "\u2026";

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// "5.000e-05" -> "5e-5"
std::string without_zeros(const std::string& text) {
  const size_t e = text.find('e');
  if (e == std::string::npos) return text;
  std::string digits = text.substr(0, e);
  if (digits.find('.') != std::string::npos) digits.erase(digits.find_last_not_of(".0") + 1);
  return digits + "e" + std::to_string(std::stoi(text.substr(e + 1)));
}

// The widths of ' ' to '~' in DejaVu Sans, the widest of usual fonts, in hundredths of the font size.
constexpr auto kWidths = std::to_array<uint8_t>(
    {32, 41, 46, 84, 64, 96, 78, 28, 40,  40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
     64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 78, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79,
     61, 79, 70, 64, 62, 74, 69, 99, 69,  62, 69, 40, 34, 40, 84, 50, 50, 62, 64, 55, 64, 62, 36, 64,
     64, 28, 28, 58, 28, 98, 64, 62, 64,  64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84});

// Of the font size. East Asian characters and pictures are square.
double share_of_em(char32_t c) {
  constexpr char32_t kFirst = ' ', kLatinEnd = 0x250, kSquare = 0x2e80, kEllipsis = 0x2026;
  if (c >= kFirst && c < kFirst + kWidths.size()) return kWidths[c - kFirst] / 100.0;
  if (c == kEllipsis || c >= kSquare) return 1.05;
  return c < kLatinEnd ? 0.7 : 0.85;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : replace_invalid_utf8(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        if (is_control(c) && c != '\n' && c != '\t') {
          escaped += "\xEF\xBF\xBD";
        } else {
          escaped += c;
        }
    }
  }
  return escaped;
}

std::string axis_number(double value, int digits) {
  if (!std::isfinite(value)) return "not finite";
  const double size = std::abs(value);
  if (size >= 1e15) return without_zeros(fmt::format("{:.{}e}", value, digits - 1));
  if (size >= 1e9) return fmt::format("{:.{}g}G", value / 1e9, digits);
  if (size >= 1e6) return fmt::format("{:.{}g}M", value / 1e6, digits);
  if (size >= 1e4) return fmt::format("{:.{}g}k", value / 1e3, digits);
  if (size != 0 && size < 1e-3) return without_zeros(fmt::format("{:.{}e}", value, digits - 1));
  return fmt::format("{:.{}g}", value, digits);
}

std::string exact_number(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : value > 0 ? "infinity" : "-infinity";
  if (value == std::floor(value) && std::abs(value) < 1e15) return grouped(static_cast<int64_t>(value));
  if (std::abs(value) >= 1e5 && std::abs(value) < 1e15) return grouped(std::llround(value));
  return without_zeros(fmt::format("{:.6g}", value));
}

std::string grouped(int64_t value) {
  std::string digits = std::to_string(value);
  const size_t begin = value < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > begin + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

double text_width(std::string_view text, double font_size) {
  double ems = 0;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    ems += share_of_em(point.value);
    at += point.size_bytes;
  }
  return ems * font_size;
}

std::string shortened(std::string_view text, double font_size, double width) {
  constexpr double kRounding = 1e-6;  // of a width that was made for this text
  if (text_width(text, font_size) <= width + kRounding) return std::string(text);
  double used = text_width(kCut, font_size);
  size_t at = 0;
  while (at < text.size()) {
    const CodePoint point = decode_utf8(text, at);
    used += share_of_em(point.value) * font_size;
    if (used > width) break;
    at += point.size_bytes;
  }
  std::string_view kept = text.substr(0, at);
  while (kept.ends_with(' ')) kept.remove_suffix(1);
  return std::string(kept).append(kCut);
}

std::vector<std::string> wrapped(std::string_view text, double font_size, double width, size_t most) {
  std::vector<std::string> lines;
  double used = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const double size = text_width(word, font_size) + text_width(" ", font_size);
    const bool is_last = lines.size() == most;
    if (lines.empty() || (used + size > width && !is_last)) {
      lines.emplace_back(word);
      used = size;
    } else {
      lines.back().append(" ").append(word);
      used += size;
    }
    at = end + 1;
  }
  for (std::string& line : lines) line = shortened(line, font_size, width);
  return lines;
}

}  // namespace deberta::chart

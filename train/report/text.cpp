// Escapes for HTML and Markdown, and numbers, durations and dates as people read them.
#include "train/report/text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ctime>

#include "base/utf8.h"

namespace deberta::train {
namespace {

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

std::string escape_markdown(std::string_view text) {
  std::string escaped;
  for (const char c : replace_invalid_utf8(text)) {
    if (is_control(c)) {
      escaped += ' ';
    } else if (std::string_view("\\`*_{}[]<>#|&~!").find(c) != std::string_view::npos) {
      escaped += fmt::format("\\{}", c);
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string axis_number(double value) {
  if (!std::isfinite(value)) return "not finite";
  const double size = std::abs(value);
  if (size >= 1e9) return fmt::format("{:.4g}G", value / 1e9);
  if (size >= 1e6) return fmt::format("{:.4g}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:.4g}k", value / 1e3);
  if (size != 0 && size < 1e-3) return without_zeros(fmt::format("{:.3e}", value));
  return fmt::format("{:.4g}", value);
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

std::string duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e12) return "unknown";
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto minutes = static_cast<int64_t>(seconds / 60);
  if (minutes < 60) return fmt::format("{} min {:02} s", minutes, static_cast<int64_t>(seconds) % 60);
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

std::string utc_time(double seconds) {
  if (!(seconds > 0 && seconds < 1e11)) return "unknown";
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&whole, &parts);
  std::array<char, 64> text{};
  const size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return {text.data(), length};
}

}  // namespace deberta::train

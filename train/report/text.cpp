// Escapes for Markdown, durations and dates as people read them.
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

}  // namespace

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

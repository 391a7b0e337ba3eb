// JSON as Python's json module reads it (CPython 3.8 and later): what the files of a model are written and read with.
// Beyond strict JSON: integers of any length, numbers too large for a double (infinite), NaN, Infinity, -Infinity,
// lone surrogates, and repeated keys, of which the last value counts.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>

#include "base/checked.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_builder.h"
#include "base/log.h"
#include "base/utf8.h"
#include "deberta/error.h"

namespace deberta {
namespace {

// Python refuses to make an int from a longer text (sys.int_info.default_max_str_digits).
constexpr size_t kMaxDigits = 4300;

bool is_high_surrogate(char32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low_surrogate(char32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A valid number that from_chars calls out of range: 0 or infinity, by the power of ten of its first digit.
double beyond_double(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, e);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  const size_t first = std::min(mantissa.find_first_not_of("0."), mantissa.size());
  std::string_view exponent = text.substr(std::min(e + 1, text.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  // An exponent too large for an integer is larger than any text is long.
  const int64_t beyond = exponent.starts_with('-') ? -(int64_t{1} << 62) : int64_t{1} << 62;
  const int64_t power = exponent.empty() ? 0 : parse_number<int64_t>(exponent).value_or(beyond);
  const int64_t digits = static_cast<int64_t>(point) - static_cast<int64_t>(first);
  const double magnitude = power > -digits ? std::numeric_limits<double>::infinity() : 0;
  return is_negative ? -magnitude : magnitude;
}

class Scanner {
 public:
  Scanner(std::string_view text, JsonBuilder& builder) : text_(text), builder_(builder) {}

  void scan() {
    scan_item();
    while (!closers_.empty()) {
      skip_space();
      if (take(closers_.back())) {
        closers_.pop_back();
        builder_.close();
      } else if (take(',')) {
        scan_item();
      } else {
        refuse(closers_.back() == ']' ? "expected , or ]" : "expected , or }");
      }
    }
    skip_space();
    if (at_ != text_.size()) refuse("expected the end");
  }

 private:
  // A value, with its key inside an object, and the first items of the containers that it opens.
  void scan_item() {
    for (;;) {
      if (!closers_.empty() && closers_.back() == '}') scan_key();
      skip_space();
      if (peek() != '{' && peek() != '[') return scan_scalar();
      open(text_[at_++]);
      skip_space();
      if (peek() == closers_.back()) return;
    }
  }

  void open(char opener) {
    if (opener == '{') {
      builder_.open_object();
    } else {
      builder_.open_array();
    }
    closers_ += opener == '{' ? '}' : ']';
  }

  void scan_key() {
    skip_space();
    if (peek() != '"') refuse("expected a key in double quotes");
    builder_.key(scan_string());
    skip_space();
    if (!take(':')) refuse("expected :");
  }

  void scan_scalar() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (peek() == '"') return builder_.add(scan_string());
    if (take("null")) return builder_.add(nullptr);
    if (take("true")) return builder_.add(true);
    if (take("false")) return builder_.add(false);
    if (take("NaN")) return builder_.add(std::numeric_limits<double>::quiet_NaN());
    if (take("Infinity")) return builder_.add(kInfinity);
    if (take("-Infinity")) return builder_.add(-kInfinity);
    scan_number();
  }

  void scan_number() {
    const size_t begin = at_;
    take('-');
    const size_t digits = at_;
    if (!take('0')) skip_digits();
    if (at_ == digits) refuse("expected a value", begin);
    const size_t integer_end = at_;
    if (peek() == '.' && is_digit(peek(1))) {
      ++at_;
      skip_digits();
    }
    if (const size_t sign = peek(1) == '-' || peek(1) == '+' ? 1 : 0;
        (peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
      at_ += 1 + sign;
      skip_digits();
    }
    const std::string_view text = text_.substr(begin, at_ - begin);
    if (at_ != integer_end) return builder_.add(to_double(text));
    if (integer_end - digits > kMaxDigits) {
      refuse(fmt::format("expected an integer of at most {} digits, got {}", kMaxDigits, integer_end - digits), begin);
    }
    if (const auto integer = parse_number<int64_t>(text)) return builder_.add(*integer);
    builder_.add(JsonBigInteger{std::string(text)});
  }

  static double to_double(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} ? value : beyond_double(text);
  }

  std::string scan_string() {
    const size_t begin = at_++;
    std::string out;
    for (;;) {
      const size_t run = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' && !is_control(text_[at_])) ++at_;
      out.append(text_, run, at_ - run);
      if (at_ == text_.size()) refuse("unterminated string", begin);
      if (take('"')) return out;
      if (is_control(text_[at_])) refuse("control character in a string");
      scan_escape(out);
    }
  }

  void scan_escape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    const size_t name = at_ + 1 < text_.size() ? kNames.find(text_[at_ + 1]) : std::string_view::npos;
    if (name != std::string_view::npos) {
      out += kValues[name];
      at_ += 2;
      return;
    }
    auto unit = peek_unit();
    if (!unit) refuse("invalid escape");
    at_ += 6;
    if (const auto low = peek_unit(); is_high_surrogate(*unit) && low && is_low_surrogate(*low)) {
      at_ += 6;
      unit = 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00);
    }
    append_utf8(out, *unit);
  }

  // The code unit of the \uXXXX that comes next.
  std::optional<char32_t> peek_unit() const {
    if (text_.size() - at_ < 6 || text_[at_] != '\\' || text_[at_ + 1] != 'u') return std::nullopt;
    uint32_t unit = 0;
    const char* digits = text_.data() + at_ + 2;
    const auto [end, error] = std::from_chars(digits, digits + 4, unit, 16);
    if (error != std::errc{} || end != digits + 4) return std::nullopt;
    return unit;
  }

  static bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20; }

  void skip_digits() {
    while (is_digit(peek())) ++at_;
  }
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  // 0 after the end; a NUL byte is refused wherever it stands.
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool take(char wanted) { return peek() == wanted && ++at_ != 0; }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  [[noreturn]] void refuse(std::string_view message) const { refuse(message, at_); }
  [[noreturn]] void refuse(std::string_view message, size_t at) const {
    const std::string_view before = text_.substr(0, at);
    const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
    builder_.refuse(fmt::format("not valid JSON at line {}, column {}: {}",
                                std::count(before.begin(), before.end(), '\n') + 1, at - line_begin + 1, message));
  }

  std::string_view text_;
  JsonBuilder& builder_;
  size_t at_ = 0;
  std::string closers_;  // closing brackets of the open containers
};

// "key "a" appears twice", or with several names.
void warn_of_repeats(std::string_view where, std::vector<std::string> keys) {
  constexpr size_t kShown = 5;
  if (keys.empty()) return;
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::string names;
  for (size_t i = 0; i < std::min(keys.size(), kShown); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : ", ", quote_json(keys[i]));
  if (keys.size() > kShown) names += fmt::format(" and {} more", keys.size() - kShown);
  if (keys.size() == 1) {
    warn(fmt::format("{}: key {} appears more than once; its last value counts, as in Python", where, names));
  } else {
    warn(fmt::format("{}: keys {} appear more than once; their last values count, as in Python", where, names));
  }
}

}  // namespace

Json parse_python_json(std::string_view text, std::string_view where, const JsonLimits& limits, JsonWarnings warnings) {
  check_json_text(text, where, limits);
  JsonBuilder builder(where, limits, RepeatedKey::kLastCounts);
  Scanner(text, builder).scan();
  if (warnings == JsonWarnings::kSaid) warn_of_repeats(where, builder.repeated_keys());
  return builder.take();
}

Json load_python_json(const std::string& path, const JsonLimits& limits, JsonWarnings warnings) {
  return parse_python_json(read_file(path, limits.max_bytes), path, limits, warnings);
}

}  // namespace deberta

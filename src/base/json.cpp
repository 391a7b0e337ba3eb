// The value type, the writer, and the strict parser. The only file that includes nlohmann/json.hpp, whose SAX parser
// fills our value under our limits.
#include "base/json.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "base/json_builder.h"
#include "base/utf8.h"
#include "deberta/error.h"

namespace deberta {
namespace {

// Hands nlohmann's events to the builder.
class Events final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Events(JsonBuilder& builder) : builder_(builder) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      builder_.refuse("integer does not fit into 64 signed bits");
    return add(static_cast<int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    if (text.find_first_of(".eE") == string_t::npos) builder_.refuse("integer does not fit into 64 signed bits");
    return add(value);
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override {
    builder_.open_object();
    return true;
  }
  bool start_array(std::size_t) override {
    builder_.open_array();
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    builder_.key(std::move(name));
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ...", or without a place: a number overflow.
    const std::string text = replace_invalid_utf8(error.what());  // it may quote a part of a character
    const size_t at = text.find("at line");
    if (at != std::string::npos) builder_.refuse("not valid JSON " + text.substr(at));
    builder_.refuse(fmt::format("not valid JSON at byte {}: {}", position, text.substr(text.find(']') + 2)));
  }

 private:
  bool add(Json value) {
    builder_.add(std::move(value));
    return true;
  }
  bool close() {
    builder_.close();
    return true;
  }

  JsonBuilder& builder_;
};

void write_not_finite(std::string& out, double value, JsonForm form) {
  if (form == JsonForm::kStrict) throw Error(ErrorCode::kNotFinite, "json", "a number is not finite");
  out += std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

template <class Float>
void write_float(std::string& out, Float value, JsonForm form) {
  if (!std::isfinite(value)) return write_not_finite(out, value, form);
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

// A lone surrogate encoded in three bytes, which valid UTF-8 never has; 0 for anything else.
uint32_t surrogate_at(std::string_view text, size_t i) {
  const auto byte_at = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  if (text.size() - i < 3 || byte_at(i) != 0xED || byte_at(i + 1) < 0xA0) return 0;
  return 0xD000U | (byte_at(i + 1) & 0x3FU) << 6 | (byte_at(i + 2) & 0x3FU);
}

void write_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else if (const uint32_t surrogate = surrogate_at(text, i); surrogate != 0) {
          out += fmt::format("\\u{:04x}", surrogate);
          i += 2;
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

// from_chars returns no value when the number is out of range.
double to_double(const std::string& integer) {
  double value = 0;
  const auto [end, error] = std::from_chars(integer.data(), integer.data() + integer.size(), value);
  if (error == std::errc{}) return value;
  return integer[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

void new_line(std::string& out, int indent_spaces, int depth) {
  if (indent_spaces == 0) return;
  out += '\n';
  out.append(static_cast<size_t>(indent_spaces) * static_cast<size_t>(depth), ' ');
}

}  // namespace

Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json::Json(uint64_t value) : value_(static_cast<int64_t>(value)) {
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    throw Error(ErrorCode::kJson, "json", "integer does not fit into 64 signed bits");
  }
}

double Json::as_number() const {
  if (is_integer()) return static_cast<double>(as_integer());
  if (const float* value = std::get_if<float>(&value_)) return *value;
  if (const JsonBigInteger* value = std::get_if<JsonBigInteger>(&value_)) return to_double(value->digits);
  return std::get<double>(value_);
}

double Json::as_read_back() const {
  const float* value = std::get_if<float>(&value_);
  if (value == nullptr || !std::isfinite(*value)) return as_number();
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, *value);
  double read = 0;
  std::from_chars(buffer, end, read);
  return read;
}

std::optional<int64_t> Json::whole_number() const {
  if (is_integer()) return as_integer();
  if (!is_float()) return std::nullopt;
  const double value = as_number();
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63, the first that does not fit
  if (!(value >= -kBeyond && value < kBeyond) || value != std::trunc(value)) return std::nullopt;
  return static_cast<int64_t>(value);
}

bool Json::is_truthy() const {
  if (is_null()) return false;
  if (is_bool()) return as_bool();
  if (is_number()) return as_number() != 0;
  if (is_string()) return !as_string().empty();
  return is_array() ? !as_array().empty() : !as_object().empty();
}

const Json* Json::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  for (const JsonMember& member : as_object()) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

std::string Json::describe() const {
  if (is_null()) return "null";
  if (is_array()) return "an array";
  if (is_object()) return "an object";
  if (is_string()) return quote_begin(as_string()) + " (string)";
  if (is_big_integer()) {
    const std::string& digits = std::get<JsonBigInteger>(value_).digits;
    return digits.substr(0, 60) + (digits.size() > 60 ? "... (integer)" : " (integer)");
  }
  return dump(0, JsonForm::kPython) + (is_bool() ? " (boolean)" : is_integer() ? " (integer)" : " (number)");
}

void Json::write(std::string& out, const Layout& layout, int depth) const {
  if (is_null()) {
    out += "null";
  } else if (is_bool()) {
    out += as_bool() ? "true" : "false";
  } else if (is_integer()) {
    out += std::to_string(as_integer());
  } else if (const float* single = std::get_if<float>(&value_)) {
    write_float(out, *single, layout.form);
  } else if (const double* number = std::get_if<double>(&value_)) {
    write_float(out, *number, layout.form);
  } else if (const JsonBigInteger* integer = std::get_if<JsonBigInteger>(&value_)) {
    out += integer->digits;
  } else if (is_string()) {
    write_quoted(out, as_string());
  } else if (is_array()) {
    out += '[';
    bool is_first = true;
    for (const Json& item : as_array()) {
      if (!std::exchange(is_first, false)) out += layout.indent_spaces == 0 ? ", " : ",";
      new_line(out, layout.indent_spaces, depth + 1);
      item.write(out, layout, depth + 1);
    }
    if (!is_first) new_line(out, layout.indent_spaces, depth);
    out += ']';
  } else {
    out += '{';
    bool is_first = true;
    for (const auto& [key, item] : as_object()) {
      if (!std::exchange(is_first, false)) out += layout.indent_spaces == 0 ? ", " : ",";
      new_line(out, layout.indent_spaces, depth + 1);
      write_quoted(out, key);
      out += ": ";
      item.write(out, layout, depth + 1);
    }
    if (!is_first) new_line(out, layout.indent_spaces, depth);
    out += '}';
  }
}

std::string Json::dump(int indent_spaces, JsonForm form) const {
  std::string out;
  write(out, {indent_spaces, form}, 0);
  return out;
}

void check_json_text(std::string_view text, std::string_view where, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    throw Error(ErrorCode::kTooLarge, std::string(where),
                fmt::format("expected at most {} bytes, got {}", limits.max_bytes, text.size()));
  }
  if (text.starts_with("\xEF\xBB\xBF")) {
    throw Error(ErrorCode::kJson, std::string(where), "expected JSON, got a byte order mark; save the file without it");
  }
  if (!is_valid_utf8(text)) throw Error(ErrorCode::kJson, std::string(where), "not valid UTF-8");
  // The parser would take a NUL for the end and not see what follows it.
  if (text.find('\0') != std::string_view::npos) {
    throw Error(ErrorCode::kJson, std::string(where), "not valid JSON: a NUL byte");
  }
}

Json parse_json(std::string_view text, std::string_view where, const JsonLimits& limits) {
  check_json_text(text, where, limits);
  JsonBuilder builder(where, limits, RepeatedKey::kRefused);
  Events events(builder);
  nlohmann::json::sax_parse(text.begin(), text.end(), &events);
  return builder.take();
}

Json load_json(const std::string& path, const JsonLimits& limits) {
  return parse_json(read_file(path, limits.max_bytes), path, limits);
}

void append_json(std::string& out, std::span<const float> values) {
  out += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ", ";
    write_float(out, values[i], JsonForm::kStrict);
  }
  out += ']';
}

std::string quote_begin(std::string_view text) {
  return quote_json(utf8_begin(text, 60));
}

std::string quote_json(std::string_view text) {
  std::string out;
  write_quoted(out, text);
  return out;
}

}  // namespace deberta

// The only file that includes nlohmann/json.hpp: its SAX parser fills our value under our limits.
#include "base/json.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/file.h"
#include "base/utf8.h"
#include "deberta/error.h"

namespace deberta {
namespace {

// Receives nlohmann's events. Refusals throw; nothing recurses.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(std::string_view where, const JsonLimits& limits) : where_(where), limits_(limits) {}

  bool null() override { return add(Json(nullptr)); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override { return add(Json(int64_t{value})); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      refuse("integer does not fit into 64 bits signed");
    return add(Json(static_cast<int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    if (text.find_first_of(".eE") == string_t::npos) refuse("integer does not fit into 64 bits signed");
    return add(Json(value));
  }
  bool string(string_t& value) override { return add(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return open(Json(JsonObject{}));
  }
  bool start_array(std::size_t) override { return open(Json(JsonArray{})); }
  bool end_object() override {
    keys_.pop_back();
    return close();
  }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) refuse(fmt::format("key {} appears twice", quote_json(name)));
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ...", or without a place: a number overflow.
    const std::string text = error.what();
    const size_t at = text.find("at line");
    if (at != std::string::npos) refuse("not valid JSON " + text.substr(at));
    refuse(fmt::format("not valid JSON at byte {}: {}", position, text.substr(text.find(']') + 2)));
  }

  Json take() { return std::move(root_); }

 private:
  [[noreturn]] void refuse(std::string message) const {
    throw Error(ErrorCode::kJson, std::string(where_), std::move(message));
  }

  Json* place(Json value) {
    if (++nodes_ > limits_.max_nodes) refuse(fmt::format("expected at most {} values", limits_.max_nodes));
    if (open_.empty()) return &(root_ = std::move(value));
    if (open_.back()->is_array()) return &open_.back()->as_array().emplace_back(std::move(value));
    return &open_.back()->as_object().emplace_back(std::move(key_), std::move(value)).second;
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() >= limits_.max_depth) refuse(fmt::format("expected at most {} nested levels", limits_.max_depth));
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view where_;
  const JsonLimits& limits_;
  Json root_;
  std::vector<Json*> open_;  // stable: a container's parent does not grow while the container is open
  std::vector<std::unordered_set<std::string>> keys_;
  std::string key_;
  size_t nodes_ = 0;
};

template <class Float>
void write_float(std::string& out, Float value) {
  if (!std::isfinite(value)) throw Error(ErrorCode::kNotFinite, "json", "a number is not finite");
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void write_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
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
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void new_line(std::string& out, int indent_spaces, int depth) {
  if (indent_spaces == 0) return;
  out += '\n';
  out.append(static_cast<size_t>(indent_spaces * depth), ' ');
}

}  // namespace

Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json::Json(uint64_t value) : value_(static_cast<int64_t>(value)) {
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    throw Error(ErrorCode::kJson, "json", "integer does not fit into 64 bits signed");
  }
}

double Json::as_number() const {
  if (is_integer()) return static_cast<double>(as_integer());
  if (const float* value = std::get_if<float>(&value_)) return *value;
  return std::get<double>(value_);
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
  if (is_string()) return quote_json(as_string().substr(0, 60)) + " (string)";
  return dump() + (is_bool() ? " (boolean)" : is_integer() ? " (integer)" : " (number)");
}

void Json::write(std::string& out, int indent_spaces, int depth) const {
  if (is_null()) {
    out += "null";
  } else if (is_bool()) {
    out += as_bool() ? "true" : "false";
  } else if (is_integer()) {
    out += std::to_string(as_integer());
  } else if (const float* single = std::get_if<float>(&value_)) {
    write_float(out, *single);
  } else if (const double* number = std::get_if<double>(&value_)) {
    write_float(out, *number);
  } else if (is_string()) {
    write_quoted(out, as_string());
  } else if (is_array()) {
    out += '[';
    bool is_first = true;
    for (const Json& item : as_array()) {
      if (!std::exchange(is_first, false)) out += indent_spaces == 0 ? ", " : ",";
      new_line(out, indent_spaces, depth + 1);
      item.write(out, indent_spaces, depth + 1);
    }
    if (!is_first) new_line(out, indent_spaces, depth);
    out += ']';
  } else {
    out += '{';
    bool is_first = true;
    for (const auto& [key, item] : as_object()) {
      if (!std::exchange(is_first, false)) out += indent_spaces == 0 ? ", " : ",";
      new_line(out, indent_spaces, depth + 1);
      write_quoted(out, key);
      out += ": ";
      item.write(out, indent_spaces, depth + 1);
    }
    if (!is_first) new_line(out, indent_spaces, depth);
    out += '}';
  }
}

std::string Json::dump(int indent_spaces) const {
  std::string out;
  write(out, indent_spaces, 0);
  return out;
}

Json parse_json(std::string_view text, std::string_view where, const JsonLimits& limits) {
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
  Builder builder(where, limits);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

Json load_json(const std::string& path, const JsonLimits& limits) {
  return parse_json(read_file(path, limits.max_bytes), path, limits);
}

std::string quote_json(std::string_view text) {
  std::string out;
  write_quoted(out, text);
  return out;
}

}  // namespace deberta

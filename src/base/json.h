// JSON with limits: a small value type, with two ways of reading and writing it. Strict: input rows (nlohmann's parser,
// behind json.cpp) and the program's answers. Like Python's json module: the files of a model, which Python wrote and
// reads (python_json.cpp). Objects keep their order. Numbers remember whether they were integers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace deberta {

class Json;
using JsonArray = std::vector<Json>;
using JsonMember = std::pair<std::string, Json>;
using JsonObject = std::vector<JsonMember>;

// An integer beyond signed 64 bits, as it was written.
struct JsonBigInteger {
  std::string digits;  // "-10000000000000000000"
};

// kPython: NaN, Infinity and -Infinity are written by these names, as json.dump writes them.
enum class JsonForm { kStrict, kPython };

class Json {
 public:
  Json() : value_(nullptr) {}
  Json(std::nullptr_t) : value_(nullptr) {}
  Json(bool value) : value_(value) {}
  Json(int value) : value_(int64_t{value}) {}
  Json(int64_t value) : value_(value) {}
  Json(uint64_t value);  // throws kJson above 2^63 - 1
  Json(double value) : value_(value) {}
  Json(float value) : value_(value) {}  // written as the shortest text that reads back to the same float
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(JsonBigInteger value) : value_(std::move(value)) {}
  Json(JsonArray value) : value_(std::move(value)) {}
  Json(JsonObject value) : value_(std::move(value)) {}

  // Out of line: g++ 12 sees uninitialised members in inlined copies of the variant, and every user compiles faster.
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_integer() const { return std::holds_alternative<int64_t>(value_); }
  bool is_big_integer() const { return std::holds_alternative<JsonBigInteger>(value_); }
  bool is_number() const { return is_integer() || is_big_integer() || is_float(); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<JsonArray>(value_); }
  bool is_object() const { return std::holds_alternative<JsonObject>(value_); }

  // The value; the type must have been checked first (std::bad_variant_access otherwise).
  bool as_bool() const { return std::get<bool>(value_); }
  int64_t as_integer() const { return std::get<int64_t>(value_); }
  double as_number() const;  // infinity for an integer beyond the range of double
  // What a reader of the written text gets: for a float the double that is nearest to its digits, 0.1 for 0.1F.
  double as_read_back() const;
  // May hold lone surrogates, three bytes each, when read by Python's rules; then it is not UTF-8.
  const std::string& as_string() const { return std::get<std::string>(value_); }
  const JsonArray& as_array() const { return std::get<JsonArray>(value_); }
  JsonArray& as_array() { return std::get<JsonArray>(value_); }
  const JsonObject& as_object() const { return std::get<JsonObject>(value_); }
  JsonObject& as_object() { return std::get<JsonObject>(value_); }

  // 512 of 512 and of 512.0; nothing for other values, including integers beyond 64 bits.
  std::optional<int64_t> whole_number() const;

  // Python's truth value: false for null, false, 0, and an empty string, array or object; NaN is true.
  bool is_truthy() const;

  // The member of an object, or nullptr if absent or if this is not an object.
  const Json* find(std::string_view key) const;

  // For messages: `"256" (string)`, `-1 (integer)`, `null`, `[...] (array)`; long strings are cut.
  std::string describe() const;

  // One line when indent_spaces is 0. Text is valid JSON: control characters escaped, floats shortest.
  // Strict: throws kNotFinite for NaN and infinity.
  std::string dump(int indent_spaces = 0, JsonForm form = JsonForm::kStrict) const;

 private:
  bool is_float() const { return std::holds_alternative<double>(value_) || std::holds_alternative<float>(value_); }
  struct Layout {
    int indent_spaces;
    JsonForm form;
  };
  void write(std::string& out, const Layout& layout, int depth) const;

  std::variant<std::nullptr_t, bool, int64_t, double, float, std::string, JsonBigInteger, JsonArray, JsonObject> value_;
};

struct JsonLimits {
  size_t max_bytes = size_t{1} << 20;
  size_t max_depth = 16;         // nested arrays and objects
  size_t max_nodes = 1000000;    // values of all kinds
  size_t max_members = 1000000;  // in one object
};

// Strict: valid UTF-8, no byte order mark, no comments, no trailing comma, no NaN, only white space after the document,
// integers within 64 bits signed, finite numbers, no repeated keys. `where` (a file, a row) opens the message. Throws
// kJson, kTooLarge.
Json parse_json(std::string_view text, std::string_view where, const JsonLimits& limits = {});

// read_file + parse_json.
Json load_json(const std::string& path, const JsonLimits& limits = {});

enum class JsonWarnings { kSaid, kSilent };

// As Python's json.load reads a UTF-8 file: strict JSON, and also integers of any length, 1e400 (infinity), NaN,
// Infinity, -Infinity, lone surrogates, and repeated keys: the last value counts, with one warning per document.
// kSilent: for a file that is read a second time. A byte order mark is refused, as in Python.
Json parse_python_json(std::string_view text, std::string_view where, const JsonLimits& limits = {},
                       JsonWarnings warnings = JsonWarnings::kSaid);

// read_file + parse_python_json.
Json load_python_json(const std::string& path, const JsonLimits& limits = {},
                      JsonWarnings warnings = JsonWarnings::kSaid);

// `text` as a JSON string literal with its quotes.
std::string quote_json(std::string_view text);
// Quotes at most its first 60 bytes, for messages.
std::string quote_begin(std::string_view text);

// "[0.5, -1.0]", as a Json of these numbers is written. Throws kNotFinite.
void append_json(std::string& out, std::span<const float> values);

}  // namespace deberta

// Builds a Json, within the limits, from what a parser reports value by value. Used by json.cpp and
// python_json.cpp.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"

namespace deberta {

// How to treat two members with the same name.
enum class RepeatedKey { kRefused, kLastCounts };

// Refusals throw kJson; nothing recurses.
class JsonBuilder {
 public:
  JsonBuilder(std::string_view where, const JsonLimits& limits, RepeatedKey repeated_key)
      : where_(where), limits_(limits), repeated_key_(repeated_key) {}

  void add(Json value) { place(std::move(value)); }
  void open_array() { open(JsonArray{}); }
  void open_object();
  void key(std::string name);
  void close();

  [[noreturn]] void refuse(std::string message) const;

  Json take() { return std::move(root_); }
  // The names that appeared again, in order; only under kLastCounts.
  const std::vector<std::string>& repeated_keys() const { return repeated_keys_; }

 private:
  Json* place(Json value);
  void open(Json value);

  std::string_view where_;
  const JsonLimits& limits_;
  RepeatedKey repeated_key_;
  Json root_;
  std::vector<Json*> open_;  // stable: a container's parent does not grow while the container is open
  std::vector<std::unordered_map<std::string, size_t>> members_;  // for each open object: the index of a name
  size_t member_ = 0;                                             // where the next value goes
  std::vector<std::string> repeated_keys_;
  size_t nodes_ = 0;
};

// The size, UTF-8 without a byte order mark, no NUL: the requirements of any JSON text. Throws kJson, kTooLarge.
void check_json_text(std::string_view text, std::string_view where, const JsonLimits& limits);

}  // namespace deberta

// Reads the JSON that other processes have left.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"

namespace deberta::jobs {

// Members of an object that must be there; a reader that has met a wrong one has failed.
class MemberReader {
 public:
  explicit MemberReader(const Json& object) : object_(object) {}
  bool has_failed() const { return has_failed_; }

  std::string text(std::string_view key) {
    const Json* value = object_.find(key);
    if (value != nullptr && value->is_string()) return value->as_string();
    has_failed_ = true;
    return "";
  }
  int64_t number(std::string_view key) {
    const Json* value = object_.find(key);
    if (value != nullptr && value->is_integer()) return value->as_integer();
    has_failed_ = true;
    return 0;
  }
  uint64_t count(std::string_view key) {
    const int64_t value = number(key);
    has_failed_ = has_failed_ || value < 0;
    return static_cast<uint64_t>(value);
  }

 private:
  const Json& object_;
  bool has_failed_ = false;
};

}  // namespace deberta::jobs

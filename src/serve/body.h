// The fields of a request's body, read by name: each reader checks what it finds and says where it was. null is as good
// as absent. What nothing has read is unknown, which is no error unless it looks like a field that was meant; objects
// in the body have the same rule.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace deberta::serve {

class Body {
 public:
  // Throws kValidation unless it is an object. `tail`: the bytes behind the JSON, of a request that says it has some.
  explicit Body(const Json& object, std::string pointer = {}, std::string_view tail = {});

  std::string_view tail() const { return tail_; }

  // None of them throws for an absent field; all throw kValidation for a value of another kind.
  const Json* find(std::string_view name);
  std::optional<std::string> text(std::string_view name);
  std::optional<bool> flag(std::string_view name);
  std::optional<int64_t> whole(std::string_view name, int64_t low, int64_t high);
  std::optional<double> number(std::string_view name, double low, double high);
  std::optional<std::vector<std::string>> texts(std::string_view name);
  std::optional<Body> object(std::string_view name);
  // An object in this one, for which unknown() answers too; the same for all that ask for it. Throws kValidation for
  // another kind.
  Body part(const Json& value, std::string pointer);
  // One of the words; in any case of letters.
  std::optional<std::string> choice(std::string_view name, const std::vector<std::string>& words);

  // Throws kValidation: it is needed.
  [[noreturn]] void refuse_missing(std::string_view name) const;
  [[noreturn]] void refuse(std::string_view name, const std::string& message) const;

  // The pointers of fields that nothing has asked for, here and in parts. Throws kValidation for one whose name is an
  // edit away from a field that was asked for and is absent.
  std::vector<std::string> unknown() const;
  std::string pointer_of(std::string_view name) const;
  [[noreturn]] static void refuse_at(const std::string& pointer, const std::string& message);

 private:
  // An object and what was asked of it.
  struct Record {
    const Json* json;
    std::string pointer;
    std::set<std::string, std::less<>> asked = {};
    std::map<const Json*, std::shared_ptr<Record>> parts = {};
  };
  explicit Body(std::shared_ptr<Record> record) : record_(std::move(record)) {}
  static void add_unknown(const Record& record, std::vector<std::string>& pointers);

  std::shared_ptr<Record> record_;
  std::string_view tail_;
};

// The strings of an array, each at `pointer`/i. Throws kValidation.
std::vector<std::string> texts_of(const Json& value, const std::string& pointer);

}  // namespace deberta::serve

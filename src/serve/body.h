// The fields of a request's body, read by name: each reader checks its value and reports where it was. null counts as
// absent. A field that nothing has read is unknown, which is no error unless it resembles a known one; objects in the
// body have the same rule.
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
#include "pipeline/parameter_words.h"

namespace deberta::serve {

struct Field;  // fields.h

class Body {
 public:
  // Throws kValidation unless it is an object. `tail`: the bytes behind the JSON, where the request's header says so.
  explicit Body(const Json& object, std::string pointer = {}, std::string_view tail = {});

  std::string_view tail() const { return tail_; }

  // None of them throws for an absent field; all throw kValidation for a value of another kind.
  const Json* find(std::string_view name);
  std::optional<std::string> text(std::string_view name);
  std::optional<std::vector<std::string>> texts(std::string_view name);
  std::optional<Body> object(std::string_view name);
  // An object in this one, which unknown() covers too; every reader gets the same. Throws kValidation for another kind.
  Body part(const Json& value, std::string pointer);

  // The same of parameters: range and words are those of the field (fields.h), and so is the value of one that is
  // absent, where the result has no place for nothing.
  bool flag(const Field& field);
  std::optional<bool> flag_if_any(const Field& field);
  double number(const Field& field);
  std::optional<int64_t> whole(const Field& field, int64_t most = INT64_MAX);  // `most`: what the model allows
  int64_t whole_or_default(const Field& field, int64_t most = INT64_MAX);
  std::optional<std::vector<std::string>> texts(const Field& field);
  std::optional<std::string> text(const Field& field);
  // One of its words, in any case of letters: in small ones, or as the library means it.
  std::optional<std::string> word(const Field& field);
  template <ChoiceType T>
  std::optional<T> choice(const Field& field) {
    const std::optional<std::string> given = word(field);
    if (!given) return std::nullopt;
    for (const auto& [one, meaning] : kChoiceWords<T>) {
      if (one == *given) return meaning;
    }
    return std::nullopt;
  }

  // Throws kValidation: it is needed.
  [[noreturn]] void refuse_missing(std::string_view name) const;
  [[noreturn]] void refuse(std::string_view name, const std::string& message) const;

  // The pointers of fields that nothing has read, here and in parts. Throws kValidation for one whose name is an edit
  // away from a field that was read and is absent.
  std::vector<std::string> unknown() const;
  bool was_asked(std::string_view name) const { return record_->asked.contains(name); }
  std::string pointer_of(std::string_view name) const;
  [[noreturn]] static void refuse_at(const std::string& pointer, const std::string& message);

 private:
  // An object and which of its fields were read.
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

// About the memory that the values of a JSON text will have, strings aside, which are no longer than the text: from its
// brackets, commas and colons, in one pass. For limits that hold before anything is read.
size_t json_bytes(std::string_view text, const JsonLimits& limits);

// The strings of an array, each at `pointer`/i. Throws kValidation.
std::vector<std::string> texts_of(const Json& value, const std::string& pointer);

}  // namespace deberta::serve

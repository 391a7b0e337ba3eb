// The parameters of a call, checked against the one table (pipeline/parameters.h) before any text is read.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "pipeline/parameter_words.h"
#include "pipeline/parameters.h"

namespace deberta::python {

class Parameters {
 public:
  // `given`: values by name; null is a parameter that was not given. Throws kUsage for a name that the task does not
  // have and for a value that its row does not allow. Those of `labels` and `threshold` of extract are read by
  // whoever asks: they have more forms than the table.
  Parameters(std::string_view task, JsonObject given);

  const Json* find(std::string_view name) const;  // nullptr: not given
  bool has(std::string_view name) const { return find_parameter(task_, name) != nullptr; }

  // The value, or the default of the row; the row must be of that type.
  std::optional<size_t> whole(std::string_view name) const;  // nothing: neither given nor by default
  std::optional<double> number(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::string text(std::string_view name) const;  // or a word
  std::vector<std::string> texts(std::string_view name) const;

  size_t least(std::string_view name) const;  // the low end of its range

  // The meaning of a word; nothing for auto.
  template <class T>
  std::optional<T> choice(std::string_view name) const {
    const std::string word = text(name);
    for (const ChoiceWord<T>& row : kChoiceWords<T>) {
      if (row.word == word) return row.meaning;
    }
    return std::nullopt;
  }

 private:
  const Parameter& row(std::string_view name) const;

  std::string task_;
  JsonObject given_;
};

}  // namespace deberta::python

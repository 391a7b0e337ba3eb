// The columns of a call as the inputs of a task.
#pragma once
#include <nanobind/nanobind.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "python/src/texts.h"

namespace deberta::python {

class Inputs {
 public:
  // `texts`, `pairs` and `items` (a list of texts for each row): columns of one length; None: no such column. `names`:
  // what the caller calls the three. Throws kInput for columns that are none or differ in length; what is wrong with a
  // single row, a list of texts that is none too, is a fault of the row.
  Inputs(nanobind::handle texts, nanobind::handle pairs, nanobind::handle items, std::vector<std::string> names);

  size_t size() const { return texts_.size(); }
  size_t bytes(size_t row) const;  // of its text and its pair
  TextInput view(size_t row) const;
  // Why the row cannot be read, with its place. The argument is that of the column, and of a text in a row's list the
  // list: "documents[3]".
  std::optional<Error> fault(size_t row) const;
  // "texts[3]"
  std::string place(size_t row) const;

 private:
  struct Items {
    std::vector<std::string> texts = {};
    std::string place = {};  // of the first that cannot be read, or of the whole
    std::string fault = {};
  };
  static Items read_items(nanobind::handle row, const std::string& place);

  std::vector<std::string> names_;
  Texts texts_;
  std::optional<Texts> pairs_;
  std::optional<std::vector<Items>> items_;
};

}  // namespace deberta::python

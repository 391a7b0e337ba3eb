// The form of a file of rows: as the caller says, else by its ending, else by its first line.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "data/byte_source.h"
#include "data/row_form.h"
#include "rows/row_fields.h"

namespace deberta {

// What a reader may want to tell its user: a file without an ending begins like JSON and is read as `form`; or its
// lines are read as texts, though they look like `form`.
struct FormGuess {
  std::string file;
  RowForm form;
  bool is_followed;
};

struct FormRules {
  std::optional<RowForm> requested = std::nullopt;
  bool has_conll = false;                        // sentences in columns can be read
  std::optional<char> separator = std::nullopt;  // between cells of a table; none: as its form and its first line say
  std::function<void(const FormGuess&)> on_guess = {};
  // Cells of a table without quoting begin and end with quotes, which stay in them.
  std::function<void(const std::string& file)> on_quotes = {};
  // A table whose columns are counted begins with a row that names the verb's texts: it is read as a row.
  std::function<void(const std::string& file)> on_header = {};
};

// Throws kUsage for a form that cannot be read, and what reading throws. `names` of the texts tell a table by its
// header.
RowForm find_row_form(const FormRules& rules, const Names& names, ByteSource& source);

}  // namespace deberta

// In which form a file of rows is: as its reader was told, else by its ending, else by its first line.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "data/byte_source.h"
#include "rows/row_fields.h"

namespace deberta {

enum class RowForm { kText, kTsv, kCsv, kJsonl, kJson, kConll };
std::string_view to_string(RowForm form);                      // "text", "tsv", "csv", "jsonl", "json", "conll"
std::optional<RowForm> parse_row_form(std::string_view name);  // none for another word

// What a reader may want to tell its user: a file without an ending begins like JSON and is read as `form`; or its
// lines are read as texts, though they look like `form`.
struct FormGuess {
  std::string file;
  RowForm form;
  bool is_followed;
};

struct FormRules {
  std::optional<RowForm> given = std::nullopt;
  bool has_conll = false;  // sentences in columns can be read
  std::function<void(const FormGuess&)> on_guess = {};
};

// Throws kUsage for a form that cannot be read, and what reading throws. `names` of the texts tell a table by its
// header.
RowForm find_row_form(const FormRules& rules, const Names& names, ByteSource& source);

}  // namespace deberta

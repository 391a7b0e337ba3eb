// Rows from text, TSV, CSV, JSON Lines, JSON and CoNLL, and from texts in memory.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rows/find_form.h"
#include "rows/row.h"
#include "rows/row_fields.h"

namespace deberta {

struct RowRules {
  FieldRules fields;
  FormRules form = {};
};

// A file, compressed or not; - is standard input. Rows end once `is_stopped` returns true, even while next() waits for
// input. Throws kUsage, kFileNotFound, kJson, and kInput for a file that lacks a column.
std::unique_ptr<RowSource> open_row_file(const std::string& path, const RowRules& rules,
                                         const std::function<bool()>& is_stopped);

// Texts in groups of as many as a row takes; with items all texts are one row. Throws kUsage, naming `where`, for a
// number of texts that makes no rows.
std::unique_ptr<RowSource> argument_rows(std::vector<std::string> texts, const FieldRules& rules,
                                         const std::string& where);

}  // namespace deberta

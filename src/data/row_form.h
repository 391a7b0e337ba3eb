// The forms in which files hold rows: their names, and the endings of file names that say them.
#pragma once
#include <optional>
#include <string_view>

namespace deberta {

enum class RowForm { kText, kTsv, kCsv, kJsonl, kJson, kConll };

std::string_view to_string(RowForm form);                      // "text", "tsv", "csv", "jsonl", "json", "conll"
std::optional<RowForm> parse_row_form(std::string_view name);  // none for another word

// By the ending of a file's name, in any case, before that of a compression: none for an ending that says nothing.
std::optional<RowForm> form_of_ending(std::string_view path);

// Whether the ending says Parquet, whose rows only the Python package reads.
bool has_parquet_ending(std::string_view path);

}  // namespace deberta

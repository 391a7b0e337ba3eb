// Cells of tables as text: what the program writes, its readers read back.
#pragma once
#include <string>
#include <string_view>

namespace deberta {

// TSV has no quoting. A text that a cell cannot hold (with a tab, a line feed, a carriage return or a NUL byte, or with
// the mark at its beginning) is written as the mark "\:", and these characters and backslashes as \t, \n, \r, \0, \\.
// Every other text is written as it is, backslashes too: files of others have no cell that begins with the mark.
std::string tsv_cell(std::string_view text);
// The text of a cell. One that begins with the mark, but is not what tsv_cell() writes, is a text as it stands.
std::string text_of_tsv_cell(std::string cell);

// RFC 4180: a text with a comma, a quote or a line end is quoted, its own quotes doubled.
std::string csv_cell(std::string_view text);

}  // namespace deberta

// What the ending of a file's name says of the rows in it.
#pragma once
#include <string_view>

namespace deberta {

// In any case: a.CSV ends in .csv.
bool has_ending(std::string_view path, std::string_view ending);

// "tsv", "csv", "jsonl", "json", "conll" or "text" (.txt), below the ending of a compression; "" for an ending that
// says nothing.
std::string_view form_of_ending(std::string_view path);

}  // namespace deberta

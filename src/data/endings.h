// The format of a file's rows, by its extension.
#pragma once
#include <string_view>

namespace deberta {

// In any case: a.CSV ends in .csv.
bool has_ending(std::string_view path, std::string_view ending);

// "tsv", "csv", "jsonl", "json", "conll" or "text" (.txt), before a compression's extension; "" for any other
// extension.
std::string_view form_of_ending(std::string_view path);

}  // namespace deberta

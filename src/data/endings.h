// Endings of file names.
#pragma once
#include <string_view>

namespace deberta {

// In any case: a.CSV ends in .csv.
bool has_ending(std::string_view path, std::string_view ending);

}  // namespace deberta

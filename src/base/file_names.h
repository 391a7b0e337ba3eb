// Names of files that files name: an index its shards, a manifest its files. They must stay in their folder.
#pragma once
#include <string_view>

namespace deberta {

inline bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.size() <= 255 &&
         name.find('/') == std::string_view::npos && name.find('\\') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

}  // namespace deberta

// File names found in files, such as the shards of an index or the files of a manifest. They must stay in their folder.
#pragma once
#include <string_view>

namespace deberta {

inline bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.size() <= 255 &&
         name.find('/') == std::string_view::npos && name.find('\\') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

// Plain names with one slash between each two: "trainer/state.json".
inline bool is_relative_file_name(std::string_view name) {
  for (size_t slash; (slash = name.find('/')) != std::string_view::npos; name.remove_prefix(slash + 1)) {
    if (!is_plain_file_name(name.substr(0, slash))) return false;
  }
  return is_plain_file_name(name);
}

}  // namespace deberta

// Looks a name up in the table that cmake/web.cmake generates.
#include "web/files.h"

#include <algorithm>

#include "web_files.inc"  // kFiles: made by cmake/web.cmake from the files in this folder

namespace deberta::web {

std::span<const File> files() {
  return kFiles;
}

const File* find_file(std::string_view name) {
  const auto found = std::find_if(std::begin(kFiles), std::end(kFiles), [&](const File& f) { return f.name == name; });
  return found == std::end(kFiles) ? nullptr : &*found;
}

namespace {

constexpr std::string_view kShared[] = {"api.js", "dom.js"};

}  // namespace

bool belongs_to(std::string_view page, std::string_view name) {
  return name.starts_with(page) || std::ranges::find(kShared, name) != std::end(kShared);
}

}  // namespace deberta::web

// The table that cmake/web.cmake generates, with the style sheet of colours that the room chart makes.
#include "web/files.h"

#include <algorithm>
#include <string>
#include <vector>

#include "chart/palette.h"
#include "web_files.inc"  // kFiles: made by cmake/web.cmake from the files in this folder

namespace deberta::web {
namespace {

std::vector<File> with_palette() {
  static const std::string palette = chart::palette_css();
  std::vector<File> all(std::begin(kFiles), std::end(kFiles));
  all.push_back({"palette.css", "text/css; charset=utf-8", palette});
  std::ranges::sort(all, {}, &File::name);
  return all;
}

}  // namespace

std::span<const File> files() {
  static const std::vector<File> all = with_palette();
  return all;
}

const File* find_file(std::string_view name) {
  const std::span<const File> all = files();
  const auto found = std::ranges::find(all, name, &File::name);
  return found == all.end() ? nullptr : &*found;
}

namespace {

constexpr std::string_view kShared[] = {"api.js", "dom.js", "palette.css"};

}  // namespace

bool belongs_to(std::string_view page, std::string_view name) {
  return name.starts_with(page) || std::ranges::find(kShared, name) != std::end(kShared);
}

}  // namespace deberta::web

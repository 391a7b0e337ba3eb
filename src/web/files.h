// The files of the web pages (src/web/*.html, .js, .css, .json), as they are in the repository.
#pragma once
#include <span>
#include <string_view>

namespace deberta::web {

struct File {
  std::string_view name;  // "docs.html"
  std::string_view type;  // of its content: "text/html; charset=utf-8"
  std::string_view text;
};

std::span<const File> files();  // by name
const File* find_file(std::string_view name);

}  // namespace deberta::web

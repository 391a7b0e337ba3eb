// The files of the web pages (src/web/*.html, .js, .css), as they are in the repository, and palette.css, which
// declares their colours.
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
// Whether a page may load the file: those that begin with its name, and what pages share.
bool belongs_to(std::string_view page, std::string_view name);

}  // namespace deberta::web

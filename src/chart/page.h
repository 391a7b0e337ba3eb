// The frame of a page that is one file, with the style that pages share: it loads nothing, runs nothing, and follows
// light and dark.
#pragma once
#include <string>
#include <vector>

namespace deberta::chart {

// `title` is escaped here; `body` is HTML.
std::string make_page(const std::string& title, const std::string& body);

// Cells are HTML. `style`: a class of the style sheet, or "".
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::string style = {};
};
std::string to_html(const Table& table);  // "" without a row

// The width of a picture among the .charts of a page, on a wide screen.
inline constexpr double kFigureWidth = 560;

std::string section(const std::string& title, const std::string& body);  // "" without a body

}  // namespace deberta::chart

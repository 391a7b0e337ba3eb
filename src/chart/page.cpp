// The style sheet and the frame of a page, and tables as HTML.
#include "chart/page.h"

#include <fmt/format.h>

#include <string_view>

#include "chart/chart.h"
#include "chart/palette.h"
#include "chart/text.h"

namespace deberta::chart {
namespace {

constexpr std::string_view kStyle = R"css(
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1.25rem 3rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
h1 { margin: 0; font-size: 1.6rem; overflow-wrap: anywhere; }
h2 { margin: 2.2rem 0 .8rem; font-size: 1.15rem; border-bottom: 1px solid var(--rule); padding-bottom: .3rem; }
.subtitle, footer, .note { color: var(--faint); margin: .2rem 0 1rem; }
.tiles, .charts { display: grid; gap: .8rem; }
.tiles { grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); margin: 1rem 0; }
.tiles div, figure { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; }
.tiles div { padding: .6rem .8rem; }
.tiles b { display: block; font-size: 1.25rem; font-weight: 600; overflow-wrap: anywhere; }
.tiles span { color: var(--faint); font-size: .85rem; }
.charts { grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); }
figure { margin: 0; }
figure > svg { display: block; width: 100%; height: auto; }
.warning { color: var(--bad); font-style: normal; }
.warnings { border-left: 4px solid var(--bad); background: var(--card); padding: .6rem 1rem; margin: 1rem 0; }
.warnings ul { margin: .3rem 0; padding-left: 1.2rem; }
.scroll { overflow-x: auto; }
.charts + .scroll { margin-top: 1rem; }
table.pairs td:first-child { white-space: nowrap; }
table { border-collapse: collapse; font-size: .9rem; }
table.wide { width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem 1.2rem .25rem 0; border-bottom: 1px solid var(--rule); }
th { color: var(--faint); font-weight: 600; white-space: nowrap; }
td { min-width: 4rem; font-variant-numeric: tabular-nums; }
td code, td div { overflow-wrap: anywhere; }
td code { font-size: .85rem; }
.columns { display: grid; gap: 0 2.5rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); }
table.heat td, table.heat th { text-align: right; padding: .3rem .6rem; border: 1px solid var(--rule); }
table.heat td { background: rgb(var(--heat) / calc(var(--share, 0) * .45)); min-width: 3.2rem; }
table.heat tr > :first-child { text-align: left; }
table.texts td div { min-width: 8rem; white-space: pre-wrap; }
.badge { background: var(--c0); color: var(--paper); border-radius: 4px; padding: 0 .4rem; font-size: .8rem; }
)css";

std::string row(const std::vector<std::string>& cells, const char* tag) {
  std::string html = "<tr>";
  // A cell that begins with a tag <td ...> of its own keeps it.
  for (const std::string& cell : cells)
    html += cell.starts_with("<td ") ? cell : fmt::format("<{0}>{1}</{0}>", tag, cell);
  return html + "</tr>\n";
}

}  // namespace

std::string make_page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<title>{}</title>\n<style>\n{}{}{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      escape_html(title), palette_css(), kStyle, chart_style(), body);
}

std::string to_html(const Table& table) {
  if (table.rows.empty()) return "";
  std::string html = table.style.empty() ? "<div class=\"scroll\"><table>\n"
                                         : fmt::format("<div class=\"scroll\"><table class=\"{}\">\n", table.style);
  if (!table.header.empty()) html += row(table.header, "th");
  for (const std::vector<std::string>& cells : table.rows) html += row(cells, "td");
  return html + "</table></div>\n";
}

std::string section(const std::string& title, const std::string& body) {
  return body.empty() ? "" : fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", escape_html(title), body);
}

}  // namespace deberta::chart

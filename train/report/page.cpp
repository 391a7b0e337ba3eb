// The style sheet and the frame of a page, and tables as HTML.
#include "train/report/page.h"

#include <fmt/format.h>

#include "train/report/text.h"

namespace deberta::train {
namespace {

// The colours of the lines are those of Okabe and Ito, which people who see few colours tell apart.
constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --paper: #fff; --card: #f6f7f9; --ink: #1c1e21; --faint: #5c636e; --rule: #d9dde3;
  --c0: #0072b2; --c1: #c04f00; --c2: #00805c; --c3: #a8467f; --c4: #7a5c00; --c5: #3d6b99; --bad: #c00000;
  --heat: 0 114 178; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181c; --card: #1e2227; --ink: #e6e8eb; --faint: #a0a8b4;
  --rule: #363c45; --c0: #56b4e9; --c1: #f0883e; --c2: #3fc495; --c3: #e08fbf; --c4: #e6c84b; --c5: #9bb8d6;
  --bad: #ff6b6b; --heat: 86 180 233; } }
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
figure { margin: 0; padding: .7rem .8rem .4rem; }
figcaption { font-weight: 600; }
.unit { color: var(--faint); font-weight: 400; }
figure > svg { display: block; width: 100%; height: auto; margin: .3rem 0; }
svg text { fill: var(--faint); font-size: 13px; }
svg text.x { text-anchor: middle; }
svg text.y { text-anchor: end; }
.grid { stroke: var(--rule); stroke-width: 1; }
.axis { stroke: var(--faint); stroke-width: 1; }
.resume { stroke: var(--faint); stroke-width: 1.2; stroke-dasharray: 3 3; }
.bad { stroke: var(--bad); stroke-width: 2; }
.line { fill: none; stroke: currentColor; stroke-width: 1.7; stroke-linejoin: round; stroke-linecap: round; }
.dot { fill: currentColor; }
.c0 { color: var(--c0); } .c1 { color: var(--c1); } .c2 { color: var(--c2); }
.c3 { color: var(--c3); } .c4 { color: var(--c4); } .c5 { color: var(--c5); }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: .1rem 0 .3rem; font-size: .85rem; }
.legend b { font-variant-numeric: tabular-nums; font-weight: 600; }
.key { width: 20px; height: 8px; margin-right: .35rem; vertical-align: middle; }
.key .line { stroke-width: 2.5; }
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
table.heat td { background: rgb(var(--heat) / calc(var(--share, 0) * .65)); min-width: 3.2rem; }
table.heat tr > :first-child { text-align: left; }
table.texts td div { min-width: 8rem; white-space: pre-wrap; }
.badge { background: var(--c0); color: var(--paper); border-radius: 4px; padding: 0 .4rem; font-size: .8rem; }
)";

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
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      escape_html(title), kStyle, body);
}

std::string draw(const Table& table) {
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

}  // namespace deberta::train

// Puts the style sheets, the modules and the data into the page itself, so that it needs no other file.
#include "cli/explorer_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "web/files.h"

namespace deberta::cli {
namespace {

std::string text_of(std::string_view name) {
  return std::string(web::find_file(name)->text);
}

// Inside <script> a "<" could end it.
std::string escape_markup(std::string text) {
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "\\u003c");
  return text;
}

void replace(std::string& text, std::string_view old, const std::string& with) {
  text.replace(text.find(old), old.size(), with);
}

// Appends a module behind those that it imports, each once: all are one then, which imports and exports nothing. An
// import stands on a line of its own, and no two modules of a page have a name in common (tools/check_web.py).
void append_module(const std::string& name, std::vector<std::string>& done, std::string& script) {
  constexpr std::string_view kImport = "import ", kExport = "export ", kFrom = " from \"./";
  if (std::find(done.begin(), done.end(), name) != done.end()) return;
  done.push_back(name);
  std::string own;
  for (std::string_view rest = web::find_file(name)->text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with(kImport)) {
      const size_t from = line.find(kFrom) + kFrom.size();
      append_module(std::string(line.substr(from, line.rfind('"') - from)), done, script);
    } else {
      own += line.substr(line.starts_with(kExport) ? kExport.size() : 0);
      own += '\n';
    }
  }
  script += own;
}

}  // namespace

std::string explorer_page(const Json& data) {
  constexpr std::string_view kPolicy =
      "<meta http-equiv=\"content-security-policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data: blob:\">\n";
  std::string page = text_of("explorer.html");
  replace(page, "<link rel=\"stylesheet\" href=\"explorer/palette.css\">\n", "");
  replace(page, "<link rel=\"stylesheet\" href=\"explorer/explorer.css\">",
          fmt::format("{}<style>\n{}{}</style>", kPolicy, text_of("palette.css"), text_of("explorer.css")));
  std::vector<std::string> done;
  std::string module = "<script type=\"module\">\n";
  append_module("explorer.js", done, module);
  const std::string json =
      "<script type=\"application/json\" id=\"data\">" + escape_markup(data.dump()) + "</script>\n";
  replace(page, "<script type=\"module\" src=\"explorer/explorer.js\"></script>\n", "");
  replace(page, "</body>", json + module + "</script>\n</body>");
  return page;
}

}  // namespace deberta::cli

// Puts the style sheet, the scripts and the data into the page itself, so that it needs no other file.
#include "cli/explorer_page.h"

#include <fmt/format.h>

#include <string_view>

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

// Takes the next <script ... src="explorer/NAME"></script> out of the page, and returns the file's text; "" if there is
// none.
std::string take_script(std::string& page) {
  constexpr std::string_view kBegin = "<script defer src=\"explorer/", kEnd = "\"></script>\n";
  const size_t at = page.find(kBegin);
  if (at == std::string::npos) return "";
  const size_t name = at + kBegin.size(), end = page.find(kEnd, at);
  std::string script = text_of(page.substr(name, end - name));
  page.erase(at, end + kEnd.size() - at);
  return script;
}

}  // namespace

std::string explorer_page(const Json& data) {
  constexpr std::string_view kPolicy =
      "<meta http-equiv=\"content-security-policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data: blob:\">\n";
  std::string page = text_of("explorer.html");
  replace(page, "<link rel=\"stylesheet\" href=\"explorer/explorer.css\">",
          fmt::format("{}<style>\n{}</style>", kPolicy, text_of("explorer.css")));
  std::string scripts = "<script type=\"application/json\" id=\"data\">" + escape_markup(data.dump()) + "</script>\n";
  for (std::string script; !(script = take_script(page)).empty();) scripts += "<script>\n" + script + "</script>\n";
  replace(page, "</body>", scripts + "</body>");
  return page;
}

}  // namespace deberta::cli

// Charts as JSON, as the verb `chart` reads them: what is accepted is drawn in elements that nest, with finite numbers.
#include <cmath>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/utf8.h"
#include "chart/chart_json.h"
#include "fuzz.h"

namespace deberta::fuzz {
namespace {

// A name is written beside each point of its line: longer inputs would cost memory and say no more.
constexpr size_t kMostBytes = 2048;

// `tag`: an element's name and attributes. Its label is a text of the input; the others are ours.
void check_attributes(std::string_view tag) {
  for (size_t at = tag.find("=\""); at != tag.npos; at = tag.find("=\"", at)) {
    const size_t begin = at + 2, end = tag.find('"', begin);
    FUZZ_REQUIRE(end != tag.npos);
    const std::string_view value = tag.substr(begin, end - begin);
    if (!tag.substr(0, at).ends_with(" aria-label"))
      FUZZ_REQUIRE(value.find("nan") == value.npos && value.find("inf") == value.npos);
    at = end;
  }
}

// Texts of the input are escaped, so that every angle bracket is markup.
void check_elements(std::string_view svg) {
  std::vector<std::string_view> open;
  for (size_t at = svg.find('<'); at != svg.npos; at = svg.find('<', at)) {
    const size_t end = svg.find('>', at);
    FUZZ_REQUIRE(end != svg.npos);
    const std::string_view tag = svg.substr(at + 1, end - at - 1);
    at = end;
    if (tag.starts_with('/')) {
      FUZZ_REQUIRE(!open.empty() && open.back() == tag.substr(1));
      open.pop_back();
      continue;
    }
    check_attributes(tag);
    if (!tag.ends_with('/')) open.push_back(tag.substr(0, tag.find(' ')));
  }
  FUZZ_REQUIRE(open.empty());
}

}  // namespace

void run(Bytes input) {
  if (input.size() > kMostBytes) return;
  const Json document = parse_json(to_text(input), "in");
  const chart::Picture picture = chart::draw_json(document, "in");
  FUZZ_REQUIRE(std::isfinite(picture.width) && picture.width > 0);
  FUZZ_REQUIRE(std::isfinite(picture.height) && picture.height > 0);
  for (const std::string& drawn : {chart::svg_file(picture), chart::svg_figure(picture)}) {
    FUZZ_REQUIRE(is_valid_utf8(drawn));
    check_elements(drawn);
  }
}

}  // namespace deberta::fuzz

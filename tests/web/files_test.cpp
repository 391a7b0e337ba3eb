#include "web/files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "base/file.h"
#include "chart/palette.h"
#include "support/paths.h"

namespace deberta::web::files_test {
namespace {

TEST(WebFiles, AreThoseOfTheFolderByteForByte) {
  const std::string folder = test::fixture("../../src/web");
  std::set<std::string> expected, actual;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string ending = entry.path().extension();
    if (ending != ".h" && ending != ".cpp" && ending != ".md") expected.insert(entry.path().filename());
  }
  for (const File& file : files()) {
    EXPECT_EQ(find_file(file.name), &file);
    if (file.name == "palette.css") continue;
    actual.insert(std::string(file.name));
    EXPECT_EQ(file.text, read_file(folder + "/" + std::string(file.name), size_t{1} << 24)) << file.name;
  }
  EXPECT_EQ(actual, expected);
  EXPECT_EQ(find_file("none"), nullptr);
}

TEST(WebFiles, BelongToThePageOfTheirName) {
  EXPECT_TRUE(belongs_to("docs", "docs.js"));
  EXPECT_TRUE(belongs_to("explorer", "explorer-draw.js"));
  EXPECT_TRUE(belongs_to("docs", "api.js"));
  EXPECT_TRUE(belongs_to("explorer", "palette.css"));
  EXPECT_FALSE(belongs_to("docs", "explorer.js"));
}

// One table of colours, in the room chart: no page types its own.
TEST(WebFiles, TakeTheirColoursFromThePalette) {
  ASSERT_NE(find_file("palette.css"), nullptr);
  const std::string palette(find_file("palette.css")->text);
  EXPECT_EQ(palette, chart::palette_css());
  const std::regex typed("#[0-9a-fA-F]{6}\\b|light-dark|\\brgb\\([0-9]"), used("var\\(--([a-z0-9]+)\\)");
  for (const File& file : files()) {
    const std::string text(file.text);
    if (!(file.name.ends_with(".css") || file.name.ends_with(".js")) || file.name == "palette.css") continue;
    EXPECT_FALSE(std::regex_search(text, typed)) << file.name;
    for (std::sregex_iterator found(text.begin(), text.end(), used), end; found != end; ++found)
      EXPECT_NE(palette.find("--" + (*found)[1].str() + ":"), std::string::npos) << file.name << ": " << found->str();
  }
  for (const char* page : {"explorer.html", "docs.html"})
    EXPECT_NE(find_file(page)->text.find("/palette.css\">"), std::string_view::npos) << page;
}

// The server forbids inline scripts and styles, and whatever comes from elsewhere.
TEST(WebFiles, LoadNothingFromElsewhereAndHaveNothingInline) {
  const std::regex inline_code("<script>|<style|\\son\\w+=|\\sstyle=|javascript:");
  const std::regex elsewhere(
      "(src|href)=\"(https?:)?//|@import|\\burl\\((?!#)|\\bimport\\(?\\s*[\"']https?:|eval\\(|new Function");
  for (const File& file : files()) {
    const std::string text(file.text);
    if (file.name.ends_with(".html")) {
      EXPECT_FALSE(std::regex_search(text, inline_code)) << file.name;
    }
    EXPECT_FALSE(std::regex_search(text, elsewhere)) << file.name;
  }
}

}  // namespace
}  // namespace deberta::web::files_test

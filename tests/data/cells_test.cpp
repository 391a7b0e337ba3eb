// What a table's writer writes, its reader reads back.
#include "data/cells.h"

#include <gtest/gtest.h>

#include <string>

namespace deberta::cells_test {
namespace {

TEST(TsvCells, HoldAnyText) {
  for (const std::string text :
       {"", "plain", "a\tb", "a\nb", "a\r\nb", "\t", "\\:", "\\:a\\tb", "C:\\new", "\\theta", "a\\\tb"}) {
    const std::string cell = tsv_cell(text);
    EXPECT_EQ(cell.find_first_of("\t\n\r"), std::string::npos) << text;
    EXPECT_EQ(text_of_tsv_cell(cell), text);
  }
  const std::string zero("a\0b", 3);
  EXPECT_EQ(tsv_cell(zero), "\\:a\\0b");
  EXPECT_EQ(text_of_tsv_cell("\\:a\\0b"), zero);
}

TEST(TsvCells, AreTheTextItselfWhereATableCanHoldIt) {
  for (const char* text : {"C:\\new\\temp", "\\theta and \\nu", "and\\/or", "\\", "\"quoted\"", " : \\:"}) {
    EXPECT_EQ(tsv_cell(text), text);
    EXPECT_EQ(text_of_tsv_cell(text), text);
  }
  EXPECT_EQ(tsv_cell("a\tb\\c"), "\\:a\\tb\\\\c");
}

TEST(TsvCells, OfOthersThatBeginWithTheMarkStayAsTheyAre) {
  for (const char* cell : {"\\:\\alpha", "\\:a\\", "\\: \\x"}) EXPECT_EQ(text_of_tsv_cell(cell), cell);
}

TEST(CsvCells, AreQuotedWhereTheyMust) {
  EXPECT_EQ(csv_cell("a b"), "a b");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("a\r\nb"), "\"a\r\nb\"");
  EXPECT_EQ(csv_cell("say \"x\""), "\"say \"\"x\"\"\"");
}

}  // namespace
}  // namespace deberta::cells_test

// TSV and CSV: cells, quotes, headers, and rows of another width than the first.
#include "data/table.h"

#include <gtest/gtest.h>

#include "support/compressed.h"
#include "support/expect_error.h"

namespace deberta::table_test {
namespace {

using Cells = std::vector<std::string>;
constexpr TableRules kCsv{.separator = ',', .has_quotes = true};
constexpr TableRules kBareCsv{.separator = ',', .has_quotes = true, .has_header = false};

TableReader reader_of(std::string_view text, const TableRules& rules) {
  return {LineReader(ByteSource(to_bytes(text), "in")), rules};
}

// The cells of each row; a bad row has one cell, its message.
std::vector<Cells> rows_of(std::string_view text, const TableRules& rules) {
  TableReader reader = reader_of(text, rules);
  std::vector<Cells> rows;
  for (TableRow row; reader.next(row);) rows.push_back(row.error ? Cells{row.error->what()} : row.cells);
  return rows;
}

TEST(Table, TsvTakesQuotesAsTheyAre) {
  EXPECT_EQ(rows_of("a\tb\n\"x\t y \n\t\"\"\n", {}), (std::vector<Cells>{{"\"x", " y "}, {"", "\"\""}}));
}

TEST(Table, TsvReadsItsOwnEscapesAndLeavesThoseOfOthers) {
  EXPECT_EQ(rows_of("a\tb\n\\:x\\ty\tC:\\new\n", {}), (std::vector<Cells>{{"x\ty", "C:\\new"}}));
}

TEST(Table, HeaderNamesTheColumnsOrThereIsNone) {
  TableReader named = reader_of("a\tb\n1\t2\n", {}), counted = reader_of("a\tb\n1\t2\n", {.has_header = false});
  TableRow row;
  EXPECT_TRUE(named.next(row));
  EXPECT_EQ(named.columns(), (Cells{"a", "b"}));
  EXPECT_EQ(row.cells, (Cells{"1", "2"}));
  EXPECT_EQ(row.where, "in:2");
  EXPECT_FALSE(named.next(row));
  EXPECT_TRUE(counted.next(row));
  EXPECT_EQ(counted.columns(), (Cells{"1", "2"}));
  EXPECT_EQ(row.cells, (Cells{"a", "b"}));
}

TEST(Table, AFileWithoutRowsHasNone) {
  EXPECT_TRUE(rows_of("", {}).empty());
  EXPECT_TRUE(rows_of("a\tb\n", {}).empty());
  EXPECT_TRUE(rows_of("", kBareCsv).empty());
}

TEST(Table, QuotedCellsHoldSeparatorsQuotesAndLineEnds) {
  EXPECT_EQ(rows_of("\"a,b\",\"say \"\"x\"\"\",\"\"\r\n\"one\r\ntwo\n\nfour\",c,\"\"\"\"\n", kBareCsv),
            (std::vector<Cells>{{"a,b", "say \"x\"", ""}, {"one\r\ntwo\n\nfour", "c", "\""}}));
  EXPECT_EQ(rows_of(",\n,", kBareCsv), (std::vector<Cells>{{"", ""}, {"", ""}}));
  EXPECT_EQ(rows_of("\"last\"", kBareCsv), (std::vector<Cells>{{"last"}}));
}

TEST(Table, AQuoteWithinAnUnquotedCellIsACharacter) {
  EXPECT_EQ(rows_of("a,b\nx\"y\",5\" pipe\n1,2\n", kCsv), (std::vector<Cells>{{"x\"y\"", "5\" pipe"}, {"1", "2"}}));
}

TEST(Table, TextBehindAQuotedCellIsAnErrorWithLineAndColumn) {
  EXPECT_EQ(rows_of("a,b\n\"x\" ,z\n1,2\n", kCsv),
            (std::vector<Cells>{{"in:2: line 2, column 4: expected a separator after a quoted cell"}, {"1", "2"}}));
  EXPECT_EQ(rows_of("a,b\n\"x\ny\"z,1\n1,2\n", kCsv),
            (std::vector<Cells>{{"in:2: line 3, column 3: expected a separator after a quoted cell"}, {"1", "2"}}));
  EXPECT_EQ(rows_of("a\n\"x\ny\n", kCsv), (std::vector<Cells>{{"in:2: unterminated quoted cell"}}));
}

constexpr TableRules kSheet{.separator = kFindSeparator, .has_quotes = true};

TEST(Table, TheFirstLineSaysWhatSeparates) {
  const std::vector<Cells> rows = {{"1", "x, y; z"}, {"2", ""}};
  EXPECT_EQ(rows_of("a,b\n1,\"x, y; z\"\n2,\n", kSheet), rows);
  EXPECT_EQ(rows_of("a;b\n1;\"x, y; z\"\n2;\n", kSheet), rows);
  EXPECT_EQ(rows_of("a\tb\n1\tx, y; z\n2\t\n", kSheet), rows);
  EXPECT_EQ(rows_of("\"a,1\";b\n1;\"x, y; z\"\n2;\n", kSheet), rows);
  EXPECT_EQ(rows_of("a;1,b\n1,\"x, y; z\"\n2,\n", kSheet), rows);  // a comma goes first
  EXPECT_EQ(rows_of("sep=;\na;b\n1;\"x, y; z\"\n2;\n", kSheet), rows);
  EXPECT_EQ(rows_of("sep=|\r\na|b\r\n1|x, y; z\r\n2|\r\n", kSheet), rows);
  EXPECT_EQ(rows_of("a\nx;y\n", kSheet), (std::vector<Cells>{{"x;y"}}));
}

TEST(Table, EmptyLinesAreNoRows) {
  EXPECT_EQ(rows_of("\n\na,b\n\n1,2\n\n\n3,4\n\n", kSheet), (std::vector<Cells>{{"1", "2"}, {"3", "4"}}));
  EXPECT_EQ(rows_of("\na\tb\n\n1\t2\n", {}), (std::vector<Cells>{{"1", "2"}}));
  EXPECT_EQ(rows_of("a\n\nx\n\\:\n", {}), (std::vector<Cells>{{"x"}, {""}}));
  EXPECT_EQ(rows_of("a\n\nx\n\"\"\n", kSheet), (std::vector<Cells>{{"x"}, {""}}));
  EXPECT_EQ(rows_of("\n\n", kSheet), std::vector<Cells>());
}

TEST(Table, ColumnsWithoutANameAreNumbers) {
  TableReader reader = reader_of("text,,\nx,,\ny,z,\n", kSheet);
  TableRow row;
  ASSERT_TRUE(reader.next(row));
  EXPECT_EQ(reader.columns(), (Cells{"text", "2", "3"}));
  EXPECT_EQ(Json(reader.by_column(row)).dump(), R"({"text": "x"})");
  ASSERT_TRUE(reader.next(row));
  EXPECT_EQ(Json(reader.by_column(row)).dump(), R"({"text": "y", "2": "z"})");
}

TEST(Table, AQuotedHeaderOfTabsSaysThatCellsAreQuoted) {
  EXPECT_EQ(rows_of("\"a\"\t\"b\"\n\"say \"\"x\"\"\"\t\"1\n2\"\n", {}), (std::vector<Cells>{{"say \"x\"", "1\n2"}}));
  EXPECT_EQ(rows_of("\"a\"\tb\n\"x\"\ty\n", {}), (std::vector<Cells>{{"\"x\"", "y"}}));
  TableReader plain = reader_of("a\tb\nx \"y\"\tz\n", {}), quoted = reader_of("a\tb\n\"x\"\tz\n", {});
  TableRow row;
  ASSERT_TRUE(plain.next(row) && quoted.next(row));
  EXPECT_FALSE(plain.looks_quoted());
  EXPECT_TRUE(quoted.looks_quoted());
}

// As writers leave them that quote only where they must; what is no such row stays as it was.
TEST(Table, LinesOfAQuotedCellUnderAPlainHeaderAreOneRow) {
  EXPECT_EQ(rows_of("a\tb\n1\t\"x \"\"y\"\"\"\n2\t\"first\nsecond, \"\"so\"\"\n\nlast\"\n3\tz\n", {}),
            (std::vector<Cells>{{"1", "\"x \"\"y\"\"\""}, {"2", "first\nsecond, \"so\"\n\nlast"}, {"3", "z"}}));
  EXPECT_EQ(rows_of("a\tb\tc\n1\t\"x\r\ny\"\tz\r\n", {}), (std::vector<Cells>{{"1", "x\r\ny", "z"}}));
  TableReader noted = reader_of("a\tb\n2\t\"x\ny\"\n", {});
  TableRow row;
  ASSERT_TRUE(noted.next(row));
  EXPECT_FALSE(noted.looks_quoted());  // no quote stays in a text
  // Line ends within a cell are its own, whatever ends the rows.
  EXPECT_EQ(rows_of("a\tb\n1\t\"x\r\ny\"\n2\t\"x\ny\"\r\n", {}), (std::vector<Cells>{{"1", "x\r\ny"}, {"2", "x\ny"}}));
  EXPECT_EQ(rows_of("a\tb\r\n1\t\"x\r\ny\"", {}), (std::vector<Cells>{{"1", "x\r\ny"}}));
  // A stray quote: the next line is a row of its own, the quote is never closed, or the whole has other columns.
  EXPECT_EQ(rows_of("a\tb\n1\t\"x\n2\ty\"\n", {}), (std::vector<Cells>{{"1", "\"x"}, {"2", "y\""}}));
  EXPECT_EQ(rows_of("a\tb\n1\t\"x\ny\n", {}), (std::vector<Cells>{{"1", "\"x"}, {"in:3: expected 2 columns, got 1"}}));
  EXPECT_EQ(rows_of("a\tb\n1\t\"x\ny\" z\n2\tw\n", {}),
            (std::vector<Cells>{{"1", "\"x"}, {"in:3: expected 2 columns, got 1"}, {"2", "w"}}));
  EXPECT_EQ(rows_of("a\tb\n1\t\"x\ny\"\tz\tw\n", {}),
            (std::vector<Cells>{{"1", "\"x"}, {"in:3: expected 2 columns, got 3"}}));
}

// Lines that open quotes and close them cost no more than their bytes.
TEST(Table, LooksAheadForClosingQuotesOnlyOnce) {
  std::string hostile = "a\tb\tc\n";
  for (int i = 0; i < 200000; ++i) hostile += "x\"\t\"y\n";
  EXPECT_EQ(rows_of(hostile, {}).size(), 200000u);
  EXPECT_EQ(rows_of("a\tb\n1\t\"x" + std::string(300000, '\n'), {}), (std::vector<Cells>{{"1", "\"x"}}));
}

TEST(Table, RaggedRowsAreReportedWithTheirLineAndTheRestIsRead) {
  const std::vector<Cells> expected = {
      {"1", "2"}, {"in:3: expected 2 columns, got 1"}, {"in:4: expected 2 columns, got 3"}, {"3", "4"}};
  EXPECT_EQ(rows_of("a\tb\n1\t2\n1\n1\t2\t3\n\n3\t4\n", {}), expected);
  EXPECT_EQ(rows_of("a,b\n1,2\n1\n1,2,3\n\n3,4\n", kCsv), expected);
  EXPECT_EQ(rows_of("1\t2\n1\n", {.has_header = false}),
            (std::vector<Cells>{{"1", "2"}, {"in:2: expected 2 columns, got 1"}}));
}

TEST(Table, ABrokenHeaderEndsTheReading) {
  EXPECT_ERROR(rows_of("a\tb\ta\n1\t2\t3\n", {}), kInput, "in:1: two columns are named \"a\"");
  EXPECT_ERROR(rows_of("a,\"b\nc,d\n", kCsv), kInput, "in:1: unterminated quoted cell");
  EXPECT_ERROR(rows_of(std::string(LineReader::kMaxLineBytes + 1, 'x'), {}), kTooLarge,
               "in:1: expected a line of at most");
}

TEST(Table, ColumnsWithoutAHeaderMayBeNamedLater) {
  TableReader reader = reader_of("1\t2\n3\t4\n", {.has_header = false});
  TableRow row;
  ASSERT_TRUE(reader.next(row));
  EXPECT_EQ(Json(reader.by_column(row)).dump(), R"({"1": "1", "2": "2"})");
  EXPECT_ERROR(reader.name_columns({row.where, {"a", "a"}, {}}), kInput, "in:1: two columns are named \"a\"");
  reader.name_columns({row.where, {"a", "b"}, {}});
  ASSERT_TRUE(reader.next(row));
  EXPECT_EQ(Json(reader.by_column(row)).dump(), R"({"a": "3", "b": "4"})");
}

TEST(Table, InvalidUtf8IsRepaired) {
  EXPECT_EQ(rows_of("a\tb\xFF\n\xC0\xAF\t\xE2\x82\n", {.has_header = false}),
            (std::vector<Cells>{{"a", "b\xEF\xBF\xBD"}, {"\xEF\xBF\xBD\xEF\xBF\xBD", "\xEF\xBF\xBD"}}));
}

TEST(Table, HasLimits) {
  const std::string wide(TableReader::kMaxColumns - 1, '\t');
  EXPECT_EQ(rows_of(wide, {.has_header = false})[0].size(), TableReader::kMaxColumns);
  EXPECT_EQ(rows_of(wide + "\t\n", {.has_header = false})[0], (Cells{"in:1: expected at most 4096 columns, got more"}));
  const std::string half(LineReader::kMaxLineBytes / 2, 'x');
  const auto rows = rows_of("a\n\"" + half + "\n" + half + "\"\n" + half + "\n\"b\"\n", kCsv);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0], (Cells{"in:2: unterminated quoted cell: expected a row of at most 16777216 bytes"}));
  EXPECT_EQ(rows[1][0].size(), half.size());
  EXPECT_EQ(rows[2], (Cells{"b"}));
}

TEST(Table, AnErrorOfTheStreamIsNotARow) {
  const std::string whole = test::compressed("a,b\n1,2\n\"x\ny", Compression::kGzip);
  TableReader reader(LineReader(ByteSource(to_bytes(whole).first(whole.size() - 4), "in", Compression::kGzip)), kCsv);
  TableRow row;
  EXPECT_TRUE(reader.next(row));
  EXPECT_ERROR(reader.next(row), kFileRead, "the file is truncated");
}

}  // namespace
}  // namespace deberta::table_test

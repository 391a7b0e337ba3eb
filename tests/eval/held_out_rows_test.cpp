// Held-out documents as rows: each corpus by itself, without marks, with a limit on lines.
#include "eval/held_out_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::held_out_rows_test {
namespace {

using test::TemporaryFolder;
using test::write_text;
using Texts = std::vector<std::string>;

// Documents 1 to `count` with two lines each.
std::string documents(int count) {
  std::string text;
  for (int n = 1; n <= count; ++n) {
    const std::string name = std::to_string(n);
    text += "<|doc " + name + "|>\nfirst of " + name + "\nSection::::second of " + name + "\n";
  }
  return text;
}

Texts texts_of(const HeldOutLines& lines) {
  Texts texts;
  const std::unique_ptr<RowSource> rows = held_out_rows(lines, [] { return false; });
  for (Row row; rows->next(row);) texts.push_back(row.text);
  EXPECT_EQ(rows->fraction_done(), 1.0);
  return texts;
}

TEST(HeldOutRows, CountTheDocumentsOfEachCorpusByItself) {
  const TemporaryFolder folder;
  write_text(folder.path("a.txt"), documents(4));
  write_text(folder.path("b.txt"), documents(3));
  EXPECT_EQ(texts_of({.corpora = {folder.path("a.txt"), folder.path("b.txt")}, .every = 3}),
            (Texts{"first of 3", "second of 3", "first of 3", "second of 3"}));
  EXPECT_EQ(texts_of({.corpora = {folder.path()}, .every = 3}),
            (Texts{"first of 3", "second of 3", "first of 2", "second of 2"}))
      << "a folder is one corpus: its sixth document is the second of the second file";
}

TEST(HeldOutRows, StopAtTheMostLinesOfACorpus) {
  const TemporaryFolder folder;
  write_text(folder.path("a.txt"), documents(9));
  EXPECT_EQ(texts_of({.corpora = {folder.path("a.txt")}, .every = 2, .most_lines = 3}),
            (Texts{"first of 2", "second of 2", "first of 4"}));
}

TEST(HeldOutRows, SayWhereALineIsAndRefuseWhatIsNotThere) {
  const TemporaryFolder folder;
  write_text(folder.path("a.txt"), documents(2));
  const HeldOutLines lines{.corpora = {folder.path("a.txt")}, .every = 2};
  const std::unique_ptr<RowSource> rows = held_out_rows(lines, [] { return false; });
  Row row;
  ASSERT_TRUE(rows->next(row));
  EXPECT_EQ(row.where, folder.path("a.txt") + ": held-out line 1");
  EXPECT_ERROR(held_out_rows({.corpora = {folder.path("none.txt")}, .every = 2}, {}), kFileNotFound, "no such file");
}

}  // namespace
}  // namespace deberta::held_out_rows_test

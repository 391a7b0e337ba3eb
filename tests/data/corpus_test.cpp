// From files to the lines of documents: names, compression, markers, held-out documents, and what is refused.
#include "data/corpus.h"

#include <gtest/gtest.h>

#include "support/compressed.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::corpus_test {
namespace {

using test::TemporaryFolder;
using test::write_text;
using Lines = std::vector<std::string>;

// Lines; "+" before those that begin a document.
Lines lines_of(const std::vector<std::string>& paths, const CorpusOptions& options = {}) {
  CorpusReader reader(find_corpus_files(paths), options);
  Lines lines;
  for (CorpusReader::Line line; reader.next(line);) lines.push_back((line.begins_document ? "+" : "") + line.text);
  return lines;
}

TEST(CorpusFiles, FoldersAndPatternsGiveTheirTextFilesSorted) {
  const TemporaryFolder folder;
  for (const char* name : {"b.txt", "a.txt.xz", "c.txt.gz", "d.txt.zst", "notes.md", "a.json.xz"})
    write_text(folder.path(name), "x\n");
  const Lines all = {folder.path("a.txt.xz"), folder.path("b.txt"), folder.path("c.txt.gz"), folder.path("d.txt.zst")};
  EXPECT_EQ(find_corpus_files({folder.path()}), all);
  EXPECT_EQ(find_corpus_files({folder.path("[bc].*")}), (Lines{folder.path("b.txt"), folder.path("c.txt.gz")}));
  EXPECT_EQ(find_corpus_files({folder.path("notes.md"), folder.path("b.txt")}),
            (Lines{folder.path("notes.md"), folder.path("b.txt")}))
      << "files that are named are read whatever they are called, in the order given";
}

TEST(CorpusFiles, WhatNamesNoFileIsRefused) {
  const TemporaryFolder folder;
  EXPECT_ERROR(find_corpus_files({folder.path("nothing.txt")}), kFileNotFound, "nothing.txt: no such file");
  EXPECT_ERROR(find_corpus_files({folder.path("*.txt")}), kFileNotFound, "no such file");
  EXPECT_ERROR(find_corpus_files({folder.path()}), kFileNotFound, "expected text files");
}

TEST(CorpusReader, ReadsEveryCompressionAlike) {
  const TemporaryFolder folder;
  const std::string text = "first line\n\n  \nsecond line\r\nlast without end";
  for (const auto compression : {Compression::kNone, Compression::kXz, Compression::kGzip, Compression::kZstd}) {
    write_text(folder.path("a.txt"), compression == Compression::kNone ? text : test::compressed(text, compression));
    EXPECT_EQ(lines_of({folder.path("a.txt")}), (Lines{"+first line", "second line", "last without end"}))
        << to_string(compression);
  }
}

TEST(CorpusReader, ADocumentBeginsWithEachFileAndEachMarker) {
  const TemporaryFolder folder;
  write_text(folder.path("a.txt"), "<|doc EMPTY|>\n<|doc A|>\none\nSection::::Title.\n<|doc B|>\ntwo\n");
  write_text(folder.path("b.txt"), "three\n<|doc C|>\nfour\n");
  EXPECT_EQ(lines_of({folder.path()}, {.drops_markers = true}), (Lines{"+one", "Title.", "+two", "+three", "+four"}));
  EXPECT_EQ(lines_of({folder.path("b.txt")}), (Lines{"+three", "<|doc C|>", "four"}))
      << "without the option it is text";
  write_text(folder.path("c.txt"), "in a <|doc X|> line\nsee Section::::here\n<|doc open\n");
  EXPECT_EQ(lines_of({folder.path("c.txt")}, {.drops_markers = true}),
            (Lines{"+in a <|doc X|> line", "see Section::::here", "<|doc open"}));
}

TEST(CorpusReader, EveryNthDocumentIsHeldOutOfTrainingAndReadAlone) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 7; ++i)
    text += "<|doc D|>\n" + std::to_string(i) + "\nmore of " + std::to_string(i) + "\n<|doc E|>\n";
  write_text(folder.path("a.txt"), text);
  const auto read = [&](Documents documents) {
    return lines_of({folder.path("a.txt")}, {.drops_markers = true, .holds_out_every = 3, .documents = documents});
  };
  EXPECT_EQ(read(Documents::kHeldOut), (Lines{"+2", "more of 2", "+5", "more of 5"}));
  EXPECT_EQ(read(Documents::kTraining),
            (Lines{"+0", "more of 0", "+1", "more of 1", "+3", "more of 3", "+4", "more of 4", "+6", "more of 6"}));
  EXPECT_EQ(read(Documents::kAll).size(), 14u);
}

TEST(CorpusReader, HoldingOutNothingOrEverythingIsRefused) {
  EXPECT_ERROR(CorpusReader({}, {.holds_out_every = 0, .documents = Documents::kHeldOut}), kUsage, "holds_out_every");
  EXPECT_ERROR(CorpusReader({}, {.holds_out_every = 1, .documents = Documents::kTraining}), kUsage, "holds_out_every");
}

TEST(CorpusReader, InvalidUtf8BecomesTheReplacementCharacter) {
  const TemporaryFolder folder;
  write_text(folder.path("a.txt"), "good\nba\xFF\xC3(d\n");
  CorpusReader reader({folder.path("a.txt")}, {});
  CorpusReader::Line line;
  ASSERT_TRUE(reader.next(line) && reader.next(line));
  EXPECT_EQ(line.text, "ba\xEF\xBF\xBD\xEF\xBF\xBD(d");
  EXPECT_EQ(reader.repaired_lines(), 1u);
}

TEST(CorpusReader, DamagedAndUnreadableFilesAreNamed) {
  const TemporaryFolder folder;
  const std::string whole = test::compressed("some lines of text\nand more\n", Compression::kXz);
  write_text(folder.path("cut.txt.xz"), whole.substr(0, whole.size() - 10));
  EXPECT_ERROR(lines_of({folder.path("cut.txt.xz")}), kFileRead, "cut.txt.xz");
  std::string flipped = whole;
  flipped[flipped.size() / 2] ^= 0x10;
  write_text(folder.path("flipped.txt.xz"), flipped);
  EXPECT_ERROR(lines_of({folder.path("flipped.txt.xz")}), kFileRead, "flipped.txt.xz");
  EXPECT_ERROR(lines_of({folder.path("cut.txt.xz"), folder.path("gone.txt")}), kFileNotFound, "gone.txt");
}

TEST(CorpusReader, StopsWhenAsked) {
  const TemporaryFolder folder;
  write_text(folder.path("a.txt"), "1\n2\n3\n4\n");
  int left = 5;
  CorpusReader reader({folder.path("a.txt")}, {}, [&] { return --left < 0; });
  CorpusReader::Line line;
  int lines = 0;
  while (reader.next(line)) ++lines;
  EXPECT_LT(lines, 4);
}

}  // namespace
}  // namespace deberta::corpus_test

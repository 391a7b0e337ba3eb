// Lines and what they are read from: line ends, limits, and compressed streams, right, damaged and cut off.
#include "data/lines.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "support/compressed.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::lines_test {
namespace {

using test::compressed;
using Lines = std::vector<std::string>;

constexpr Compression kAll[] = {Compression::kNone, Compression::kGzip, Compression::kXz, Compression::kZstd,
                                Compression::kBzip2};
constexpr Compression kCompressed[] = {Compression::kGzip, Compression::kXz, Compression::kZstd, Compression::kBzip2};

ByteSource source_of(std::string_view bytes, Compression compression = Compression::kNone) {
  return ByteSource(to_bytes(bytes), "in", compression);
}

Lines lines_of(ByteSource source) {
  LineReader reader(std::move(source));
  Lines lines;
  std::string line;
  for (LineReader::Status status; (status = reader.next(line)) != LineReader::Status::kEnd;)
    lines.push_back(status == LineReader::Status::kTooLong ? "(too long)" : line);
  return lines;
}
Lines lines_of(std::string_view text) {
  return lines_of(source_of(text));
}

TEST(LineReader, TakesLfAndCrLfAndALastLineWithoutEnd) {
  EXPECT_EQ(lines_of("a\nb\r\n\n\r\nc"), (Lines{"a", "b", "", "", "c"}));
  EXPECT_EQ(lines_of("a\n"), (Lines{"a"}));
  EXPECT_EQ(lines_of("a\r"), (Lines{"a"}));
  EXPECT_EQ(lines_of("a\rb\r\r\n"), (Lines{"a\rb\r"}));
  EXPECT_EQ(lines_of(""), (Lines{}));
  EXPECT_EQ(lines_of("\n"), (Lines{""}));
}

TEST(LineReader, TakesCarriageReturnsAloneWhereThereIsNoLineFeed) {
  EXPECT_EQ(lines_of("a\rb\r\rc"), (Lines{"a", "b", "", "c"}));
  EXPECT_EQ(lines_of("a\rb\r"), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of("a\rb\nc\rd\n"), (Lines{"a\rb", "c\rd"}));
  std::string text;
  for (int i = 0; i < 3000000; ++i) text += "line\r";
  EXPECT_EQ(lines_of(text).size(), 3000000u);  // the first line feed could come 16 MiB later
}

TEST(LineReader, DropsOneByteOrderMarkAtTheStart) {
  EXPECT_EQ(lines_of("\xEF\xBB\xBF"
                     "a\n"),
            (Lines{"a"}));
  EXPECT_EQ(lines_of("\xEF\xBB\xBF\xEF\xBB\xBF"
                     "a\n\xEF\xBB\xBF"
                     "b"),
            (Lines{"\xEF\xBB\xBF"
                   "a",
                   "\xEF\xBB\xBF"
                   "b"}));
  EXPECT_EQ(lines_of("\xEF\xBB"), (Lines{"\xEF\xBB"}));
}

TEST(LineReader, CountsTheLinesThatHadToBeRepaired) {
  LineReader reader(source_of("a\n\xFFz\n\xEF\xBF\xBD\nx\xC3\n"));
  std::vector<size_t> counts;
  for (TextLine line; read_text_line(reader, line);) counts.push_back(reader.repaired());
  EXPECT_EQ(counts, (std::vector<size_t>{0, 1, 1, 2}));
}

TEST(LineReader, CountsLinesFromOne) {
  LineReader reader(source_of("a\n\nb"));
  std::string line;
  reader.next(line);
  EXPECT_EQ(reader.where(), "in:1");
  reader.next(line);
  reader.next(line);
  EXPECT_EQ(reader.where(), "in:3");
}

TEST(LineReader, PassesOverALineAboveTheLimitWhateverHoldsIt) {
  const std::string full(LineReader::kMaxLineBytes, 'x');
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    SCOPED_TRACE(to_string(compression));
    const std::string stored = compressed(full + "\n" + full + "y\n" + full + full + "\nz\n" + full + "y", compression);
    const Lines lines = lines_of(source_of(stored, compression));
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_EQ(lines[0].size(), full.size());
    for (const size_t i : {size_t{1}, size_t{2}, size_t{4}}) EXPECT_EQ(lines[i], "(too long)");
    EXPECT_EQ(lines[3], "z");
  }
}

std::string many_lines() {
  std::string text;
  for (int i = 0; i < 40000; ++i) text += "line " + std::to_string(i * 7919 % 40009) + "\n";
  return text;
}

TEST(ByteSource, GivesTheSameLinesFromEveryCompression) {
  const std::string text = many_lines();
  for (const Compression compression : kAll)
    EXPECT_EQ(lines_of(source_of(compressed(text, compression), compression)), lines_of(text))
        << to_string(compression);
}

TEST(ByteSource, ReadsStreamsOneAfterTheOtherAsOne) {
  for (const Compression compression : kCompressed) {
    const std::string both =
        compressed("a\nb", compression) + compressed("", compression) + compressed("c\n", compression);
    EXPECT_EQ(lines_of(source_of(both, compression)), (Lines{"a", "bc"})) << to_string(compression);
  }
}

TEST(ByteSource, EmptyTextIsAStreamAndAnEmptyFileIsNone) {
  for (const Compression compression : kCompressed) {
    EXPECT_EQ(lines_of(source_of(compressed("", compression), compression)), Lines{});
    EXPECT_ERROR(lines_of(source_of("", compression)), kFileRead,
                 "expected more after byte 0, got the end; the file is truncated");
  }
}

TEST(ByteSource, RefusesAStreamThatIsCutOffAnywhere) {
  for (const Compression compression : kCompressed) {
    const std::string whole = compressed("some text\nand more\n", compression);
    for (size_t size = 1; size < whole.size(); ++size)
      EXPECT_ERROR(lines_of(source_of(whole.substr(0, size), compression)), kFileRead, "in: ");
  }
}

TEST(ByteSource, RefusesADamagedStreamWithItsPosition) {
  EXPECT_ERROR(lines_of(source_of("plain text, no stream", Compression::kGzip)), kFileRead,
               "in: damaged gzip stream at byte 2: incorrect header check");
  EXPECT_ERROR(lines_of(source_of("plain text, no stream", Compression::kXz)), kFileRead,
               "in: damaged xz stream at byte");
  EXPECT_ERROR(lines_of(source_of("plain text, no stream", Compression::kZstd)), kFileRead,
               "in: damaged zstd stream at byte");
  for (const Compression compression : kCompressed) {
    const std::string whole = compressed(many_lines(), compression);
    EXPECT_ERROR(lines_of(source_of(whole + "x", compression)), kFileRead, "in: ");
    EXPECT_ERROR(lines_of(source_of(whole + "garbage that is no stream", compression)), kFileRead, "in: damaged");
    std::string damaged = whole;
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
    try {
      lines_of(source_of(damaged, compression));
      ADD_FAILURE() << to_string(compression);
    } catch (const Error& error) {  // or the bytes decoded before the damage are not text
      EXPECT_TRUE(error.code() == ErrorCode::kFileRead || error.code() == ErrorCode::kInput) << error.what();
    }
  }
}

TEST(ByteSource, NeverGivesWrongTextForAFlippedBit) {
  const std::string text = "one line of text\nanother line of text\n";
  for (const Compression compression : kCompressed) {
    const std::string whole = compressed(text, compression);
    for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
      std::string damaged = whole;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      try {
        EXPECT_EQ(lines_of(source_of(damaged, compression)), lines_of(text))
            << to_string(compression) << " bit " << bit;
      } catch (const Error& error) {
        EXPECT_TRUE(error.code() == ErrorCode::kFileRead || error.code() == ErrorCode::kTooLarge ||
                    error.code() == ErrorCode::kInput)
            << error.what();
      }
    }
  }
}

TEST(ByteSource, RefusesAWindowThatNeedsTooMuchMemory) {
  const std::string text = many_lines();
  EXPECT_ERROR(lines_of(source_of(test::zstd_with_window(text, 28), Compression::kZstd)), kTooLarge,
               "its decoder would need more than");
  EXPECT_EQ(lines_of(source_of(test::zstd_with_window(text, 27), Compression::kZstd)).size(), 40000u);
  EXPECT_ERROR(lines_of(source_of(test::xz_with_dictionary(text, uint32_t{1} << 29), Compression::kXz)), kTooLarge,
               "in: xz stream at byte");
}

TEST(ByteSource, LimitsCountDecompressedBytes) {
  const std::string text(1000000, 'a');
  for (const Compression compression : kCompressed) {
    const std::string stored = compressed(text, compression);
    ASSERT_LT(stored.size(), 2000u);
    ByteSource enough = source_of(stored, compression), less = source_of(stored, compression);
    EXPECT_EQ(read_rest(enough, 1000000).size(), 1000000u);
    EXPECT_ERROR(read_rest(less, 999999), kTooLarge, "in: expected at most 999999 bytes");
  }
}

TEST(ByteSource, GoesByTheEndingOfTheName) {
  const test::TemporaryFolder folder;
  test::write_text(folder.path("a.txt"), "plain\n");
  test::write_text(folder.path("a.txt.gz"), compressed("gzip\n", Compression::kGzip));
  test::write_text(folder.path("a.xz"), compressed("xz\n", Compression::kXz));
  test::write_text(folder.path("a.zst"), compressed("zstd\n", Compression::kZstd));
  test::write_text(folder.path("A.BZ2"), compressed("bzip2\n", Compression::kBzip2));
  EXPECT_EQ(lines_of(ByteSource(folder.path("A.BZ2"))), (Lines{"bzip2"}));
  EXPECT_EQ(lines_of(ByteSource(folder.path("a.txt"))), (Lines{"plain"}));
  EXPECT_EQ(lines_of(ByteSource(folder.path("a.txt.gz"))), (Lines{"gzip"}));
  EXPECT_EQ(lines_of(ByteSource(folder.path("a.xz"))), (Lines{"xz"}));
  EXPECT_EQ(lines_of(ByteSource(folder.path("a.zst"))), (Lines{"zstd"}));
  EXPECT_EQ(without_compression_ending("a.csv.gz"), "a.csv");
  EXPECT_EQ(without_compression_ending("a.csv"), "a.csv");
  EXPECT_ERROR(ByteSource(folder.path("none")), kFileNotFound, "cannot open: No such file");
  EXPECT_ERROR(lines_of(ByteSource(folder.path(""))), kFileType, "expected a file, got a folder");
}

TEST(ByteSource, GoesByTheFirstBytesWhereTheNameSaysNothingOrSomethingElse) {
  for (const Compression compression : kCompressed) {
    const std::string stored = compressed("a\nb\n", compression);
    EXPECT_EQ(lines_of(source_of(stored)), (Lines{"a", "b"})) << to_string(compression);
    EXPECT_EQ(lines_of(source_of(stored, Compression::kGzip)), (Lines{"a", "b"})) << to_string(compression);
    EXPECT_ERROR(lines_of(source_of(compressed(stored, Compression::kGzip))), kInput, "in: expected text, got ");
  }
  EXPECT_EQ(lines_of(source_of(compressed("", Compression::kBzip2))), Lines{});
  // A skippable frame comes first.
  const std::string skipped("\x50\x2A\x4D\x18\x02\0\0\0xx", 10);
  EXPECT_EQ(lines_of(source_of(skipped + compressed("a\n", Compression::kZstd))), (Lines{"a"}));
  // Input that only begins like a stream is text.
  EXPECT_EQ(lines_of("BZh9 is a name\n"), (Lines{"BZh9 is a name"}));
  EXPECT_EQ(lines_of("BZh"), (Lines{"BZh"}));
  EXPECT_EQ(lines_of("P"), (Lines{"P"}));
}

std::string utf16(std::u16string_view text, bool is_big_endian) {
  std::string bytes;
  for (const char16_t unit : text) {
    const char low = static_cast<char>(unit & 0xFF), high = static_cast<char>(unit >> 8);
    bytes += is_big_endian ? std::string{high, low} : std::string{low, high};
  }
  return bytes;
}

TEST(ByteSource, ReadsUtf16ByItsByteOrderMark) {
  for (const bool is_big_endian : {false, true}) {
    const auto lines = [&](std::u16string_view text) { return lines_of(source_of(utf16(text, is_big_endian))); };
    EXPECT_EQ(lines(u"\xFEFF"
                    u"a\r\n\x00E9\xD83D\xDE00\n"),
              (Lines{"a", "\xC3\xA9\xF0\x9F\x98\x80"}));
    EXPECT_EQ(lines(u"\xFEFF"), Lines{});
    // Lone surrogates and half a unit become a byte that never occurs in UTF-8: the reader of texts counts them.
    EXPECT_EQ(lines(u"\xFEFFx\xDC00\n\xD800z\xD800"), (Lines{"x\xFF", "\xFFz\xFF"}));
    EXPECT_EQ(lines_of(source_of(utf16(u"\xFEFFx", is_big_endian) + "y")), (Lines{"x\xFF"}));
    EXPECT_EQ(lines_of(source_of(compressed(utf16(u"\xFEFFx\n", is_big_endian), Compression::kXz))), (Lines{"x"}));
  }
  // Surrogate pairs cross every border between the blocks that are read.
  std::u16string text = u"\xFEFF";
  std::string expected;
  for (int i = 0; i < 50000; ++i) {
    text += i % 3 == 0 ? u"a" : u"\xD83D\xDE00";
    expected += i % 3 == 0 ? "a" : "\xF0\x9F\x98\x80";
  }
  EXPECT_EQ(lines_of(source_of(utf16(text, false))), (Lines{expected}));
}

TEST(ByteSource, RefusesBinaryFilesByTheirType) {
  using namespace std::string_view_literals;
  struct Case {
    std::string_view bytes;
    const char* message;
  };
  for (const Case& each :
       {Case{"PK\x03\x04rest"sv,
             "got a zip archive (such as .xlsx, .docx or .npz); unpack it first, or save the sheet as csv"},
        Case{"\x93NUMPY\x01\0"sv, "got a NumPy array (.npy); name the file that contains the texts"},
        Case{"PAR1\x15\x04"sv, "got a Parquet file; save its rows as csv or jsonl"},
        Case{"\x80\x04\x95"sv, "got a Python pickle"}, Case{"%PDF-1.7\n"sv, "got a PDF; save its text as a .txt file"},
        Case{"\xFF\xFE\0\0a\0\0\0"sv, "got UTF-32; convert it to UTF-8"},
        Case{"\xEF\xBB\xBFPK\x03\x04"sv, "got a zip archive"},
        Case{"a\0b\0\n\0"sv,
             "got a NUL byte at byte 1: binary data, or UTF-16 without a byte order mark; convert it to UTF-8"}}) {
    EXPECT_ERROR(lines_of(source_of(each.bytes)), kInput, each.message);
    EXPECT_ERROR(lines_of(source_of(compressed(each.bytes, Compression::kZstd))), kInput, each.message);
  }
  std::string tar(512, 'a');
  tar.replace(257, 5, "ustar");
  EXPECT_ERROR(lines_of(source_of(tar)), kInput, "got a tar archive; unpack it first");
  EXPECT_EQ(lines_of("PAR1 is a name\n"), (Lines{"PAR1 is a name"}));
  EXPECT_EQ(lines_of("PK"), (Lines{"PK"}));
}

TEST(ByteSource, ShowsTheFirstLineBeforeItIsRead) {
  ByteSource source = source_of("\xEF\xBB\xBFone\ntwo\n");
  EXPECT_EQ(source.peek_line(100), "one");
  EXPECT_EQ(source.peek_line(2), "on");
  ByteSource blank(to_bytes("\n \r\n\t\n  two \nthree\n"), "in");
  EXPECT_EQ(blank.peek_line(100), "  two ");
  EXPECT_EQ(blank.peek_line(9), "  t");
  EXPECT_EQ(blank.peek_line(4), "");
  EXPECT_EQ(lines_of(std::move(source)), (Lines{"one", "two"}));
  ByteSource none = source_of("");
  EXPECT_EQ(none.peek_line(100), "");
  EXPECT_EQ(lines_of(std::move(none)), Lines{});
}

TEST(ByteSource, CountsStoredBytesForProgress) {
  const test::TemporaryFolder folder;
  const std::string stored = compressed(many_lines(), Compression::kZstd);
  test::write_text(folder.path("a.zst"), stored);
  ByteSource source(folder.path("a.zst"));
  EXPECT_EQ(source.total_bytes(), stored.size());
  EXPECT_EQ(source.read_bytes(), 0u);
  EXPECT_EQ(source.fraction_read(), 0.0);
  read_rest(source, 1 << 20);
  EXPECT_EQ(source.read_bytes(), stored.size());
  EXPECT_EQ(source.fraction_read(), 1.0);
  test::write_text(folder.path("empty"), "");
  EXPECT_EQ(ByteSource(folder.path("empty")).fraction_read(), std::nullopt);
}

TEST(ByteSource, EndsWhereItIsStopped) {
  const test::TemporaryFolder folder;
  test::write_text(folder.path("a.txt"), "a\nb");
  bool is_stopped = false;
  LineReader reader(ByteSource(folder.path("a.txt"), [&] { return is_stopped; }));
  std::string line;
  EXPECT_EQ(reader.next(line), LineReader::Status::kLine);
  is_stopped = true;
  EXPECT_EQ(reader.next(line), LineReader::Status::kEnd);  // "b" was cut short
}

TEST(ByteSource, IsNotDamagedForBeingStopped) {
  const test::TemporaryFolder folder;
  for (const Compression compression : kAll) {
    test::write_text(folder.path("a"),
                     compression == Compression::kNone ? "a\nb\n" : compressed("a\nb\n", compression));
    for (int polls = 0; polls < 20; ++polls) {
      int left = polls;
      LineReader reader(ByteSource(folder.path("a"), [&] { return left-- <= 0; }));
      std::string line;
      EXPECT_NO_THROW(while (reader.next(line) == LineReader::Status::kLine){})
          << to_string(compression) << " stopped at poll " << polls;
    }
  }
}

TEST(LineReader, SaysWhetherALineIsThereWithoutWaiting) {
  const test::TemporaryFolder folder;
  for (const Compression compression : {Compression::kNone, Compression::kGzip}) {
    const std::string path = folder.path(compression == Compression::kNone ? "pipe" : "pipe.gz");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const int writer = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    LineReader reader{ByteSource(path)};
    EXPECT_FALSE(reader.is_ready());
    const std::string stored = compressed("a\nb\n", compression);
    ASSERT_EQ(::write(writer, stored.data(), stored.size()), static_cast<ssize_t>(stored.size()));
    EXPECT_TRUE(reader.is_ready());
    std::string line;
    reader.next(line);
    EXPECT_TRUE(reader.is_ready());
    reader.next(line);
    EXPECT_EQ(line, "b");
    EXPECT_FALSE(reader.is_ready());
    ::close(writer);
    EXPECT_TRUE(reader.is_ready());  // the end of the input counts as ready
    EXPECT_EQ(reader.next(line), LineReader::Status::kEnd);
  }
}

}  // namespace
}  // namespace deberta::lines_test

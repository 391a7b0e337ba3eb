// Files: what may be opened, what is refused.
#include "base/file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "deberta/error.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::file_test {
namespace {

using test::TemporaryFolder;
using test::write_text;

TEST(Files, AreReadWholeAndMapped) {
  const TemporaryFolder folder;
  const std::string text("one\0two\n", 8);
  write_text(folder.path("a"), text);
  EXPECT_EQ(read_file(folder.path("a"), 8), text);
  const MappedFile mapped(folder.path("a"));
  EXPECT_EQ(to_text(mapped.bytes()), text);
  EXPECT_EQ(mapped.path(), folder.path("a"));
}

TEST(Files, MayBeReadIntoMemoryInPlaceOfMapped) {
  const TemporaryFolder folder;
  write_text(folder.path("a"), "before");
  const MappedFile read(folder.path("a"), LoadMode::kRead);
  const MappedFile mapped(folder.path("a"));
  write_text(folder.path("a"), "beh");  // in place, cut short
  EXPECT_EQ(to_text(read.bytes()), "before");
  EXPECT_EQ(mapped_path_at(read.bytes().data()), nullptr);
  EXPECT_EQ(mapped.bytes().size(), 6u);
}

TEST(Files, AreKnownByTheAddressOfTheirMapping) {
  const TemporaryFolder folder;
  write_text(folder.path("a"), "aaaa");
  write_text(folder.path("b"), "bb");
  const std::byte* address = nullptr;
  {
    MappedFile a(folder.path("a"));
    const MappedFile b(folder.path("b"));
    const MappedFile moved(std::move(a));
    address = moved.bytes().data();
    EXPECT_STREQ(mapped_path_at(address), folder.path("a").c_str());
    EXPECT_STREQ(mapped_path_at(address + 3), folder.path("a").c_str());
    EXPECT_STREQ(mapped_path_at(b.bytes().data() + 1), folder.path("b").c_str());
    EXPECT_EQ(mapped_path_at(address + 4), nullptr);
    EXPECT_EQ(mapped_path_at(&folder), nullptr);
  }
  EXPECT_EQ(mapped_path_at(address), nullptr);
}

TEST(Files, MayBeEmpty) {
  const TemporaryFolder folder;
  write_text(folder.path("a"), "");
  EXPECT_EQ(read_file(folder.path("a"), 0), "");
  EXPECT_TRUE(MappedFile(folder.path("a")).bytes().empty());
}

// Files of the operating system (a cgroup's limits) report a size of 0 bytes and have more.
TEST(Files, OfTheKernelAreReadToTheirEnd) {
  const std::string text = read_file("/proc/self/status", 1 << 16);
  EXPECT_TRUE(text.starts_with("Name:"));
  EXPECT_EQ(text.back(), '\n');
  EXPECT_ERROR(read_file("/proc/self/status", 16), kTooLarge, "/proc/self/status: expected at most 16 bytes");
}

// Resident bytes of the mapping that begins at `address`.
size_t resident_bytes(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  const std::string begin = fmt::format("{:x}-", reinterpret_cast<uintptr_t>(address));
  for (std::string line; std::getline(maps, line);) {
    if (!line.starts_with(begin)) continue;
    while (std::getline(maps, line)) {
      if (line.starts_with("Rss:")) return std::stoul(line.substr(4)) * 1024;
    }
  }
  return 0;
}

TEST(Files, GiveTheirMemoryBackAndAreReadAgain) {
  const TemporaryFolder folder;
  const std::string text(1 << 20, 'x');
  write_text(folder.path("a"), text);
  const MappedFile mapped(folder.path("a"));
  EXPECT_EQ(to_text(mapped.bytes()), text);
  EXPECT_EQ(resident_bytes(mapped.bytes().data()), text.size());
  release_pages(mapped.bytes().subspan(1, text.size() / 2));
  const size_t resident = resident_bytes(mapped.bytes().data());
  EXPECT_GE(resident, text.size() / 2);
  EXPECT_LE(resident, text.size() / 2 + 8192);
  EXPECT_EQ(to_text(mapped.bytes()), text);
}

TEST(Files, ReadIntoMemoryAreNotReleased) {
  const TemporaryFolder folder;
  write_text(folder.path("a"), std::string(1 << 20, 'x'));
  const MappedFile read(folder.path("a"), LoadMode::kRead);
  release_pages(read.bytes());
  EXPECT_EQ(to_text(read.bytes()), std::string(1 << 20, 'x'));
}

TEST(Files, MappingsMove) {
  const TemporaryFolder folder;
  write_text(folder.path("a"), "aaaa");
  write_text(folder.path("b"), "bb");
  MappedFile a(folder.path("a"));
  MappedFile moved(std::move(a));
  EXPECT_EQ(to_text(moved.bytes()), "aaaa");
  moved = MappedFile(folder.path("b"));
  EXPECT_EQ(to_text(moved.bytes()), "bb");
  EXPECT_EQ(moved.path(), folder.path("b"));
}

TEST(Files, MustExistAndBeRegular) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink(folder.path("nowhere"), folder.path("dangling"));
  const auto read = [](const std::string& path) { return read_file(path, 100); };
  EXPECT_ERROR(read(folder.path("absent")), kFileNotFound, "absent: cannot open: No such file or directory");
  EXPECT_ERROR(read(folder.path("dangling")), kFileNotFound, "dangling");
  EXPECT_ERROR(read(""), kFileNotFound, "cannot open");
  EXPECT_ERROR(read(folder.path("absent/x")), kFileNotFound, "cannot open");
  EXPECT_ERROR(read(folder.path()), kFileType, "expected a regular file, got a folder");
  EXPECT_ERROR(read(folder.path("fifo")), kFileType, "got a special file");
  EXPECT_ERROR(read("/dev/zero"), kFileType, "got a special file");
  EXPECT_ERROR(MappedFile{folder.path("absent")}, kFileNotFound, "absent");
  EXPECT_ERROR(MappedFile{folder.path("fifo")}, kFileType, "special file");
  EXPECT_ERROR(MappedFile{folder.path()}, kFileType, "folder");
}

TEST(Files, AboveTheLimitAreRefused) {
  const TemporaryFolder folder;
  write_text(folder.path("a"), "12345");
  EXPECT_ERROR(read_file(folder.path("a"), 4), kTooLarge, "expected at most 4 bytes, got 5");
  EXPECT_EQ(read_file(folder.path("a"), 5), "12345");
}

// The first page of a process is never mapped: reading its memory file from the start fails with EIO.
TEST(Files, ThatCannotBeReadAreReported) {
  EXPECT_ERROR(read_file("/proc/self/mem", 100), kFileRead, "/proc/self/mem");
}

TEST(Files, TellTheirKind) {
  const TemporaryFolder folder;
  write_text(folder.path("a"), "");
  ASSERT_EQ(::mkfifo(folder.path("fifo").c_str(), 0600), 0);
  EXPECT_TRUE(is_regular_file(folder.path("a")));
  EXPECT_FALSE(is_regular_file(folder.path()));
  EXPECT_FALSE(is_regular_file(folder.path("fifo")));
  EXPECT_FALSE(is_regular_file(folder.path("absent")));
  EXPECT_TRUE(is_directory(folder.path()));
  EXPECT_FALSE(is_directory(folder.path("a")));
  EXPECT_FALSE(is_directory(folder.path("absent")));
}

}  // namespace
}  // namespace deberta::file_test

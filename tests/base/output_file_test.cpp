// Files that a user names for output: replaced whole, or written straight to; links, modes, and what is refused.
#include "base/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "base/folder.h"
#include "deberta/error.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::output_file_test {
namespace {

using test::files_in;
using test::TemporaryFolder;
using test::write_text;

void write_whole(const std::string& path, std::string_view text) {
  write_output_file(path, [&](FileWriter& file) { file.write(text); });
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777u;
}

TEST(OutputFiles, MakesAndReplacesFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a");
  write_whole(path, "first");
  EXPECT_EQ(read_file(path, 100), "first");
  write_output_file(path, [](FileWriter& file) {
    file.write(std::string_view("sec"));
    file.write(Bytes());
    file.write(to_bytes("ond"));
  });
  EXPECT_EQ(read_file(path, 100), "second");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(OutputFiles, NobodySeesAHalfWrittenFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a");
  write_whole(path, "old");
  write_output_file(path, [&](FileWriter& file) {
    file.write(std::string_view("new"));
    EXPECT_EQ(read_file(path, 100), "old");
  });
  EXPECT_EQ(read_file(path, 100), "new");
}

TEST(OutputFiles, AnExceptionLeavesTheOldFileAndNoOther) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a");
  write_whole(path, "old");
  EXPECT_THROW(write_output_file(path,
                                 [](FileWriter& file) {
                                   file.write(std::string_view("half"));
                                   throw std::runtime_error("stop");
                                 }),
               std::runtime_error);
  EXPECT_EQ(read_file(path, 100), "old");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(OutputFiles, AreNoLeftoversUntilTheyAreWhole) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a");
  const auto look = [&](const std::stop_token& stop) {
    while (!stop.stop_requested()) EXPECT_NO_THROW(remove_leftovers(path));
  };
  const std::jthread one(look), other(look);
  for (int i = 0; i < 300; ++i) EXPECT_NO_THROW(write_whole(path, "text"));
}

TEST(OutputFiles, GivesTheFileTheModeOfTheUmask) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(027);
  write_whole(folder.path("a"), "x");
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat(folder.path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0640u);
}

TEST(OutputFiles, WritesIntoTheCurrentFolder) {
  const TemporaryFolder folder;
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  write_whole("plain-name", "x");
  std::filesystem::current_path(before);
  EXPECT_EQ(read_file(folder.path("plain-name"), 10), "x");
}

TEST(OutputFiles, KeepTheirMode) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a");
  for (const mode_t mode : {0600u, 0640u, 0666u, 0755u}) {
    write_text(path, "old");
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    write_whole(path, "new");
    EXPECT_EQ(mode_of(path), mode);
    EXPECT_EQ(read_file(path, 100), "new");
  }
}

// No other user may read what a private file will hold, even before it has its final name.
TEST(OutputFiles, AreAtNoTimeMorePublicThanWhatTheyReplace) {
  const TemporaryFolder folder;
  write_text(folder.path("a"), "old");
  ASSERT_EQ(::chmod(folder.path("a").c_str(), 0600), 0);
  write_output_file(folder.path("a"), [&](FileWriter&) {
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      EXPECT_EQ(mode_of(entry.path().string()), 0600u) << entry.path();
  });
}

TEST(OutputFiles, FollowLinksToFilesOfOtherFolders) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path("other/deep"));
  write_text(folder.path("other/file"), "old");
  std::filesystem::create_symlink("../file", folder.path("other/deep/second"));
  std::filesystem::create_symlink("other/deep/second", folder.path("link"));
  write_output_file(folder.path("link"), [&](FileWriter& file) {
    file.write(std::string_view("new"));
    EXPECT_EQ(files_in(folder.path("other")), 3u);  // the temporary file is in the file's own folder
  });
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("other/deep/second")));
  EXPECT_EQ(read_file(folder.path("other/file"), 100), "new");
  EXPECT_EQ(files_in(folder.path("other")), 2u);
}

TEST(OutputFiles, ALinkToNothingMakesItsTarget) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("other"));
  std::filesystem::create_symlink("other/new", folder.path("link"));
  check_output_file(folder.path("link"));
  write_whole(folder.path("link"), "text");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(read_file(folder.path("other/new"), 100), "text");
}

TEST(OutputFiles, APipeIsWrittenStraightToAsThePartsCome) {
  const TemporaryFolder folder;
  const std::string path = folder.path("fifo");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(is_replaced_whole(path));
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  std::array<char, 16> got;
  write_output_file(path, [&](FileWriter& file) {
    file.write(std::string_view("one"));
    EXPECT_EQ(::read(reader, got.data(), got.size()), 3);
    file.write(std::string_view("two"));
  });
  EXPECT_EQ(::read(reader, got.data(), got.size()), 3);
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(path));
  EXPECT_EQ(files_in(folder.path()), 1u);
}

// False on file systems that can hold devices but not open them.
bool opens(const std::string& path) {
  return std::ofstream(path).is_open();
}

// A device that accepts everything, and one that is always full; made here, so that no mistake harms the machine's own.
TEST(OutputFiles, ADeviceStaysOneAndItsErrorsAreReported) {
  const TemporaryFolder folder;
  const std::string null = folder.path("null"), full = folder.path("full");
  if (::mknod(null.c_str(), S_IFCHR | 0666, ::makedev(1, 3)) != 0 ||
      ::mknod(full.c_str(), S_IFCHR | 0666, ::makedev(1, 7)) != 0 || !opens(null))
    GTEST_SKIP() << "devices cannot be made here";
  EXPECT_FALSE(is_replaced_whole(null));
  write_whole(null, "text");
  EXPECT_TRUE(std::filesystem::is_character_file(null));
  EXPECT_ERROR(write_whole(full, "text"), kFileWrite, "full: write failed: No space left on device");
  EXPECT_TRUE(std::filesystem::is_character_file(full));
  EXPECT_EQ(files_in(folder.path()), 2u);
}

// A file that a shell opened for this process: written at its current position, neither replaced nor truncated.
TEST(OutputFiles, ADescriptorOfThisProcessIsWrittenWhereItStands) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a");
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::write(fd, "before ", 7), 7);
  const std::string named = fmt::format("/dev/fd/{}", fd), other = fmt::format("/proc/self/fd/{}", fd);
  std::filesystem::create_symlink(named, folder.path("link"));
  for (const std::string& name : {named, other, folder.path("link")}) {
    EXPECT_FALSE(is_replaced_whole(name));
    check_output_file(name);
    write_whole(name, "and more ");
  }
  ASSERT_EQ(::write(fd, "end", 3), 3);
  EXPECT_EQ(read_file(path, 100), "before and more and more and more end");
  ::close(fd);
  EXPECT_ERROR(check_output_file(named), kFileWrite, "is not open for writing");
  const int read_only = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_ERROR(check_output_file(fmt::format("/dev/fd/{}", read_only)), kFileWrite, "is not open for writing");
  ::close(read_only);
}

TEST(OutputFiles, AreRefusedBeforeAnythingIsWritten) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("folder"));
  std::filesystem::create_symlink("circle", folder.path("circle"));
  write_text(folder.path("file"), "");
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  folder.path("s").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const struct sockaddr*>(&address), sizeof address), 0);
  ::close(socket);
  const auto check = [&](const std::string& name) { check_output_file(folder.path(name)); };
  EXPECT_ERROR(check("folder"), kFileWrite, "folder: expected a file, got a folder");
  EXPECT_ERROR(check("folder/"), kFileWrite, "expected a file, got a folder");
  EXPECT_ERROR(check("absent/"), kFileWrite, "got the name of a folder");
  EXPECT_ERROR(check("absent/a"), kFileWrite, "absent/a: cannot create: no folder");
  EXPECT_ERROR(check("file/a"), kFileWrite, "file/a: cannot open: Not a directory");
  EXPECT_ERROR(check("circle"), kFileWrite, "circle: cannot open: Too many levels of symbolic links");
  EXPECT_ERROR(check("s"), kFileWrite, "s: expected a file, got a socket");
  EXPECT_ERROR(check_output_file(""), kFileWrite, "expected a file");
  EXPECT_ERROR(write_whole(folder.path("folder"), "x"), kFileWrite, "expected a file, got a folder");
  EXPECT_ERROR(write_whole("/proc/a", "x"), kFileWrite, "/proc/a: cannot create");
  EXPECT_EQ(files_in(folder.path()), 4u);
}

// Root may write anywhere; any other user needs permission for the file and its folder.
TEST(OutputFiles, AreRefusedWithoutPermission) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("closed"));
  write_text(folder.path("read-only"), "old");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  ASSERT_EQ(::chmod(folder.path("closed").c_str(), 0555), 0);
  ASSERT_EQ(::chmod(folder.path("read-only").c_str(), 0444), 0);
  const bool was_root = ::geteuid() == 0;
  ASSERT_EQ(was_root ? ::seteuid(65534) : 0, 0);
  EXPECT_ERROR(check_output_file(folder.path("closed/a")), kFileWrite, "cannot create a file in the folder");
  EXPECT_ERROR(write_whole(folder.path("read-only"), "new"), kFileWrite, "read-only: cannot write: Permission denied");
  ASSERT_EQ(was_root ? ::seteuid(0) : 0, 0);
  EXPECT_EQ(read_file(folder.path("read-only"), 100), "old");
}

TEST(OutputFiles, OfALongNameAreWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.path(std::string(255, 'n'));
  write_whole(path, "text");
  EXPECT_EQ(read_file(path, 100), "text");
}

}  // namespace
}  // namespace deberta::output_file_test

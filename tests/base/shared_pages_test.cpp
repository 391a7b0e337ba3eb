// What several processes hold alike is there once, by the bytes alone; nothing of it outlives them.
#include "base/shared_pages.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/paths.h"

namespace deberta::shared_pages_test {
namespace {

using test::files_in;
using test::TemporaryFolder;

constexpr size_t kPage = 4096;

// Blocks on pages, filled by a rule; `odd` is added to one byte that a sample of each page does not see.
class Blocks {
 public:
  explicit Blocks(size_t pages = 3, unsigned odd = 0) {
    for (const size_t count : {pages, pages + 1}) {
      auto* block = static_cast<std::byte*>(::operator new (count* kPage, std::align_val_t{kPage}));
      for (size_t i = 0; i < count * kPage; ++i) block[i] = static_cast<std::byte>(7 * i + i / 251 + count);
      blocks_.emplace_back(block, count * kPage);
    }
    blocks_.back()[kPage + 1000] ^= static_cast<std::byte>(odd);
  }
  ~Blocks() {
    for (const std::span<std::byte> block : blocks_) ::operator delete (block.data(), std::align_val_t{kPage});
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  std::span<const std::span<std::byte>> all() const { return blocks_; }
  size_t size_bytes() const { return blocks_[0].size() + blocks_[1].size(); }
  bool operator==(const Blocks& other) const {
    return std::ranges::equal(blocks_[0], other.blocks_[0]) && std::ranges::equal(blocks_[1], other.blocks_[1]);
  }
  void write() { blocks_[0][0] = blocks_[1][5] = std::byte{1}; }

 private:
  std::vector<std::span<std::byte>> blocks_;
};

size_t times_mapped(const std::string& folder) {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find(folder) != line.npos;
  return count;
}

// The exit code of a child that runs `work`; it ends without any destructor of this process.
int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(SharedPages, OfTheSameBytesAreMappedFromOneFile) {
  const TemporaryFolder folder;
  const Blocks expected;
  Blocks one, two;
  auto first = std::make_unique<SharedPages>(one.all(), std::vector{folder.path()});
  EXPECT_EQ(first->size_bytes(), one.size_bytes());
  {
    SharedPages second(two.all(), {folder.path()});
    EXPECT_EQ(second.size_bytes(), one.size_bytes());
    EXPECT_EQ(files_in(folder.path()), 1u);
    EXPECT_EQ(times_mapped(folder.path()), 4u);
    EXPECT_TRUE(one == expected && two == expected);
    const SharedPages moved = std::move(second);
    EXPECT_TRUE(two == expected);
    first.reset();  // the other still has it
    one.write();
    EXPECT_EQ(files_in(folder.path()), 1u);
    EXPECT_TRUE(two == expected);
    EXPECT_EQ(times_mapped(folder.path()), 2u);
  }
  two.write();
  EXPECT_EQ(files_in(folder.path()), 0u);
}

TEST(SharedPages, OfOtherBytesStayTheProcesssOwn) {
  const TemporaryFolder folder;
  Blocks one, other(3, 1), shorter(2);
  const Blocks expected(3, 1);
  const SharedPages first(one.all(), {folder.path()});
  {
    const SharedPages second(other.all(), {folder.path()});  // has the same name
    ASSERT_EQ(second.size_bytes(), 0u);
    EXPECT_TRUE(other == expected);
    other.write();
    const SharedPages third(shorter.all(), {folder.path()});
    EXPECT_EQ(third.size_bytes(), shorter.size_bytes());
    EXPECT_EQ(files_in(folder.path()), 2u);
  }
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(SharedPages, AreWholePagesInsideTheBlocks) {
  const TemporaryFolder folder;
  alignas(kPage) static std::byte memory[4 * kPage];
  const std::vector<std::span<std::byte>> blocks = {std::span(memory).subspan(1, 2 * kPage),
                                                    std::span(memory).subspan(3 * kPage, 100)};
  const SharedPages shared(blocks, {folder.path()});
  EXPECT_EQ(shared.size_bytes(), kPage);
  memory[kPage - 1] = memory[2 * kPage] = std::byte{1};
  EXPECT_EQ(SharedPages({}, {folder.path()}).size_bytes(), 0u);
}

TEST(SharedPages, WithoutAFolderThatTakesThemStay) {
  const TemporaryFolder folder;
  Blocks one;
  const Blocks expected;
  EXPECT_EQ(SharedPages(one.all(), {}).size_bytes(), 0u);
  EXPECT_EQ(SharedPages(one.all(), {folder.path("none")}).size_bytes(), 0u);
  EXPECT_EQ(SharedPages(one.all(), {folder.path("none"), folder.path()}).size_bytes(), one.size_bytes());
  const int code = in_child([&] {
    const rlimit small{kPage, kPage};
    ::setrlimit(RLIMIT_FSIZE, &small);  // whoever writes more is killed
    return SharedPages(one.all(), {folder.path()}).size_bytes() == 0 ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
  one.write();
}

TEST(SharedPages, OfKilledProcessesAreRemovedByTheNext) {
  const TemporaryFolder folder;
  const int code = in_child([&] {
    Blocks some(5);
    const SharedPages shared(some.all(), {folder.path()});
    return shared.size_bytes() == some.size_bytes() ? ::_exit(0), 0 : 1;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(files_in(folder.path()), 1u);
  Blocks one;
  test::write_text(folder.path("deberta-weights-of-another-name"), "x");
  const SharedPages shared(one.all(), {folder.path()});
  EXPECT_EQ(files_in(folder.path()), 2u);
}

// Whoever comes while the last is going finds the file or makes it anew.
TEST(SharedPages, ComeAndGoInManyProcesses) {
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const Blocks expected;
      int shared_times = 0;
      for (int turn = 0; turn < 100; ++turn) {
        Blocks mine;
        const SharedPages shared(mine.all(), {folder.path()});
        if (!(mine == expected)) ::_exit(1);
        shared_times += shared.size_bytes() > 0;
      }
      ::_exit(shared_times > 0 ? 0 : 2);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_EQ(files_in(folder.path()), 0u);
}

}  // namespace
}  // namespace deberta::shared_pages_test

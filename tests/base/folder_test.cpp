// A staged folder is there whole or not at all, and what a killed process left is removed.
#include "base/folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <thread>

#include "base/output_file.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::folder_test {
namespace {

using test::files_in;
using test::TemporaryFolder;
using test::write_text;
namespace fs = std::filesystem;

void write(StagedFolder& folder, const std::string& name, std::string_view text) {
  folder.write_file(name, [&](FileWriter& file) { file.write(text); });
}

TEST(StagedFolder, AppearsWhenItIsPublished) {
  const TemporaryFolder scratch;
  for (const bool is_there_and_empty : {false, true}) {
    const std::string target = scratch.path(is_there_and_empty ? "empty" : "new");
    if (is_there_and_empty) fs::create_directory(target);
    StagedFolder folder(target + "/");
    write(folder, "a", "one");
    EXPECT_EQ(read_file(folder.path() + "/a", 10), "one");
    EXPECT_EQ(fs::exists(target), is_there_and_empty);
    folder.publish();
    EXPECT_EQ(read_file(target + "/a", 10), "one");
    EXPECT_FALSE(fs::exists(folder.path()));
  }
  EXPECT_EQ(files_in(scratch.path()), 2u);
}

TEST(StagedFolder, LeavesNothingWhenItIsNotPublished) {
  const TemporaryFolder scratch;
  {
    StagedFolder folder(scratch.path("a"));
    write(folder, "file", "x");
    EXPECT_ERROR(write(folder, "file", "y"), kFileWrite, "file: cannot create");
    EXPECT_THROW(folder.write_file("b",
                                   [](FileWriter& file) {
                                     file.write(std::string_view("half"));
                                     throw 1;
                                   }),
                 int);
  }
  EXPECT_EQ(files_in(scratch.path()), 0u);
}

TEST(StagedFolder, MakesTheFoldersInItThatNamesLeadInto) {
  const TemporaryFolder scratch;
  for (const bool is_published : {false, true}) {
    StagedFolder folder(scratch.path("a"));
    for (const char* name : {"x", "b/y", "b/c/z", "b/w"}) write(folder, name, name);
    if (is_published) folder.publish();
  }
  EXPECT_EQ(files_in(scratch.path()), 1u);
  EXPECT_EQ(read_file(scratch.path("a/b/c/z"), 10), "b/c/z");
  EXPECT_EQ(files_in(scratch.path("a")), 2u);
  EXPECT_EQ(files_in(scratch.path("a/b")), 3u);
}

TEST(Folder, IsRemovedWithAllThatIsInItButNotWhereLinksLead) {
  const TemporaryFolder scratch;
  fs::create_directories(scratch.path("a/b/c"));
  fs::create_directory(scratch.path("other"));
  write_text(scratch.path("other/kept"), "x");
  write_text(scratch.path("a/b/c/file"), "x");
  fs::create_directory_symlink(scratch.path("other"), scratch.path("a/link"));
  remove_folder(scratch.path("a") + "/");
  EXPECT_EQ(files_in(scratch.path()), 1u);
  EXPECT_EQ(files_in(scratch.path("other")), 1u);
  EXPECT_ERROR(remove_folder(scratch.path("a")), kFileWrite, "a: cannot open");
}

TEST(StagedFolder, ReplacesNothing) {
  const TemporaryFolder scratch;
  write_text(scratch.path("file"), "");
  fs::create_directory(scratch.path("full"));
  write_text(scratch.path("full/a"), "old");
  EXPECT_ERROR(StagedFolder(scratch.path("file")), kFileWrite, "expected a new or empty folder");
  EXPECT_ERROR(StagedFolder(scratch.path("full")), kFileWrite, "full: expected a new or empty folder");
  EXPECT_ERROR(StagedFolder(scratch.path("absent/a")), kFileWrite, "cannot create");
  {
    StagedFolder folder(scratch.path("late"));
    fs::create_directory(scratch.path("late"));
    write_text(scratch.path("late/a"), "somebody else's");
    EXPECT_ERROR(folder.publish(), kFileWrite, "rename failed");
  }
  EXPECT_EQ(read_file(scratch.path("late/a"), 100), "somebody else's");
  EXPECT_EQ(files_in(scratch.path()), 3u);
}

// Runs `make` in a process that is killed at once, and returns its number; it is not reaped.
pid_t killed_while(const std::function<void()>& make) {
  const pid_t child = ::fork();
  if (child == 0) {
    make();
    ::kill(::getpid(), SIGKILL);
  }
  siginfo_t end{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT), 0);
  return child;
}

TEST(Leftovers, OfKilledProcessesAreRemovedEvenBeforeTheyAreReaped) {
  const TemporaryFolder scratch;
  const pid_t child = killed_while([&] {
    StagedFolder folder(scratch.path("m"));
    write(folder, "folder/half", "x");
    ::kill(::getpid(), SIGKILL);
  });
  ASSERT_EQ(files_in(scratch.path()), 1u);
  EXPECT_EQ(remove_leftovers(scratch.path("m/")).size(), 1u);
  EXPECT_EQ(files_in(scratch.path()), 0u);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(remove_leftovers(scratch.path("absent/m")).empty());
}

// A number says nothing: it may have been used again, or be that of another container or host.
TEST(Leftovers, OfNumbersThatAreAliveAreRemovedWhereNobodyHasThemLocked) {
  const TemporaryFolder scratch;
  const std::string own = std::to_string(::getpid()), init = "1";
  const std::vector<std::string> dead = {"m.tmp-" + init + "-0123abcd", "m.tmp-" + own + "-0123abcd"};
  for (const std::string& name : dead) fs::create_directories(scratch.path(name + "/folder"));
  write_text(scratch.path("m.tmp-" + own + "-00000000"), "half");
  EXPECT_EQ(remove_leftovers(scratch.path("m")).size(), 3u);
  EXPECT_EQ(files_in(scratch.path()), 0u);
}

TEST(Leftovers, WhatIsBeingFilledStays) {
  const TemporaryFolder scratch;
  StagedFolder folder(scratch.path("m"));
  write(folder, "a", "one");
  write_output_file(scratch.path("f"), [&](FileWriter& file) {
    file.write(std::string_view("half"));
    EXPECT_TRUE(remove_leftovers(scratch.path("m")).empty());
    EXPECT_TRUE(remove_leftovers(scratch.path("f")).empty());
  });
  EXPECT_EQ(read_file(scratch.path("f"), 10), "half");
  folder.publish();
  EXPECT_EQ(read_file(scratch.path("m/a"), 10), "one");
}

TEST(Leftovers, NoFolderIsTakenAwayWhileItIsMade) {
  const TemporaryFolder scratch;
  const auto look = [&](const std::stop_token& stop) {
    while (!stop.stop_requested()) EXPECT_NO_THROW(remove_leftovers_in(scratch.path()));
  };
  const std::jthread one(look), other(look);
  for (int i = 0; i < 100; ++i) {
    EXPECT_NO_THROW({
      StagedFolder folder(scratch.path("m"));
      write(folder, "a", "one");
      folder.publish();
    });
    fs::remove_all(scratch.path("m"));
  }
}

TEST(Leftovers, OfEveryTargetInAFolderAreRemovedAndNothingElse) {
  const TemporaryFolder scratch;
  for (const char* name : {"a.tmp-7-0123abcd/half", "b.json.tmp-8-0123abcd", ".tmp-9-0123abcd", "b.json", "c.tmp-x"})
    fs::create_directories(scratch.path(name));
  remove_leftovers_in(scratch.path());
  EXPECT_EQ(names_in(scratch.path()), (std::vector<std::string>{".tmp-9-0123abcd", "b.json", "c.tmp-x"}));
  remove_leftovers_in(scratch.path("absent"));
}

TEST(Leftovers, OtherNamesStay) {
  const TemporaryFolder scratch;
  for (const char* name : {"n.tmp-7-0123abcd", "m.tmp-7-0123abc", "m.tmp-7-0123abcx", "m.tmp-0-0123abcd",
                           "m.tmp--1-0123abcd", "m.tmp-x-0123abcd", "m"})
    fs::create_directory(scratch.path(name));
  EXPECT_TRUE(remove_leftovers(scratch.path("m")).empty());
  EXPECT_EQ(files_in(scratch.path()), 7u);
}

TEST(Folders, AreInsideOneAnotherHoweverTheyAreWritten) {
  const TemporaryFolder scratch;
  fs::create_directories(scratch.path("a/b"));
  fs::create_directory_symlink(scratch.path("a"), scratch.path("link"));
  for (const char* inner : {"a", "a/", "a/b", "a/new", "a/../a", "link", "link/x", "b/../a/b/c"})
    EXPECT_TRUE(is_inside(scratch.path(inner), scratch.path("a"))) << inner;
  for (const char* outer : {"ab", "b", ".", "a/..", "a/../b"})
    EXPECT_FALSE(is_inside(scratch.path(outer), scratch.path("a"))) << outer;
}

TEST(Names, AreThoseInTheFolderSortedAndAtMostSoMany) {
  const test::TemporaryFolder scratch;
  for (const char* name : {"c", "a", ".b"}) test::write_text(scratch.path(name), "x");
  std::filesystem::create_directory(scratch.path("d"));
  std::filesystem::create_symlink("nowhere", scratch.path("e"));
  EXPECT_EQ(names_in(scratch.path()), (std::vector<std::string>{".b", "a", "c", "d", "e"}));
  EXPECT_EQ(names_in(scratch.path(), 2).size(), 2u);
  EXPECT_TRUE(is_link(scratch.path("e")) && !is_link(scratch.path("d")) && !is_link(scratch.path("f")));
  EXPECT_EQ(read_names(scratch.path("a")), std::nullopt);
  EXPECT_EQ(read_names(scratch.path("f")), std::nullopt);
  EXPECT_TRUE(names_in(scratch.path("f")).empty() && read_names(scratch.path("d"))->empty());
}

}  // namespace
}  // namespace deberta::folder_test

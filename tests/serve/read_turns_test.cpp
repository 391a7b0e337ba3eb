#include "serve/read_turns.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>

namespace deberta::serve::read_turns_test {
namespace {

// Bodies by name: which began, and their turns.
class Bodies {
 public:
  explicit Bodies(const ReadLimits& limits) : turns(limits) {}
  ~Bodies() { turns.stop(); }
  void wait(const std::string& client, const std::string& name) {
    turns.wait(client, {[this, name] { return over.contains(name); },
                        [this, name](std::unique_ptr<ReadTurns::Turn> turn) {
                          began += turn ? name : "!" + name;
                          if (turn) open[name] = std::move(turn);
                        }});
  }
  void has_read(const std::string& name, size_t tokens) { open.at(name)->has_read(tokens); }
  void end(const std::string& name) {
    const std::unique_ptr<ReadTurns::Turn> turn = std::move(open.at(name));
    open.erase(name);
  }

  ReadTurns turns;
  std::string began;
  std::set<std::string> over;
  std::map<std::string, std::unique_ptr<ReadTurns::Turn>> open;
};

TEST(ReadTurns, SoManyAreReadAtOnceTheOldestFirst) {
  Bodies bodies({.reading = 3, .tokens = 100, .always = 1});
  for (const char* name : {"a", "b", "c", "d", "e"}) bodies.wait("x", name);
  EXPECT_EQ(bodies.began, "abc");
  bodies.has_read("b", 10);
  EXPECT_EQ(bodies.began, "abcd");
  bodies.end("a");  // refused before it was read
  EXPECT_EQ(bodies.began, "abcde");
}

TEST(ReadTurns, NoneIsReadWhileTokensEnoughWait) {
  Bodies bodies({.reading = 2, .tokens = 100, .always = 1});
  for (const char* name : {"a", "b", "c", "d"}) bodies.wait("x", name);
  bodies.has_read("a", 60);
  EXPECT_EQ(bodies.began, "abc");
  bodies.has_read("b", 60);  // 120 wait
  EXPECT_EQ(bodies.began, "abc");
  bodies.has_read("c", 0);
  EXPECT_EQ(bodies.began, "abc");
  bodies.end("a");
  EXPECT_EQ(bodies.began, "abcd");
}

TEST(ReadTurns, TheNextIsReadWhileALargeOneIsComputed) {
  Bodies bodies({.reading = 4, .tokens = 100, .always = 2});
  bodies.wait("x", "a");
  bodies.has_read("a", 100000);
  for (const char* name : {"b", "c"}) bodies.wait("x", name);
  EXPECT_EQ(bodies.began, "ab");
  bodies.has_read("b", 100000);
  EXPECT_EQ(bodies.began, "ab");
  bodies.end("a");
  EXPECT_EQ(bodies.began, "abc");
}

TEST(ReadTurns, ClientsDoNotWaitForEachOther) {
  Bodies bodies({.reading = 1, .tokens = 1, .always = 1});
  for (const char* name : {"a", "b"}) bodies.wait("x", name);
  bodies.wait("y", "c");
  EXPECT_EQ(bodies.began, "ac");
  bodies.end("c");
  EXPECT_EQ(bodies.began, "ac");
  bodies.end("a");
  EXPECT_EQ(bodies.began, "acb");
}

TEST(ReadTurns, WhatIsOverIsToldAndTakesNoTurn) {
  Bodies bodies({.reading = 1, .tokens = 1, .always = 1});
  for (const char* name : {"a", "b", "c"}) bodies.wait("x", name);
  bodies.over = {"b"};
  bodies.turns.expire();
  EXPECT_EQ(bodies.began, "a!b");
  bodies.turns.expire();
  EXPECT_EQ(bodies.began, "a!b");
  bodies.end("a");
  EXPECT_EQ(bodies.began, "a!bc");
}

TEST(ReadTurns, ABodyThatIsOverBeforeItBeginsLeavesNothingBehind) {
  Bodies bodies({.reading = 1, .tokens = 1, .always = 1});
  bodies.wait("x", "a");
  bodies.end("a");
  bodies.turns.expire();
  bodies.wait("x", "b");
  EXPECT_EQ(bodies.began, "ab");
}

TEST(ReadTurns, AfterTheStopNothingBegins) {
  Bodies bodies({.reading = 1, .tokens = 1, .always = 1});
  for (const char* name : {"a", "b"}) bodies.wait("x", name);
  bodies.turns.stop();
  bodies.end("a");
  bodies.wait("x", "c");
  EXPECT_EQ(bodies.began, "a");
}

}  // namespace
}  // namespace deberta::serve::read_turns_test

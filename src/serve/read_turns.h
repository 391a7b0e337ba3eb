// When large bodies are read: those of a line (of one client, for one model and one priority: call.cpp) are read no
// further ahead than the model needs to go on, so that texts that wait for long are not read, held or refused
// meanwhile. Knows no threads of its own and no clock.
#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace deberta::serve {

struct ReadLimits {
  size_t reading = 1;     // bodies of a line that are read at a time
  size_t tokens = 32768;  // read and unanswered tokens of a line from which on its further bodies wait
  size_t always = 2;      // bodies of any size that a line may have: one is computed while the next is read
};

// Outlives its turns, except those that were not taken before stop().
class ReadTurns {
 public:
  // A body that is read, or was and has no answer yet. Its end lets the line's next one in.
  class Turn {
   public:
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    void has_read(size_t tokens);  // once

   private:
    friend class ReadTurns;
    Turn(ReadTurns& turns, std::string line) : turns_(turns), line_(std::move(line)) {}
    ReadTurns& turns_;
    const std::string line_;
    size_t tokens_ = 0;
    bool is_read_ = false;
  };
  struct Body {
    std::function<bool()> is_over;                     // the deadline has passed, or the client has left
    std::function<void(std::unique_ptr<Turn>)> begin;  // null: it is over. Returns soon, and throws nothing
  };

  explicit ReadTurns(const ReadLimits& limits) : limits_(limits) {}

  // Calls `begin` once: here, where a turn ends, or in expire().
  void wait(const std::string& line, Body body);
  void expire();  // those that are over
  void stop();    // what waits is forgotten, `begin` is called no more

 private:
  struct Line {
    size_t reading = 0, read = 0, tokens = 0;
    std::deque<Body> waiting;
  };
  bool may_begin(const Line& state) const;
  void end(const Turn& turn);
  void begin_next(const std::string& line);

  const ReadLimits limits_;
  std::mutex mutex_;
  std::unordered_map<std::string, Line> lines_;  // lines with bodies
  bool is_stopped_ = false;
};

}  // namespace deberta::serve

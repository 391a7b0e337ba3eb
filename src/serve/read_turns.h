// When large bodies are read: a client's are read no further ahead than the models need to go on, so that texts that
// wait for long are not read, held or refused meanwhile. Knows no threads of its own and no clock.
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
  size_t reading = 1;     // bodies of a client that are read at once
  size_t tokens = 32768;  // of a client that were read and have no answer: further bodies of its wait
  size_t always = 2;      // of a client: one is computed, the next is read meanwhile, however large they are
};

// Outlives its turns, but for those that nobody took before stop().
class ReadTurns {
 public:
  // A body that is read, or was and has no answer yet. Its end lets the client's next one in.
  class Turn {
   public:
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    void has_read(size_t tokens);  // once

   private:
    friend class ReadTurns;
    Turn(ReadTurns& turns, std::string client) : turns_(turns), client_(std::move(client)) {}
    ReadTurns& turns_;
    const std::string client_;
    size_t tokens_ = 0;
    bool is_read_ = false;
  };
  struct Body {
    std::function<bool()> is_over;                     // its deadline has passed, or its client has left
    std::function<void(std::unique_ptr<Turn>)> begin;  // null: it is over. Returns soon, and throws nothing
  };

  explicit ReadTurns(const ReadLimits& limits) : limits_(limits) {}

  // Calls `begin` once: here, where a turn ends, or in expire().
  void wait(const std::string& client, Body body);
  void expire();  // those that are over
  void stop();    // what waits is forgotten, `begin` is called no more

 private:
  struct Client {
    size_t reading = 0, read = 0, tokens = 0;
    std::deque<Body> waiting;
  };
  bool may_begin(const Client& its) const;
  void end(const Turn& turn);
  void begin_next(const std::string& client);

  const ReadLimits limits_;
  std::mutex mutex_;
  std::unordered_map<std::string, Client> clients_;  // that have any
  bool is_stopped_ = false;
};

}  // namespace deberta::serve

// The lines and their bodies, under one lock; bodies begin after it is released.
#include "serve/read_turns.h"

#include <utility>
#include <vector>

namespace deberta::serve {

bool ReadTurns::may_begin(const Line& state) const {
  return state.reading + state.read < limits_.always ||
         (state.tokens < limits_.tokens && state.reading < limits_.reading);
}

void ReadTurns::wait(const std::string& line, Body body) {
  {
    const std::lock_guard lock(mutex_);
    if (is_stopped_) return;
    lines_[line].waiting.push_back(std::move(body));
  }
  begin_next(line);
}

// As many of the line's as may begin, the oldest first.
void ReadTurns::begin_next(const std::string& line) {
  std::vector<std::pair<Body, std::unique_ptr<Turn>>> begun;  // they begin once the lock is released
  {
    const std::lock_guard lock(mutex_);
    const auto entry = lines_.find(line);
    if (entry == lines_.end()) return;
    Line& state = entry->second;
    while (!state.waiting.empty() && may_begin(state)) {
      begun.reserve(begun.size() + 1);  // may fail, which no turn survives that ends under the lock
      std::unique_ptr<Turn> turn(new Turn(*this, line));
      ++state.reading;
      begun.emplace_back(std::move(state.waiting.front()), std::move(turn));
      state.waiting.pop_front();
    }
  }
  for (auto& [body, turn] : begun) body.begin(std::move(turn));
}

void ReadTurns::Turn::has_read(size_t tokens) {
  {
    const std::lock_guard lock(turns_.mutex_);
    Line& state = turns_.lines_.at(line_);
    --state.reading;
    ++state.read;
    state.tokens += tokens;
    tokens_ = tokens;
    is_read_ = true;
  }
  turns_.begin_next(line_);
}

ReadTurns::Turn::~Turn() {
  turns_.end(*this);
}

void ReadTurns::end(const Turn& turn) {
  {
    const std::lock_guard lock(mutex_);
    const auto entry = lines_.find(turn.line_);
    Line& state = entry->second;
    --(turn.is_read_ ? state.read : state.reading);
    state.tokens -= turn.tokens_;
    if (state.waiting.empty() && state.reading + state.read == 0) lines_.erase(entry);
  }
  begin_next(turn.line_);
}

void ReadTurns::expire() {
  std::vector<Body> over;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [name, state] : lines_) {
      for (Body& body : std::exchange(state.waiting, {})) {
        if (body.is_over())
          over.push_back(std::move(body));
        else
          state.waiting.push_back(std::move(body));
      }
    }
    // A body that was over before it could begin was all that its line had.
    std::erase_if(lines_, [](const auto& entry) {
      return entry.second.waiting.empty() && entry.second.reading + entry.second.read == 0;
    });
  }
  for (Body& body : over) body.begin(nullptr);
}

void ReadTurns::stop() {
  std::unordered_map<std::string, std::deque<Body>> forgotten;  // they end after the lock
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  for (auto& [name, state] : lines_) forgotten[name].swap(state.waiting);
}

}  // namespace deberta::serve

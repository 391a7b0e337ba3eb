// The lines and their bodies, under one lock; bodies are told to begin after it is released.
#include "serve/read_turns.h"

#include <utility>
#include <vector>

namespace deberta::serve {

bool ReadTurns::may_begin(const Line& its) const {
  return its.reading + its.read < limits_.always || (its.tokens < limits_.tokens && its.reading < limits_.reading);
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
  std::vector<std::pair<Body, std::unique_ptr<Turn>>> begun;  // told once the lock is released
  {
    const std::lock_guard lock(mutex_);
    const auto found = lines_.find(line);
    if (found == lines_.end()) return;
    Line& its = found->second;
    while (!its.waiting.empty() && may_begin(its)) {
      begun.reserve(begun.size() + 1);  // may fail, which no turn survives that ends under the lock
      std::unique_ptr<Turn> turn(new Turn(*this, line));
      ++its.reading;
      begun.emplace_back(std::move(its.waiting.front()), std::move(turn));
      its.waiting.pop_front();
    }
  }
  for (auto& [body, turn] : begun) body.begin(std::move(turn));
}

void ReadTurns::Turn::has_read(size_t tokens) {
  {
    const std::lock_guard lock(turns_.mutex_);
    Line& its = turns_.lines_.at(line_);
    --its.reading;
    ++its.read;
    its.tokens += tokens;
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
    const auto found = lines_.find(turn.line_);
    Line& its = found->second;
    --(turn.is_read_ ? its.read : its.reading);
    its.tokens -= turn.tokens_;
    if (its.waiting.empty() && its.reading + its.read == 0) lines_.erase(found);
  }
  begin_next(turn.line_);
}

void ReadTurns::expire() {
  std::vector<Body> over;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [name, its] : lines_) {
      for (Body& body : std::exchange(its.waiting, {})) {
        if (body.is_over())
          over.push_back(std::move(body));
        else
          its.waiting.push_back(std::move(body));
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
  for (auto& [name, its] : lines_) forgotten[name].swap(its.waiting);
}

}  // namespace deberta::serve

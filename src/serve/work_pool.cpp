// Start-time fair queueing over clients by measured time; some threads take small work only. One thread at a time is on
// its way to work, and wakes the next one where more waits: a thread that posts much, as the model's does at the end of
// a batch, wakes one, not as many as there are, which would take its processor from it.
#include "serve/work_pool.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace deberta::serve {

struct WorkPool::State {
  struct Client {
    double tag = 0;  // microseconds that it got
    std::deque<std::function<void()>> small, large;
    size_t running = 0;
    bool is_idle() const { return small.empty() && large.empty() && running == 0; }
  };
  using Clients = std::map<std::string, Client>;
  // What a thread waits for.
  struct Sleeper {
    std::condition_variable changed;
    bool is_woken = false;
  };
  // Threads that do the same work.
  struct Group {
    std::vector<Sleeper*> idle;
    size_t woken = 0;  // and not yet at work
    Sleeper* wake();
  };

  void run(bool takes_large);
  void sleep(Group& group, Sleeper& sleeper, std::unique_lock<std::mutex>& lock);
  Sleeper* wake_one_more();
  Clients::iterator next(bool takes_large);
  void run_one(Clients::iterator chosen, bool takes_large, std::unique_lock<std::mutex>& lock);

  std::mutex mutex;
  std::deque<Sleeper> sleepers;  // of all threads
  Group all, only_small;
  Clients clients;
  size_t waiting_small = 0, waiting_large = 0;
  double now = 0;  // the tag of the client served last
  bool is_stopped = false;
  std::vector<std::thread> threads;
};

// The client with the least time of those that have work; of equal ones the first by name.
WorkPool::State::Clients::iterator WorkPool::State::next(bool takes_large) {
  auto best = clients.end();
  for (auto at = clients.begin(); at != clients.end(); ++at) {
    if (at->second.small.empty() && (!takes_large || at->second.large.empty())) continue;
    if (best == clients.end() || at->second.tag < best->second.tag) best = at;
  }
  return best;
}

void WorkPool::State::run_one(Clients::iterator chosen, bool takes_large, std::unique_lock<std::mutex>& lock) {
  Client& client = chosen->second;
  const bool is_small = !client.small.empty() || !takes_large;
  std::deque<std::function<void()>>& from = is_small ? client.small : client.large;
  std::function<void()> job = std::move(from.front());
  from.pop_front();
  --(is_small ? waiting_small : waiting_large);
  ++client.running;
  now = std::max(now, client.tag);
  Sleeper* const sleeper = wake_one_more();
  lock.unlock();
  if (sleeper != nullptr) sleeper->changed.notify_one();
  const auto begun = std::chrono::steady_clock::now();
  job();
  job = nullptr;  // what it holds ends here, not under the lock
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begun;
  lock.lock();
  --client.running;
  client.tag += took.count();
  // Once no client waits, all are even: earlier work no longer counts.
  const bool is_over = std::ranges::all_of(clients, [](const auto& entry) { return entry.second.is_idle(); });
  std::erase_if(clients,
                [&](const auto& entry) { return entry.second.is_idle() && (is_over || entry.second.tag <= now); });
}

void WorkPool::State::sleep(Group& group, Sleeper& sleeper, std::unique_lock<std::mutex>& lock) {
  sleeper.is_woken = false;
  group.idle.push_back(&sleeper);
  sleeper.changed.wait(lock, [&] { return sleeper.is_woken; });
  --group.woken;
}

// It is to be notified without the lock, or it would wait for that at once.
WorkPool::State::Sleeper* WorkPool::State::Group::wake() {
  Sleeper* const sleeper = idle.back();
  idle.pop_back();
  sleeper->is_woken = true;
  ++woken;
  return sleeper;
}

// A thread for work that nobody is on the way to. Null: none waits for it, or a woken one takes it, or wakes the next
// when it takes other work; busy ones look for more work by themselves.
WorkPool::State::Sleeper* WorkPool::State::wake_one_more() {
  const bool wants_large = waiting_large > 0 && all.woken == 0;
  const bool wants_small = waiting_small > 0 && all.woken + only_small.woken == 0;
  if ((wants_large || wants_small) && !all.idle.empty()) return all.wake();
  return wants_small && !only_small.idle.empty() ? only_small.wake() : nullptr;
}

void WorkPool::State::run(bool takes_large) {
  std::unique_lock lock(mutex);
  Sleeper& sleeper = sleepers.emplace_back();
  while (true) {
    const Clients::iterator chosen = next(takes_large);
    if (chosen != clients.end())
      run_one(chosen, takes_large, lock);
    else if (is_stopped)
      return;
    else
      sleep(takes_large ? all : only_small, sleeper, lock);
  }
}

WorkPool::WorkPool(size_t threads, size_t threads_for_small) : state_(std::make_unique<State>()) {
  for (size_t i = 0; i < threads + threads_for_small; ++i)
    state_->threads.emplace_back([state = state_.get(), takes_large = i < threads] { state->run(takes_large); });
}

WorkPool::~WorkPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_stopped = true;
    for (State::Group* const group : {&state_->all, &state_->only_small}) {
      while (!group->idle.empty()) group->wake()->changed.notify_one();
    }
  }
  for (std::thread& thread : state_->threads) thread.join();
}

void WorkPool::post(const std::string& client, WorkSize size, std::function<void()> job) {
  State::Sleeper* sleeper = nullptr;
  {
    const std::lock_guard lock(state_->mutex);
    State::Client& client_state = state_->clients[client];
    if (client_state.is_idle()) client_state.tag = std::max(client_state.tag, state_->now);
    const bool is_small = size == WorkSize::kSmall;
    (is_small ? client_state.small : client_state.large).push_back(std::move(job));
    ++(is_small ? state_->waiting_small : state_->waiting_large);
    sleeper = state_->wake_one_more();
  }
  if (sleeper != nullptr) sleeper->changed.notify_one();
}

}  // namespace deberta::serve

// Start-time fair queueing over clients by measured time; some threads take small work only.
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

  void run(bool takes_large);
  void sleep(bool takes_large, Sleeper& sleeper, std::unique_lock<std::mutex>& lock);
  Sleeper* woken(WorkSize size);
  Clients::iterator next(bool takes_large);
  void run_one(Clients::iterator chosen, bool takes_large, std::unique_lock<std::mutex>& lock);

  std::mutex mutex;
  std::deque<Sleeper> sleepers;  // of all threads
  std::vector<Sleeper*> idle, idle_for_small;
  Clients clients;
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
  std::deque<std::function<void()>>& from = !client.small.empty() || !takes_large ? client.small : client.large;
  std::function<void()> job = std::move(from.front());
  from.pop_front();
  ++client.running;
  now = std::max(now, client.tag);
  lock.unlock();
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

void WorkPool::State::sleep(bool takes_large, Sleeper& sleeper, std::unique_lock<std::mutex>& lock) {
  sleeper.is_woken = false;
  (takes_large ? idle : idle_for_small).push_back(&sleeper);
  sleeper.changed.wait(lock, [&] { return sleeper.is_woken; });
}

// A thread that can do it, which is to be notified without the lock, or it would wait for that at once. Null: none
// waits; busy ones look for more work by themselves.
WorkPool::State::Sleeper* WorkPool::State::woken(WorkSize size) {
  std::vector<Sleeper*>& from = !idle.empty() || size == WorkSize::kLarge ? idle : idle_for_small;
  if (from.empty()) return nullptr;
  Sleeper* const sleeper = from.back();
  sleeper->is_woken = true;
  from.pop_back();
  return sleeper;
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
      sleep(takes_large, sleeper, lock);
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
    while (State::Sleeper* const sleeper = state_->woken(WorkSize::kSmall)) sleeper->changed.notify_one();
  }
  for (std::thread& thread : state_->threads) thread.join();
}

void WorkPool::post(const std::string& client, WorkSize size, std::function<void()> job) {
  State::Sleeper* sleeper = nullptr;
  {
    const std::lock_guard lock(state_->mutex);
    State::Client& client_state = state_->clients[client];
    if (client_state.is_idle()) client_state.tag = std::max(client_state.tag, state_->now);
    (size == WorkSize::kSmall ? client_state.small : client_state.large).push_back(std::move(job));
    sleeper = state_->woken(size);
  }
  if (sleeper != nullptr) sleeper->changed.notify_one();
}

}  // namespace deberta::serve

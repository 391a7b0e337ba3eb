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

  void run(bool takes_large);
  Clients::iterator next(bool takes_large);
  void run_one(Clients::iterator its, bool takes_large, std::unique_lock<std::mutex>& lock);

  std::mutex mutex;
  std::condition_variable changed;
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

void WorkPool::State::run_one(Clients::iterator its, bool takes_large, std::unique_lock<std::mutex>& lock) {
  Client& client = its->second;
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
  // All are even once nobody waits: nobody's past counts against it.
  const bool is_over = std::ranges::all_of(clients, [](const auto& entry) { return entry.second.is_idle(); });
  std::erase_if(clients,
                [&](const auto& entry) { return entry.second.is_idle() && (is_over || entry.second.tag <= now); });
}

void WorkPool::State::run(bool takes_large) {
  std::unique_lock lock(mutex);
  while (true) {
    Clients::iterator its;
    changed.wait(lock, [&] {
      its = next(takes_large);
      return is_stopped || its != clients.end();
    });
    if (its == clients.end()) return;
    run_one(its, takes_large, lock);
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
  }
  state_->changed.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

void WorkPool::post(const std::string& client, WorkSize size, std::function<void()> job) {
  {
    const std::lock_guard lock(state_->mutex);
    State::Client& its = state_->clients[client];
    if (its.is_idle()) its.tag = std::max(its.tag, state_->now);
    (size == WorkSize::kSmall ? its.small : its.large).push_back(std::move(job));
  }
  state_->changed.notify_all();
}

}  // namespace deberta::serve

// Admission, fair choice and batch formation over plain maps; the caller holds the lock and supplies the time.
#include "serve/batch_queue.h"

#include <algorithm>

namespace deberta::serve {
namespace {

constexpr double kShares[] = {8, 4, 1};    // shares of the classes
constexpr int kMostPassed = 8;             // sequences of its client that may be taken before one of another kind
constexpr size_t kLookahead = 64;          // sequences of a client, looked at for one of the batch's kind
constexpr size_t kIdleClients = 64;        // idle clients whose tags are kept, at least
constexpr double kNewSpeed = 0.2;          // weight of the last batch in the mean speed
constexpr double kSharedTime = 50000;      // microseconds of a batch while several clients ask
constexpr double kFirstWork = 512;         // of a batch while the speed is not known
constexpr int64_t kSeveralTime = 5000000;  // after the last turn from one client to another

}  // namespace

double work_of(size_t tokens, const QueueLimits& limits) {
  const auto n = static_cast<double>(tokens);
  return n * (1 + n / limits.even_length);
}

// A batch while it is formed.
struct BatchQueue::Turn {
  int64_t now;
  std::vector<RequestId>& late;
  Batch batch;
  std::vector<std::pair<Class*, std::string>> set_aside;  // clients of which nothing fits
  double most_work = 0;
  bool is_closed = false;

  bool takes(const Waiting& waiting) const {
    if (batch.sequences.empty()) return true;  // one above the limit runs alone
    return waiting.sequence.kind == batch.sequences.front().kind && batch.work + waiting.work <= most_work;
  }
};

std::optional<RequestId> BatchQueue::admit(const RequestInfo& info, size_t tokens) {
  tokens = std::min(tokens, limits_.tokens);  // an estimate may be too high
  if (gauges_.requests >= limits_.requests || tokens > limits_.tokens - gauges_.tokens) return std::nullopt;
  const RequestId id = next_request_++;
  Request& request = requests_[id];
  request.info = info;
  request.reserved = tokens;
  gauges_.tokens += tokens;
  ++gauges_.requests;
  if (info.deadline != INT64_MAX) deadlines_.emplace(info.deadline, id);
  return id;
}

bool BatchQueue::add(RequestId id, std::span<const size_t> tokens, uint64_t kind) {
  const auto entry = requests_.find(id);
  if (entry == requests_.end()) return false;
  Request& request = entry->second;
  size_t all = 0;
  for (const size_t count : tokens) all += count;
  release(request, request.reserved);
  if (all > limits_.tokens - gauges_.tokens || !has_share(request.info.client, all)) {
    drop(id);
    return false;
  }
  request.reserved = all;
  request.is_added = true;
  gauges_.tokens += all;
  if (all > 0) client_tokens_[request.info.client] += all;
  for (size_t i = 0; i < tokens.size(); ++i) wait(request, {id, i, tokens[i], kind});
  end_if_done(id);  // a request without sequences
  return true;
}

void BatchQueue::wait(Request& request, const QueuedSequence& sequence) {
  Class& priority_class = class_of(request);
  if (priority_class.order.empty()) priority_class.tag = std::max(priority_class.tag, class_now_);
  Client& client = priority_class.clients[request.info.client];
  if (client.waiting.empty()) {
    client.tag = std::max(client.tag, priority_class.now);
    priority_class.order.emplace(client.tag, request.info.client);
  }
  const double work = work_of(sequence.tokens, limits_);
  client.waiting.emplace(Place{request.info.deadline, next_order_}, Waiting{sequence, work, 0});
  request.places.push_back(next_order_++);
  ++request.waiting;
  ++gauges_.sequences;
  waiting_work_ += work;
}

// The request's sequences leave the queue.
void BatchQueue::forget_waiting(Request& request) {
  if (request.waiting == 0) return;
  Class& priority_class = class_of(request);
  const auto entry = priority_class.clients.find(request.info.client);
  Client& client = entry->second;
  for (const uint64_t order : request.places) {
    const auto at = client.waiting.find({request.info.deadline, order});
    if (at == client.waiting.end()) continue;  // it runs, or has run
    release(request, at->second.sequence.tokens);
    waiting_work_ -= at->second.work;
    --gauges_.sequences;
    client.waiting.erase(at);
  }
  request.waiting = 0;
  if (client.waiting.empty()) priority_class.order.erase({client.tag, entry->first});
}

bool BatchQueue::has_share(const std::string& client, size_t tokens) const {
  const auto entry = client_tokens_.find(client);
  return entry == client_tokens_.end() || entry->second + tokens <= limits_.tokens / 2;
}

void BatchQueue::release(Request& request, size_t tokens) {
  request.reserved -= tokens;
  gauges_.tokens -= tokens;
  if (tokens == 0 || !request.is_added) return;
  const auto entry = client_tokens_.find(request.info.client);
  entry->second -= tokens;
  if (entry->second == 0) client_tokens_.erase(entry);
}

// Ends a request before its answer.
void BatchQueue::drop(RequestId id) {
  Request& request = requests_.at(id);
  forget_waiting(request);
  request.is_gone = true;
  if (!request.is_added) release(request, request.reserved);
  request.is_added = true;
  end_if_done(id);
}

void BatchQueue::end_if_done(RequestId id) {
  const auto entry = requests_.find(id);
  const Request& request = entry->second;
  if (!request.is_added || request.waiting > 0 || request.running > 0) return;
  deadlines_.erase({request.info.deadline, id});
  --gauges_.requests;
  requests_.erase(entry);
}

void BatchQueue::end_running(const QueuedSequence& sequence) {
  Request& request = requests_.at(sequence.request);
  release(request, sequence.tokens);
  --request.running;
  --gauges_.running;
  end_if_done(sequence.request);
}

void BatchQueue::cancel(RequestId id) {
  if (requests_.contains(id)) drop(id);
}

bool BatchQueue::is_late(const Waiting& waiting, int64_t now) const {
  const int64_t deadline = requests_.at(waiting.sequence.request).info.deadline;
  return deadline != INT64_MAX && static_cast<double>(now) + time_of(waiting.work) > static_cast<double>(deadline);
}

void BatchQueue::serve(Class& chosen, const std::string& name, std::map<Place, Waiting>::iterator at, Turn& turn) {
  Client& client = chosen.clients.at(name);
  const Waiting taken = at->second;
  Request& request = requests_.at(taken.sequence.request);
  --request.waiting;
  ++request.running;
  --gauges_.sequences;
  ++gauges_.running;
  waiting_work_ -= taken.work;
  turn.batch.sequences.push_back(taken.sequence);
  turn.batch.work += taken.work;

  note_served(name, turn.now);
  class_now_ = chosen.tag;
  chosen.now = client.tag;
  chosen.tag += taken.work / kShares[&chosen - classes_.data()];
  chosen.order.erase({client.tag, name});
  client.tag += taken.work;
  client.waiting.erase(at);
  if (!client.waiting.empty()) chosen.order.emplace(client.tag, name);
}

// Drops a request that cannot meet its deadline, also what the batch has of it already: a short sequence can still be
// in time when a longer one of the same request is not.
void BatchQueue::drop_late(RequestId id, Turn& turn) {
  turn.late.push_back(id);
  drop(id);
  std::erase_if(turn.batch.sequences, [&](const QueuedSequence& taken) {
    if (taken.request != id) return false;
    turn.batch.work -= work_of(taken.tokens, limits_);
    end_running(taken);
    return true;
  });
  if (turn.batch.sequences.empty()) turn.batch.work = 0;
}

// Takes one sequence of the client, or drops a late request of its; false: nothing of it fits.
bool BatchQueue::take_from(Class& chosen, const std::string& name, Turn& turn) {
  Client& client = chosen.clients.at(name);
  std::vector<Waiting*> passed;
  for (auto at = client.waiting.begin(); at != client.waiting.end() && passed.size() < kLookahead; ++at) {
    if (is_late(at->second, turn.now)) {
      drop_late(at->second.sequence.request, turn);
      return true;
    }
    if (turn.takes(at->second)) {
      for (Waiting* earlier : passed) ++earlier->passed;
      serve(chosen, name, at, turn);
      return true;
    }
    if (at->second.sequence.kind == turn.batch.sequences.front().kind) return false;  // it is the next of its kind
    if (at->second.passed >= kMostPassed) {
      turn.is_closed = true;
      return false;
    }
    passed.push_back(&at->second);
  }
  return false;
}

void BatchQueue::note_served(const std::string& client, int64_t now) {
  if (client == last_served_) return;
  if (!last_served_.empty()) several_until_ = now + kSeveralTime;
  last_served_ = client;
}

// The most work of the next batch. What arrives while a batch runs waits for its end. One client's batches are as large
// as a batch may be: smaller ones are slower, and in overload they keep nobody but that client waiting.
double BatchQueue::most_work(int64_t now) {
  size_t waiting = 0;
  for (const Class& priority_class : classes_) waiting += priority_class.order.size();
  if (waiting > 1) several_until_ = now + kSeveralTime;
  if (speed_ == 0) return std::min(limits_.batch_work, kFirstWork);
  return now < several_until_ ? std::min(limits_.batch_work, speed_ * kSharedTime) : limits_.batch_work;
}

BatchQueue::Batch BatchQueue::next_batch(int64_t now, std::vector<RequestId>& late) {
  Turn turn{.now = now, .late = late, .batch = {}, .set_aside = {}, .most_work = most_work(now), .is_closed = false};
  while (!turn.is_closed && turn.batch.sequences.size() < limits_.batch_sequences) {
    Class* chosen = nullptr;
    for (Class& priority_class : classes_) {
      if (!priority_class.order.empty() && (chosen == nullptr || priority_class.tag < chosen->tag))
        chosen = &priority_class;
    }
    if (chosen == nullptr) break;
    const std::string name = chosen->order.begin()->second;
    if (take_from(*chosen, name, turn)) continue;
    turn.set_aside.emplace_back(chosen, name);
    chosen->order.erase(chosen->order.begin());
  }
  for (const auto& [priority_class, name] : turn.set_aside)
    priority_class->order.emplace(priority_class->clients.at(name).tag, name);
  for (Class& priority_class : classes_) {
    if (priority_class.clients.size() > 2 * priority_class.order.size() + kIdleClients)
      std::erase_if(priority_class.clients, [&](const auto& entry) {
        return entry.second.waiting.empty() && entry.second.tag <= priority_class.now;
      });
  }
  running_work_ += turn.batch.work;
  return std::move(turn.batch);
}

std::vector<bool> BatchQueue::finish(const Batch& batch, int64_t elapsed) {
  std::vector<bool> are_wanted;
  for (const QueuedSequence& sequence : batch.sequences) {
    are_wanted.push_back(!requests_.at(sequence.request).is_gone);
    end_running(sequence);
  }
  running_work_ -= batch.work;
  if (elapsed > 0 && batch.work > 0) {
    const double speed = batch.work / static_cast<double>(elapsed);
    speed_ = speed_ == 0 ? speed : (1 - kNewSpeed) * speed_ + kNewSpeed * speed;
  }
  return are_wanted;
}

std::vector<RequestId> BatchQueue::expire(int64_t now) {
  std::vector<RequestId> expired;
  for (const auto& [deadline, id] : deadlines_) {
    if (deadline > now) break;
    if (!requests_.at(id).is_gone) expired.push_back(id);
  }
  for (const RequestId id : expired) drop(id);
  return expired;
}

std::optional<int64_t> BatchQueue::next_deadline() const {
  for (const auto& [deadline, id] : deadlines_) {
    if (!requests_.at(id).is_gone) return deadline;
  }
  return std::nullopt;
}

int64_t BatchQueue::time_to_drain() const {
  return static_cast<int64_t>(time_of(waiting_work_ + running_work_));
}

}  // namespace deberta::serve

// The queue of one model: which sequences run next, which requests get no room and which have waited too long. A
// request is a set of sequences; they are queued one by one, so that a large request never becomes a large batch. Knows
// no threads, no clock and no model: every time is an argument, in microseconds.
//
// Order: the classes of priority share the work 8 : 4 : 1, the clients of a class equally, by the work that they got
// (start-time fair queueing); of one client the sequence with the nearest deadline comes first, then the oldest.
// A batch is as large as the limits allow; while several clients ask, it takes 50 ms at most, by the speed so far. A
// single sequence is never split. A client's sequences have at most half of the queue's tokens, but for those of one
// request by itself.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "deberta/server.h"

namespace deberta::serve {

enum class Priority : uint8_t { kHigh, kNormal, kLow };

struct QueueLimits {
  size_t requests = ServerLimits{}.max_concurrent_requests;
  size_t tokens = size_t{256} * 4096;  // waiting and running
  // Limits of a batch: work, in tokens whose attention costs nothing, and sequences.
  double batch_work = 4096;
  size_t batch_sequences = ServerLimits{}.max_batch_items;
  // The length at which attention is as much work as the rest of the model (cost/operations.h).
  double even_length = 2304;
};

// The work of a sequence of n tokens: n (1 + n / even_length).
double work_of(size_t tokens, const QueueLimits& limits);

using RequestId = uint64_t;

struct RequestInfo {
  std::string client;  // the client whose fair share pays for it
  Priority priority = Priority::kNormal;
  int64_t deadline = INT64_MAX;
};

struct QueuedSequence {
  RequestId request = 0;
  size_t index = 0;  // in its request
  size_t tokens = 0;
  uint64_t kind = 0;  // a batch holds sequences of one kind
};

struct QueueGauges {
  size_t requests = 0;
  size_t tokens = 0;
  size_t sequences = 0;  // waiting
  size_t running = 0;
};

class BatchQueue {
 public:
  explicit BatchQueue(const QueueLimits& limits) : limits_(limits) {}

  // Reserves room before the texts are read; `tokens` is an estimate. Nothing: there is no room.
  std::optional<RequestId> admit(const RequestInfo& info, size_t tokens);

  // Queues the sequences of an admitted request, by their lengths, once. False: they are more than the estimate and
  // there is no room; the request is gone.
  bool add(RequestId request, std::span<const size_t> tokens, uint64_t kind);

  // Sequences that are waiting are forgotten at once; those that run are when their batch ends. An unknown request (one
  // that has ended) is no error.
  void cancel(RequestId request);

  struct Batch {
    std::vector<QueuedSequence> sequences;  // empty: nothing waits, or requests were late and more may wait
    double work = 0;
  };
  // The next batch, whose sequences run from now on. `late`: requests that can no longer meet their deadline; they are
  // gone, and none of them is in the batch.
  Batch next_batch(int64_t now, std::vector<RequestId>& late);

  // The batch has run, in `elapsed`. Returns which of its sequences are still wanted.
  std::vector<bool> finish(const Batch& batch, int64_t elapsed);

  // Requests whose deadline has passed while they waited; they are gone.
  std::vector<RequestId> expire(int64_t now);
  std::optional<int64_t> next_deadline() const;

  // The time until what waits has run, at the speed of recent batches; 0 before the first.
  int64_t time_to_drain() const;
  const QueueGauges& gauges() const { return gauges_; }
  const QueueLimits& limits() const { return limits_; }

 private:
  static constexpr size_t kClasses = 3;
  using Place = std::pair<int64_t, uint64_t>;  // deadline, order of arrival

  struct Waiting {
    QueuedSequence sequence;
    double work = 0;
    int passed = 0;  // how often a later sequence was taken before it
  };
  struct Client {
    double tag = 0;  // work that it got, over its share
    std::map<Place, Waiting> waiting;
  };
  struct Class {
    double tag = 0, now = 0;  // `now`: the tag of the client served last
    std::map<std::string, Client> clients;
    std::set<std::pair<double, std::string>> order;  // clients with waiting sequences, by tag
  };
  struct Request {
    RequestInfo info;
    size_t reserved = 0;  // tokens
    size_t waiting = 0, running = 0;
    bool is_added = false;
    bool is_gone = false;          // cancelled or late, with sequences still running
    std::vector<uint64_t> places;  // orders of arrival
  };
  struct Turn;

  Class& class_of(const Request& request) { return classes_[static_cast<size_t>(request.info.priority)]; }
  void wait(Request& request, const QueuedSequence& sequence);
  void forget_waiting(Request& request);
  void drop(RequestId id);
  void end_if_done(RequestId id);
  void end_running(const QueuedSequence& sequence);
  void release(Request& request, size_t tokens);
  bool has_share(const std::string& client, size_t tokens) const;
  double time_of(double work) const { return speed_ > 0 ? work / speed_ : 0; }
  bool is_late(const Waiting& waiting, int64_t now) const;
  double most_work(int64_t now);
  void note_served(const std::string& client, int64_t now);
  void drop_late(RequestId id, Turn& turn);
  bool take_from(Class& chosen, const std::string& name, Turn& turn);
  void serve(Class& chosen, const std::string& name, std::map<Place, Waiting>::iterator at, Turn& turn);

  const QueueLimits limits_;
  std::array<Class, kClasses> classes_;
  double class_now_ = 0;
  std::unordered_map<RequestId, Request> requests_;
  std::unordered_map<std::string, size_t> client_tokens_;  // tokens in the queue, for clients that have any
  std::set<std::pair<int64_t, RequestId>> deadlines_;      // requests with a deadline
  RequestId next_request_ = 1;
  uint64_t next_order_ = 0;
  double waiting_work_ = 0, running_work_ = 0;
  double speed_ = 0;           // work per microsecond
  std::string last_served_;    // a client
  int64_t several_until_ = 0;  // several clients ask
  QueueGauges gauges_;
};

}  // namespace deberta::serve

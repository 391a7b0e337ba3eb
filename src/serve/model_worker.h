// A model with its queue and the thread that runs it. Requests hand in the plan of a task (pipeline/plan.h); sequences
// of all requests run together, and the end of each request is reported once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "deberta/model.h"
#include "pipeline/plan.h"
#include "serve/batch_queue.h"

namespace deberta::serve {

int64_t microseconds();  // by a clock that never goes back

// How a request ended. `error`: what the model threw, for kFailed.
struct Outcome {
  enum class Kind { kComputed, kLate, kFailed };
  Kind kind = Kind::kComputed;
  std::exception_ptr error;
  int64_t queue_time = 0;    // until its first sequence ran, in microseconds
  int64_t compute_time = 0;  // time of the batches that it was in
  bool leaves_idle = false;  // no other request waits for the model: its thread may make the answer
};

struct BatchFacts {
  size_t sequences = 0, tokens = 0;
  double work = 0;
  int64_t elapsed = 0;  // microseconds
};

class ModelWorker {
 public:
  // Runs a pack: run_pack() on a model. Sequences of one batch have one `kind`.
  using RunPack = std::function<void(uint64_t kind, std::span<const PlannedSequence> pack, ForwardResult& result)>;

  ModelWorker(const QueueLimits& limits, RunPack run);
  ~ModelWorker();  // as stop()
  ModelWorker(const ModelWorker&) = delete;
  ModelWorker& operator=(const ModelWorker&) = delete;

  // As BatchQueue: room before the texts are read.
  std::optional<RequestId> admit(const RequestInfo& info, size_t tokens);

  // Queues the sequences of an admitted request. `done` is called once, by the thread that computes or by expire(),
  // unless the request is cancelled. False: there is no room, or the request has ended; `done` is not called.
  bool submit(RequestId request, std::shared_ptr<const SequencePlan> plan, uint64_t kind,
              std::function<void(const Outcome&)> done);

  // `done` is not called from now on, except for a call in progress.
  void cancel(RequestId request);

  // Ends requests whose deadline has passed, also admitted ones whose texts are still read: submit() is false for them.
  void expire();

  // Ends the thread; waiting requests are dropped without a call of `done`, and nothing runs from now on.
  void stop();

  QueueGauges gauges() const;
  const QueueLimits& limits() const;
  int64_t time_to_drain() const;
  // Called after each batch, by the thread that computes.
  void on_batch(std::function<void(const BatchFacts&)> tell);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deberta::serve

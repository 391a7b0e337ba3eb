// The thread that forms batches, runs them through pipeline plans, and reports their ends without the lock.
#include "serve/model_worker.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace deberta::serve {

int64_t microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

namespace {

struct Job {
  std::shared_ptr<const SequencePlan> plan;
  std::function<void(const Outcome&)> done;
  size_t left = 0;  // sequences
  int64_t submitted = 0;
  uint64_t last_batch = 0;     // 0: it has not run
  uint64_t counted_batch = 0;  // last batch whose time is in the outcome
  Outcome outcome;
};

// Ended jobs, to be reported once the lock is released.
using EndedJobs = std::vector<std::shared_ptr<Job>>;

void report_ends(const EndedJobs& ended) {
  for (const std::shared_ptr<Job>& job : ended) job->done(job->outcome);
}

}  // namespace

struct ModelWorker::State {
  State(const QueueLimits& limits, RunPack run_) : queue(limits), run(std::move(run_)) {}

  void compute();
  void run_batch(const BatchQueue::Batch& batch, const std::vector<std::shared_ptr<Job>>& jobs,
                 std::vector<std::exception_ptr>& errors);
  std::vector<std::shared_ptr<Job>> start(const BatchQueue::Batch& batch, int64_t now);
  void end(const BatchQueue::Batch& batch, const std::vector<std::shared_ptr<Job>>& ran,
           const std::vector<std::exception_ptr>& errors, int64_t elapsed, EndedJobs& ended);
  void end_late(const std::vector<RequestId>& late, EndedJobs& ended);

  mutable std::mutex mutex;
  std::condition_variable changed;
  BatchQueue queue;
  std::unordered_map<RequestId, std::shared_ptr<Job>> jobs;
  RunPack run;
  std::function<void(const BatchFacts&)> on_batch;
  ForwardResult result;
  uint64_t batches = 0;
  bool is_stopped = false;
  std::thread thread;
};

// The jobs of a batch's sequences, which begin to run.
std::vector<std::shared_ptr<Job>> ModelWorker::State::start(const BatchQueue::Batch& batch, int64_t now) {
  ++batches;
  std::vector<std::shared_ptr<Job>> running;
  for (const QueuedSequence& sequence : batch.sequences) {
    const std::shared_ptr<Job>& job = running.emplace_back(jobs.at(sequence.request));
    if (job->last_batch == 0) job->outcome.queue_time = now - job->submitted;
    job->last_batch = batches;
  }
  return running;
}

// A pack that fails is run again one by one, so that only the request at fault does.
void ModelWorker::State::run_batch(const BatchQueue::Batch& batch, const std::vector<std::shared_ptr<Job>>& ran,
                                   std::vector<std::exception_ptr>& errors) {
  const uint64_t kind = batch.sequences.front().kind;
  std::vector<PlannedSequence> pack;
  for (size_t i = 0; i < ran.size(); ++i) pack.push_back({ran[i]->plan.get(), batch.sequences[i].index});
  errors.assign(pack.size(), nullptr);
  try {
    return run(kind, pack, result);
  } catch (...) {
    if (pack.size() == 1) {
      errors.front() = std::current_exception();
      return;
    }
  }
  for (size_t i = 0; i < pack.size(); ++i) {
    try {
      run(kind, std::span(pack).subspan(i, 1), result);
    } catch (...) {
      errors[i] = std::current_exception();
    }
  }
}

void ModelWorker::State::end(const BatchQueue::Batch& batch, const std::vector<std::shared_ptr<Job>>& ran,
                             const std::vector<std::exception_ptr>& errors, int64_t elapsed, EndedJobs& ended) {
  const std::vector<bool> are_wanted = queue.finish(batch, elapsed);
  for (size_t i = 0; i < ran.size(); ++i) {
    Job& job = *ran[i];
    const RequestId id = batch.sequences[i].request;
    if (!are_wanted[i] || !jobs.contains(id)) continue;
    job.outcome.compute_time += job.counted_batch != job.last_batch ? elapsed : 0;
    job.counted_batch = job.last_batch;
    --job.left;
    if (errors[i]) {
      job.outcome.kind = Outcome::Kind::kFailed;
      job.outcome.error = errors[i];
      queue.cancel(id);
    }
    if (job.left > 0 && !errors[i]) continue;
    ended.push_back(ran[i]);
    jobs.erase(id);
  }
  if (ended.size() == 1) ended.front()->outcome.leaves_idle = queue.gauges().sequences == 0;
}

void ModelWorker::State::end_late(const std::vector<RequestId>& late, EndedJobs& ended) {
  for (const RequestId id : late) {
    const auto entry = jobs.find(id);
    if (entry == jobs.end()) continue;  // the request's texts are still being read
    entry->second->outcome.kind = Outcome::Kind::kLate;
    ended.push_back(std::move(entry->second));
    jobs.erase(entry);
  }
}

void ModelWorker::State::compute() {
  std::unique_lock lock(mutex);
  while (!is_stopped) {
    EndedJobs ended;
    std::vector<RequestId> late;
    const int64_t begin = microseconds();
    const BatchQueue::Batch batch = queue.next_batch(begin, late);
    end_late(late, ended);
    if (batch.sequences.empty() && late.empty()) {
      changed.wait(lock);
      continue;
    }
    std::vector<std::shared_ptr<Job>> ran = start(batch, begin);
    lock.unlock();
    report_ends(std::exchange(ended, {}));
    BatchFacts facts{.sequences = batch.sequences.size(), .tokens = 0, .work = batch.work, .elapsed = 0};
    std::vector<std::exception_ptr> errors;
    if (!batch.sequences.empty()) run_batch(batch, ran, errors);
    for (const QueuedSequence& sequence : batch.sequences) facts.tokens += sequence.tokens;
    facts.elapsed = microseconds() - begin;
    lock.lock();
    if (batch.sequences.empty()) continue;
    end(batch, ran, errors, facts.elapsed, ended);
    const std::function<void(const BatchFacts&)> tell_batch = on_batch;
    lock.unlock();
    if (tell_batch) tell_batch(facts);
    report_ends(ended);
    ran.clear();  // plans end here, not under the lock
    ended.clear();
    lock.lock();
  }
}

ModelWorker::ModelWorker(const QueueLimits& limits, RunPack run)
    : state_(std::make_unique<State>(limits, std::move(run))) {
  state_->thread = std::thread([state = state_.get()] { state->compute(); });
}

ModelWorker::~ModelWorker() {
  stop();
}

void ModelWorker::stop() {
  std::unordered_map<RequestId, std::shared_ptr<Job>> forgotten;  // it ends after the lock
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_stopped = true;
    forgotten.swap(state_->jobs);
  }
  state_->changed.notify_all();
  if (state_->thread.joinable()) state_->thread.join();
}

std::optional<RequestId> ModelWorker::admit(const RequestInfo& info, size_t tokens) {
  const std::lock_guard lock(state_->mutex);
  return state_->queue.admit(info, tokens);
}

bool ModelWorker::submit(RequestId request, std::shared_ptr<const SequencePlan> plan, uint64_t kind,
                         std::function<void(const Outcome&)> done) {
  const auto job = std::make_shared<Job>();
  job->plan = std::move(plan);
  const std::span<const size_t> tokens = job->plan->sequences.tokens();
  job->done = std::move(done);
  job->left = tokens.size();
  job->submitted = microseconds();
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->is_stopped || !state_->queue.add(request, tokens, kind)) return false;
    if (!tokens.empty()) state_->jobs.emplace(request, job);
  }
  if (tokens.empty())
    job->done(job->outcome);
  else
    state_->changed.notify_one();
  return true;
}

void ModelWorker::cancel(RequestId request) {
  std::shared_ptr<Job> job;  // destroyed after the lock is released: its plan may be large
  const std::lock_guard lock(state_->mutex);
  state_->queue.cancel(request);
  if (const auto entry = state_->jobs.find(request); entry != state_->jobs.end()) {
    job = std::move(entry->second);
    state_->jobs.erase(entry);
  }
}

void ModelWorker::expire() {
  EndedJobs ended;
  {
    const std::lock_guard lock(state_->mutex);
    state_->end_late(state_->queue.expire(microseconds()), ended);
  }
  report_ends(ended);
}

QueueGauges ModelWorker::gauges() const {
  const std::lock_guard lock(state_->mutex);
  return state_->queue.gauges();
}

// They never change, so that no lock is needed.
const QueueLimits& ModelWorker::limits() const {
  return state_->queue.limits();
}

int64_t ModelWorker::time_to_drain() const {
  const std::lock_guard lock(state_->mutex);
  return state_->queue.time_to_drain();
}

void ModelWorker::on_batch(std::function<void(const BatchFacts&)> tell) {
  const std::lock_guard lock(state_->mutex);
  state_->on_batch = std::move(tell);
}

}  // namespace deberta::serve

// Two threads share a row queue; a failure of either one ends both, and is thrown where run() was called.
#include "rows/read_ahead.h"

#include <fmt/format.h>

#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include "deberta/error.h"

namespace deberta {
namespace {

// A group is a pack: as full as its rows allow, without padding.
RowQueue::Limits limits_of(const ReadAheadRules& rules) {
  if (!rules.encode) return {.rows = 256, .bytes = size_t{1} << 17};
  return {.tokens = rules.batch_tokens};
}

std::thread start_thread(const std::function<void()>& work) {
  try {
    return std::thread(work);
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::kOutOfMemory, "reading ahead",
                fmt::format("cannot start a thread: {}; end other programs", error.code().message()));
  }
}

}  // namespace

ReadAhead::ReadAhead(const OpenRows& open, ReadAheadRules rules)
    : rules_(std::move(rules)),
      queue_(limits_of(rules_)),
      source_(open([this] { return has_failed_ || rules_.is_stopped(); })) {}

void ReadAhead::read() {
  size_t number = 0;
  for (Row row;;) {
    if (!source_->is_ready()) queue_.pause();
    if (rules_.is_stopped() || !source_->next(row)) return;
    row.number = ++number;
    if (rules_.encode && !row.error) {
      try {
        row.encodings = rules_.encode(row);
      } catch (const Error& error) {
        row.error = error;
      }
    }
    if (!queue_.push(std::move(row), source_->fraction_done())) return;
  }
}

void ReadAhead::run(const std::function<void(RowGroup& group)>& take) {
  std::exception_ptr read_failure, take_failure;
  std::thread taking = start_thread([&] {
    try {
      for (RowGroup group = queue_.take(); !group.rows.empty() && !rules_.is_stopped(); group = queue_.take())
        take(group);
    } catch (...) {
      take_failure = std::current_exception();
      has_failed_ = true;  // the other thread may be waiting for input
    }
    queue_.close();
  });
  try {
    read();
  } catch (...) {
    read_failure = std::current_exception();
  }
  queue_.end();
  taking.join();
  if (take_failure) std::rethrow_exception(take_failure);
  if (read_failure) std::rethrow_exception(read_failure);
}

}  // namespace deberta

#include "cli/read_ahead.h"

#include <fmt/format.h>

#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/interrupt.h"
#include "deberta/error.h"
#include "options/options.h"

namespace deberta::cli {
namespace {

// A group is a pack: as full as its rows allow, without padding.
RowQueue::Limits limits_of(const Options& options, bool has_tokens) {
  if (!has_tokens) return {.rows = 256, .bytes = size_t{1} << 17};
  return {.tokens = static_cast<size_t>(options.integer("batch-tokens"))};
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

ReadAhead::ReadAhead(const Options& options, EncodeRow encode)
    : ReadAhead(options, std::move(encode),
                [&](const std::function<bool()>& is_stopped) { return open_rows(options, is_stopped); }) {}

ReadAhead::ReadAhead(const Options& options, EncodeRow encode, const OpenRows& open)
    : encode_(std::move(encode)),
      queue_(limits_of(options, encode_ != nullptr)),
      source_(open([this] { return has_failed_ || interrupted() != 0; })) {}

void ReadAhead::read() {
  size_t number = 0;
  for (Row row;;) {
    if (!source_->is_ready()) queue_.pause();
    if (interrupted() != 0 || !source_->next(row)) return;
    row.number = ++number;
    if (encode_ != nullptr && !row.error) {
      try {
        row.encodings = encode_(row);
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
      for (RowGroup group = queue_.take(); !group.rows.empty() && interrupted() == 0; group = queue_.take())
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

}  // namespace deberta::cli

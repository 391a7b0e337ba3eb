// The process-wide warning sink.
#include "base/log.h"

#include <mutex>
#include <utility>

#include "deberta/library.h"

namespace deberta {
namespace {

std::mutex mutex;
LogSink& sink() {
  static LogSink value;
  return value;
}

}  // namespace

void set_warning_sink(LogSink new_sink) {
  const std::lock_guard lock(mutex);
  sink() = std::move(new_sink);
}

void warn(std::string_view message) {
  const std::lock_guard lock(mutex);
  if (sink()) sink()(message);
}

}  // namespace deberta

// The process-wide warning sink.
#include "base/log.h"

#include <mutex>

#include "deberta/library.h"

namespace deberta {
namespace {

std::mutex mutex;
LogSink sink = nullptr;
void* sink_context = nullptr;

}  // namespace

void set_warning_sink(LogSink new_sink, void* context) {
  const std::lock_guard lock(mutex);
  sink = new_sink;
  sink_context = context;
}

void warn(std::string_view message) {
  const std::lock_guard lock(mutex);
  if (sink != nullptr) sink(sink_context, message);
}

}  // namespace deberta

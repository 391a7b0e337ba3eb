// Where the library's warnings go. The library itself never prints; a program installs a sink.
#pragma once
#include <functional>
#include <string_view>

namespace deberta {

using LogSink = std::function<void(std::string_view message)>;

// Replaces the sink of the process; an empty one (the default) drops messages. Thread-safe.
void set_warning_sink(LogSink sink);

// Hands one line to the sink.
void warn(std::string_view message);

}  // namespace deberta

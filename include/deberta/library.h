// The library as a whole: its version, and where its warnings go.
#pragma once
#include <functional>
#include <string_view>

namespace deberta {

std::string_view version();  // "0.1.0"

// The library never prints. A program that wants its warnings, one line each, installs a sink.
using LogSink = std::function<void(std::string_view message)>;

// Replaces the sink of the process; an empty one (the default) drops messages. Thread-safe. The sink is called by one
// thread at a time and must not call back into the library.
void set_warning_sink(LogSink sink);

}  // namespace deberta

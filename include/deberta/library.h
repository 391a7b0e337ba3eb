// The library as a whole: its version, and where its warnings go.
#pragma once
#include <string_view>

#include "deberta/error.h"

namespace deberta {

DEBERTA_API std::string_view version();  // "0.1.0"

// The library never prints. A program that wants its warnings, one line each, installs a sink, which also receives
// `context`. It is a plain function because <functional> would be a third of the compile time of this header.
using LogSink = void (*)(void* context, std::string_view message);

// Replaces the sink of the process; nullptr (the default) drops messages. Thread-safe. The sink is called by one thread
// at a time and must not call back into the library.
DEBERTA_API void set_warning_sink(LogSink sink, void* context = nullptr);

}  // namespace deberta

// What an evaluation reports to its caller and asks of it.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>

#include "deberta/error.h"
#include "rows/row.h"

namespace deberta {

struct EvalHooks {
  BadRows bad_rows = BadRows::kFail;  // kReport: its error goes to on_bad_row
  std::function<void(const Error& error)> on_bad_row = {};
  // For rows, or for bootstrap samples (without tokens): with zeros before the first. Not called for quick work.
  std::function<void(size_t done, size_t tokens, std::optional<double> fraction)> on_progress = {};
  // Called on several threads at once. If true, the evaluation ends with EvalStopped.
  std::function<bool()> is_stopped = [] { return false; };
};

struct EvalStopped {};

// ---- for the functions of this room

// Throws the error when bad rows fail, with a remedy added that names the alternative.
void stop_at_bad_row(const EvalHooks& hooks, const Error& error);
// The same; else calls on_bad_row where bad rows are reported.
void report_bad_row(const EvalHooks& hooks, const Error& error);

void tell_progress(const EvalHooks& hooks, size_t done, size_t tokens, std::optional<double> fraction);
// Throws EvalStopped.
void check_stopped(const EvalHooks& hooks);

}  // namespace deberta

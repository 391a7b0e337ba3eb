// What a run reports to people.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "options/choices.h"
#include "program/progress_printer.h"
#include "train/run/hooks.h"
#include "train/run/rate_search.h"
#include "train/run/run.h"

namespace deberta::train {

// Four significant digits.
std::string short_number(double value);

// What is counted while the data is read, and in which number of them.
struct ReadingUnit {
  std::string_view name;
  uint64_t size = 1;
};

// Shows where a run is, with a meter of its own for each phase that takes long.
class Reporter {
 public:
  Reporter(ShowProgress show, ReadingUnit reading) : show_(show), reading_(reading) {}

  void progress(const RunProgress& now);
  void say(const std::string& text);
  void end_phase();

 private:
  ShowProgress show_;
  ReadingUnit reading_;
  std::optional<program::ProgressPrinter> printer_;
  std::optional<Phase> phase_;
};

// `reporter` outlives them.
RunHooks hooks_of(Reporter& reporter);

// Ends the reports of a search and prints what it found. Returns the exit code.
int show_rates(const std::optional<RateSearch>& search, Reporter& reporter);

// The last lines. `what` the run's folder has in the end.
void report(const RunSettings& settings, const RunResult& result, const std::string& what = "the model is");

}  // namespace deberta::train

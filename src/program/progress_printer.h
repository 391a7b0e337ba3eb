// Progress on standard error: on a terminal a bar of its current width, at most 10 times a second; else a JSON line
// every 30 s. A run that has shown progress ends with a summary line.
#pragma once
#include <cstdint>
#include <optional>

#include "base/progress.h"
#include "deberta/config.h"
#include "options/choices.h"

namespace deberta::program {

class ProgressPrinter {
 public:
  // `is_long`: whether auto shows progress.
  ProgressPrinter(ShowProgress show, bool is_long, ProgressUnits units = {});

  ~ProgressPrinter();
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;

  // As ProgressMeter.
  void begin(uint64_t items, uint64_t tokens, std::optional<double> fraction) { meter_.begin(items, tokens, fraction); }
  void update(uint64_t items, uint64_t tokens, std::optional<double> fraction);
  void clear();  // before anything else is printed

 private:
  bool is_terminal_;
  bool is_on_;
  bool has_summary_;  // a bar or line was shown, or was asked for
  bool is_shown_ = false;
  ProgressMeter meter_;
  ProgressMeter::Clock::time_point last_ = ProgressMeter::Clock::now();
};

}  // namespace deberta::program

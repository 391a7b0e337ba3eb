// When to print; what to print is the meter's.
#include "cli/progress_printer.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

namespace deberta::cli {

ProgressPrinter::ProgressPrinter(const Options& options, bool is_long, ProgressUnits units)
    : is_terminal_(::isatty(STDERR_FILENO) != 0),
      is_on_(options.text("progress") == "on" ||
             (options.text("progress") == "auto" && is_long && !options.flag("quiet"))),
      meter_(units) {}

void ProgressPrinter::update(uint64_t items, uint64_t tokens, std::optional<double> fraction) {
  const auto now = ProgressMeter::Clock::now();
  if (!is_on_ || now - last_ < (is_terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(30000)))
    return;
  last_ = now;
  meter_.update(items, tokens, fraction);
  is_shown_ = is_terminal_;
  std::fputs(is_terminal_ ? ("\r\033[K" + meter_.bar(now)).c_str() : (meter_.json(now) + '\n').c_str(), stderr);
}

void ProgressPrinter::clear() {
  if (std::exchange(is_shown_, false)) std::fputs("\r\033[K", stderr);
}

}  // namespace deberta::cli

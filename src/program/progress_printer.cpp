// When to print; the meter decides what.
#include "program/progress_printer.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

#include "program/note.h"

namespace deberta::program {

namespace {

constexpr size_t kColumns = 80;  // for a terminal that does not report its width

// The last column stays free: a character there wraps the line on some terminals.
size_t terminal_columns() {
  struct winsize size {};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return (is_known ? size_t{size.ws_col} : kColumns) - 1;
}

}  // namespace

ProgressPrinter::ProgressPrinter(ShowProgress show, bool is_long, ProgressUnits units)
    : is_terminal_(::isatty(STDERR_FILENO) != 0),
      is_on_(show == ShowProgress::kOn || (show == ShowProgress::kAuto && is_long && !is_quiet())),
      has_summary_(show == ShowProgress::kOn),
      meter_(units) {}

ProgressPrinter::~ProgressPrinter() {
  clear();
  if (!is_on_ || !has_summary_) return;
  const auto now = ProgressMeter::Clock::now();
  std::fputs(((is_terminal_ ? meter_.summary(now, terminal_columns()) : meter_.json(now)) + '\n').c_str(), stderr);
}

void ProgressPrinter::update(uint64_t items, uint64_t tokens, std::optional<double> fraction) {
  meter_.update(items, tokens, fraction);
  const auto now = ProgressMeter::Clock::now();
  if (!is_on_ || now - last_ < (is_terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(30000)))
    return;
  last_ = now;
  has_summary_ = true;
  is_shown_ = is_terminal_;
  std::fputs(
      is_terminal_ ? ("\r\033[K" + meter_.bar(now, terminal_columns())).c_str() : (meter_.json(now) + '\n').c_str(),
      stderr);
}

void ProgressPrinter::clear() {
  if (std::exchange(is_shown_, false)) std::fputs("\r\033[K", stderr);
}

}  // namespace deberta::program

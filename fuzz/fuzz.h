// What every fuzz target shares. A target is one file with one function, fuzz::run; entry.cpp calls it for each input,
// lets the project's own errors pass as refusals, and stops at anything else: a crash, another exception, a broken
// invariant, more than a second of processor time.
#pragma once
#include <string>

#include "base/checked.h"

namespace deberta::fuzz {

// Throws deberta::Error when the input is refused.
void run(Bytes input);

// Reads values from the front of an input; past its end, zeros.
class Cutter {
 public:
  explicit Cutter(Bytes input) : reader_(input) {}
  uint8_t byte() { return static_cast<uint8_t>(reader_.take_little_endian(1).value_or(0)); }
  // From low to high, both included.
  size_t number(size_t low, size_t high) {
    const size_t two = byte() | static_cast<size_t>(byte()) << 8;
    return low + two % (high - low + 1);
  }
  std::string_view rest() { return to_text(*reader_.take(reader_.left())); }

 private:
  Reader reader_;
};

[[noreturn]] void fail(const char* invariant, const char* file, int line);

// A folder for the files of this process, in memory where the system has such a place.
const std::string& folder();

}  // namespace deberta::fuzz

#define FUZZ_REQUIRE(invariant) \
  ((invariant) ? static_cast<void>(0) : ::deberta::fuzz::fail(#invariant, __FILE__, __LINE__))

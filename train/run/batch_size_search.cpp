// Tries throw-away steps in fewer and fewer parts, predicting from the growth so far what the next will take.
#include "train/run/batch_size_search.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_limit.h"
#include "deberta/error.h"

namespace deberta::train {
namespace {

constexpr double kUsedShare = 0.9;  // share of the memory that may be used

// Descending: of the samples, those that are at least `fewest`.
std::vector<size_t> divisors_of(size_t samples, size_t fewest) {
  std::vector<size_t> divisors;
  for (size_t parts = samples; parts >= std::max<size_t>(fewest, 1); --parts) {
    if (samples % parts == 0) divisors.push_back(parts);
  }
  return divisors;
}

// Linux forgets the highest memory of this process.
void forget_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

uint64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  status.exceptions(std::ios::badbit);
  for (std::string line; std::getline(status, line);) {
    constexpr std::string_view kPeak = "VmHWM:";
    if (line.starts_with(kPeak)) return std::stoull(line.substr(kPeak.size())) * 1024;
  }
  return 0;
}

}  // namespace

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  if (const auto* own = dynamic_cast<const Error*>(&error)) return own->code() == ErrorCode::kOutOfMemory;
  const std::string_view text = error.what();
  return text.find("can't allocate memory") != text.npos || text.find("out of memory") != text.npos;
}

size_t find_accumulation(const BatchSizeSearch& search, const TryStep& try_step) {
  const std::vector<size_t> divisors = divisors_of(search.samples_per_step, search.accumulation);
  if (divisors.size() < 2) return search.accumulation;
  const auto size = [&](size_t at) { return static_cast<double>(search.samples_per_step / divisors[at]); };
  std::optional<uint64_t> before = try_step(divisors[0]);
  if (!before) {
    throw Error(ErrorCode::kOutOfMemory, "batch size",
                "expected enough memory for a step in " + std::to_string(divisors[0]) + " parts, got too little");
  }
  const double room = kUsedShare * static_cast<double>(search.memory_bytes);
  double per_sample = 0;
  size_t at = 0;
  while (at + 1 < divisors.size()) {
    const double more = per_sample * (size(at + 1) - size(at));
    if (static_cast<double>(*before) + more > room) break;
    const std::optional<uint64_t> taken = try_step(divisors[at + 1]);
    if (!taken && at > 0) --at;  // a limit that is not known: a run takes a little more than its first step
    if (!taken || static_cast<double>(*taken) > room) break;
    const double grown = static_cast<double>(*taken) - static_cast<double>(*before);
    per_sample = std::max(per_sample, grown / (size(at + 1) - size(at)));
    before = taken;
    ++at;
  }
  return divisors[at];
}

std::optional<size_t> find_accumulation(size_t samples_per_step, size_t accumulation, const MakeLearnerInParts& make) {
  bool is_stopped = false;
  const auto try_step = [&](size_t parts) -> std::optional<uint64_t> {
    forget_peak();
    try {
      const std::unique_ptr<Learner> learner = make(parts);
      is_stopped = is_stopped || learner == nullptr;
      if (is_stopped) return 0;
      learner->begin(0);
      Sums sums;
      learner->step({.factor = 0}, sums);
    } catch (const std::exception& error) {
      if (!is_out_of_memory(error)) throw;
      return std::nullopt;
    }
    return peak_bytes();
  };
  const size_t chosen = find_accumulation({samples_per_step, accumulation, memory_limit_bytes()}, try_step);
  return is_stopped ? std::nullopt : std::optional(chosen);
}

}  // namespace deberta::train

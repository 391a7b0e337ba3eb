// Clocks, random ids and packs.
#include "measure/runs.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/file.h"
#include "base/philox.h"
#include "deberta/error.h"
#include "pipeline/packer.h"
#include "program/interrupt.h"

namespace deberta::measure {
namespace {

constexpr int64_t kFirstId = 4;  // after the special tokens, as in the peers' script
constexpr int64_t kLastId = 1000;
constexpr int32_t kLongest = 1 << 20;

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Durations::Durations(std::vector<double> seconds) : seconds_(std::move(seconds)) {
  std::sort(seconds_.begin(), seconds_.end());
}

double Durations::percentile(double p) const {
  const double rank = std::ceil(p / 100 * static_cast<double>(seconds_.size()));
  return seconds_[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

std::vector<Durations> measure(double budget_s, size_t least_runs, std::span<const std::function<void()>> works,
                               const std::function<void(size_t, double)>& between,
                               const std::function<double()>& clock) {
  struct Turns {
    std::vector<double> seconds;
    double sum = 0;
  };
  for (const auto& work : works) {
    program::check_interrupted();
    const double start = clock();
    work();
    if (clock() - start < budget_s) work();
  }
  std::vector<Turns> all(works.size());
  const auto has_more_time = [](const Turns& a, const Turns& b) { return a.sum < b.sum; };
  const auto is_done = [&](const Turns& turns) { return turns.sum >= budget_s && turns.seconds.size() >= least_runs; };
  while (!std::all_of(all.begin(), all.end(), is_done)) {
    const auto next = std::min_element(all.begin(), all.end(), has_more_time);
    const auto i = static_cast<size_t>(next - all.begin());
    program::check_interrupted();
    const double begin = clock();
    works[i]();
    next->seconds.push_back(clock() - begin);
    next->sum += next->seconds.back();
    if (between) between(i, next->seconds.back());
  }
  std::vector<Durations> durations;
  durations.reserve(all.size());
  for (Turns& turns : all) durations.emplace_back(std::move(turns.seconds));
  return durations;
}

Batch random_batch(std::span<const int32_t> lengths, int64_t vocab_size) {
  const int64_t last = std::min(kLastId, vocab_size);
  const int64_t first = std::min(kFirstId, last - 1);
  Batch batch;
  for (size_t b = 0; b < lengths.size(); ++b) {
    std::vector<int32_t> ids;
    for (uint32_t t = 0; t < static_cast<uint32_t>(lengths[b]); ++t) {
      const uint32_t word = philox({t, static_cast<uint32_t>(b), 0, 0}, {1, 0})[0];
      ids.push_back(static_cast<int32_t>(first + int64_t{word} % (last - first)));
    }
    batch.add(ids);
  }
  return batch;
}

std::vector<Batch> packed_batches(const std::vector<int32_t>& lengths, size_t budget_tokens, int64_t vocab_size) {
  const std::vector<size_t> tokens(lengths.begin(), lengths.end());
  Packer packer(tokens, {.tokens = budget_tokens, .order = PackOrder::kByLength});
  std::vector<Batch> batches;
  for (std::span<const size_t> pack = packer.next(); !pack.empty(); pack = packer.next()) {
    std::vector<int32_t> own;
    for (const size_t sequence : pack) own.push_back(lengths[sequence]);
    batches.push_back(random_batch(own, vocab_size));
  }
  return batches;
}

std::vector<int32_t> load_lengths(const std::string& path) {
  const std::string text = read_file(path, uint64_t{1} << 26);
  std::vector<int32_t> lengths;
  size_t line = 1;
  for (size_t at = 0; at < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view word = std::string_view(text).substr(at, end - at);
    const auto length = parse_number<int32_t>(word);
    if (!length || *length < 1 || *length > kLongest) {
      throw Error(ErrorCode::kInput, fmt::format("{}:{}", path, line),
                  fmt::format("expected a length in 1..{}, got \"{}\"", kLongest, word));
    }
    lengths.push_back(*length);
    at = end + 1;
  }
  if (lengths.empty()) throw Error(ErrorCode::kInput, path, "expected one length per line, got an empty file");
  return lengths;
}

uint64_t peak_memory_mb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) / 1024;
}

}  // namespace deberta::measure

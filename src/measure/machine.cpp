// Peaks, work and names.
#include "measure/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "deberta/library.h"
#include "kernels/operand.h"
#include "kernels/rel_lut.h"
#include "measure/kernel_facts.h"

namespace deberta::cli {
namespace {

constexpr int kWindowsOfChosen = 12, kWindowsOfOthers = 3;  // of 5 ms
constexpr int64_t kBlock = 64;                              // queries whose relative rows count as one window

// For one sequence: rows of the relative table that the queries of each block reach, times those queries.
double window_rows(const RelLut& lut, int64_t length) {
  double rows = 0;
  for (int64_t first = 0; first < length; first += kBlock) {
    const int64_t last = std::min(length, first + kBlock) - 1;
    const int64_t window = lut.row(last) - lut.row(first - (length - 1)) + 1;
    rows += static_cast<double>((last - first + 1) * window);
  }
  return rows;
}

double count(int64_t value) {
  return static_cast<double>(value);
}

template <class AnyMachine>
auto& peak_in(AnyMachine& machine, Precision precision) {
  if (precision == Precision::kFp32) return machine.peak_fp32;
  return precision == Precision::kBf16 ? machine.peak_bf16 : machine.peak_int8;
}

// The levels that run: with int8, attention is bf16.
JsonObject chosen_levels(const KernelSet& kernels, Precision precision) {
  const Precision attention = attention_precision(precision);
  return {{"gemm", to_string(kernels.level_of(Operation::kGemm, precision))},
          {"attention", to_string(kernels.level_of(Operation::kAttention, attention))},
          {"layer_norm", to_string(kernels.level_of(Operation::kLayerNorm))}};
}

}  // namespace

double Machine::peak(Precision precision) const {
  return peak_in(*this, precision);
}

Machine measure_machine(const KernelSet& kernels, ThreadPool& pool) {
  Machine machine{.threads = pool.threads(), .read_bytes = measure_read_bandwidth(pool.parallel())};
  for (const Precision precision : kAllPrecisions) {
    const KernelLevel chosen = kernels.level_of(Operation::kGemm, precision);
    for (const KernelLevel level : available_levels()) {
      if (!exists(Operation::kGemm, precision, level)) continue;
      const int windows = level == chosen ? kWindowsOfChosen : kWindowsOfOthers;
      machine.peaks.of(precision, level) = measure_peak(precision, level, pool.parallel(), windows);
    }
    peak_in(machine, precision) = machine.peaks.of(precision, chosen);
  }
  return machine;
}

Machine at_this_moment(Machine machine, const KernelSet& kernels, ThreadPool& pool, Precision precision) {
  const auto measure = [&](Precision one) {
    const KernelLevel level = kernels.level_of(Operation::kGemm, one);
    peak_in(machine, one) = sustained_peak(one, level, pool.parallel(), kPeakWindowSeconds);
  };
  measure(precision);
  if (attention_precision(precision) != precision) measure(attention_precision(precision));
  return machine;
}

Work work_of(const ModelConfig& config, std::span<const int32_t> lengths) {
  const double hidden = count(config.hidden_size);
  const double layers = count(config.num_hidden_layers);
  const double weights = 4 * hidden * hidden + 2 * hidden * count(config.intermediate_size);
  const int64_t terms = (config.has_c2p ? 1 : 0) + (config.has_p2c ? 1 : 0);
  const int32_t longest = lengths.empty() ? 1 : *std::max_element(lengths.begin(), lengths.end());
  std::optional<RelLut> lut;
  if (config.relative_attention && terms > 0) {
    RelLutParams params;
    params.position_buckets = config.position_buckets;
    params.max_relative_positions = config.max_relative_positions;
    params.max_length = longest;
    lut.emplace(params);
  }
  Work work{.linear = 0, .attention = 0, .weights = layers * weights};
  for (const int32_t length : lengths) {
    const double square = count(length) * count(length);
    work.linear += layers * 2 * weights * count(length);
    work.attention += layers * (4 * square * hidden);
    if (lut) work.attention += layers * count(terms) * 2 * window_rows(*lut, length) * hidden;
  }
  return work;
}

double limit_seconds(const Machine& machine, Precision precision, const Work& work) {
  const double attention = machine.peak(attention_precision(precision));
  if (machine.peak(precision) == 0 || attention == 0) return 0;
  const double arithmetic = work.linear / machine.peak(precision) + work.attention / attention;
  return std::max(arithmetic, work.weights * static_cast<double>(element_bytes(precision)) / machine.read_bytes);
}

std::string operation_name(const ProfileKey& key, const ModelConfig& config, Precision precision) {
  std::string name(to_string(key.operation));
  if (key.operation != Operation::kGemm) return name;
  if (key.precision != precision) return name + " head";
  const auto hidden = static_cast<size_t>(config.hidden_size), inner = static_cast<size_t>(config.intermediate_size);
  const bool is_of_hidden = key.depth == hidden;
  if (is_of_hidden && key.outputs == 3 * hidden) return name + " qkv";
  if (is_of_hidden && key.outputs == 2 * hidden) return name + " key, value";
  if (is_of_hidden && key.outputs == inner) return name + " up";
  if (key.depth == inner && key.outputs == hidden) return name + " down";
  if (is_of_hidden && key.outputs == hidden) return name + " query, out";
  return name + " head";
}

JsonObject machine_figure(const Machine& machine, const KernelSet& set, const std::string& kernels,
                          Precision precision) {
  const auto billions = [](double value) { return std::round(value / 1e8) / 10; };
  JsonArray all = multipliers(machine.peaks);
  add_reasons(kernels, all);
  return {{"what", "machine"},
          {"cpu", describe_processor()},
          {"version", version()},
          {"threads", static_cast<uint64_t>(machine.threads)},
          {"dtype", to_string(precision)},
          {"isa", chosen_levels(set, precision)},
          {"peak_gflops_fp32", billions(machine.peak_fp32)},
          {"peak_gflops_bf16", billions(machine.peak_bf16)},
          {"peak_gops_int8", billions(machine.peak_int8)},
          {"read_gb_per_s", billions(machine.read_bytes)},
          {"multipliers", std::move(all)}};
}

std::vector<JsonObject> kernel_calls() {
  std::vector<JsonObject> rows;
  for (const KernelCount& count : kernel_counts()) {
    if (count.calls == 0) continue;
    rows.push_back({{"what", "kernel"},
                    {"operation", to_string(count.operation)},
                    {"precision", to_string(count.precision)},
                    {"level", to_string(count.level)},
                    {"calls", count.calls}});
  }
  return rows;
}

std::string other_choice(const Choice& choice, LevelSet usable, const Peaks& measured) {
  const KernelSet here{choice.levels, nullptr}, other{fastest_levels(usable, measured), nullptr};
  for (const Precision precision : kAllPrecisions) {
    const KernelLevel level = here.level_of(Operation::kGemm, precision);
    const KernelLevel better = other.level_of(Operation::kGemm, precision);
    if (level == better) continue;
    return fmt::format("note: by the peaks measured now {} would multiply {} faster than {}, which is chosen",
                       to_string(better), to_string(precision), to_string(level));
  }
  return "";
}

}  // namespace deberta::cli

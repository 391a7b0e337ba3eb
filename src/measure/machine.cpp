// Peaks, work and names.
#include "measure/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "deberta/library.h"
#include "kernels/operand.h"
#include "measure/kernel_facts.h"

namespace deberta::measure {
namespace {

constexpr int kWindowsOfChosen = 12, kWindowsOfOthers = 3;  // 5 ms each

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
  const auto measure = [&](Precision operand) {
    const KernelLevel level = kernels.level_of(Operation::kGemm, operand);
    peak_in(machine, operand) = sustained_peak(operand, level, pool.parallel(), kPeakWindowSeconds);
  };
  measure(precision);
  if (attention_precision(precision) != precision) measure(attention_precision(precision));
  return machine;
}

Work work_of(const ModelConfig& config, const PassShape& shape) {
  const Operations pass = forward_operations(config, shape);
  return {.linear = pass.embedding + pass.layers() + pass.convolution,
          .attention = pass.attention,
          .weights = layer_weights(config)};
}

double limit_seconds(const Machine& machine, Precision precision, const Work& work) {
  const double attention = machine.peak(attention_precision(precision));
  if (machine.peak(precision) == 0 || attention == 0) return 0;
  const double arithmetic = work.linear / machine.peak(precision) + work.attention / attention;
  return std::max(arithmetic, work.weights * static_cast<double>(element_bytes(precision)) / machine.read_bytes);
}

std::string operation_name(const ProfileKey& key) {
  std::string name(to_string(key.operation));
  const std::string_view role = to_string(key.role);
  return role.empty() ? name : fmt::format("{} {}", name, role);
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
    return fmt::format(
        "note: by the peaks just measured, {} would multiply {} faster than {}, the implementation chosen",
        to_string(better), to_string(precision), to_string(level));
  }
  return "";
}

}  // namespace deberta::measure

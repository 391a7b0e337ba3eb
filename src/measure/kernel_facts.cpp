// Names of processors, reasons and notes.
#include "measure/kernel_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/file.h"
#include "deberta/error.h"
#include "program/model_options.h"
#include "program/note.h"

namespace deberta::measure {
namespace {

// What the operating system calls the processor, where cpuid does not exist.
std::string name_in_system() {
  try {
    const std::string text = read_file("/proc/cpuinfo", uint64_t{1} << 24);
    constexpr std::string_view kKey = "model name";
    const size_t at = text.find(kKey);
    const size_t colon = text.find(": ", at);
    if (at == std::string::npos || colon == std::string::npos) return "unknown";
    return text.substr(colon + 2, text.find('\n', colon) - colon - 2);
  } catch (const Error&) {
    return "unknown";
  }
}

// The levels of the operation that have a multiplier on this processor, fastest first.
std::vector<KernelLevel> by_speed(const Choice& choice, LevelSet usable, Operation operation, Precision precision) {
  std::vector<KernelLevel> levels;
  for (const KernelLevel level : kLevels) {
    if ((usable & level_bit(level)) != 0 && exists(operation, precision, level) &&
        choice.peaks.of(precision, level) > 0)
      levels.push_back(level);
  }
  std::stable_sort(levels.begin(), levels.end(), [&](KernelLevel a, KernelLevel b) {
    return choice.peaks.of(precision, a) > choice.peaks.of(precision, b);
  });
  return levels;
}

std::string unit_of(const Choice& choice) {
  if (choice.kind == nullptr) return "billion operations per second and core (measured)";
  return fmt::format("operations per cycle and core ({})", choice.kind->name);
}

double figure_of(const Choice& choice, Precision precision, KernelLevel level) {
  const double peak = choice.peaks.of(precision, level);
  return choice.kind == nullptr ? std::round(peak / 1e9) : peak;
}

// Row operations accumulate in fp32 in every precision.
bool multiplies(Operation operation) {
  return operation == Operation::kGemm || operation == Operation::kAttention;
}

std::string reason(const std::string& kernels, Operation operation, Precision precision) {
  if (!is_automatic(kernels)) return fmt::format("--kernels {}", kernels);
  if (!multiplies(operation)) return "as wide as fp32 products";
  return figures_of(automatic_choice(), usable_levels(), operation, precision);
}

}  // namespace

std::string describe_processor() {
  const Processor& processor = this_processor();
  std::string name = processor.name.empty() ? name_in_system() : processor.name;
  if (processor.vendor.empty()) return name;
  const ProcessorKind* kind = find_kind(processor);
  return fmt::format("{} ({} family {} model {}, {})", name, processor.vendor, processor.family, processor.model,
                     kind != nullptr ? kind->name : "of an unknown kind");
}

bool is_automatic(const std::string& kernels) {
  return kernels == "auto" || kernels == "check";
}

std::string figures_of(const Choice& choice, LevelSet usable, Operation operation, Precision precision) {
  std::vector<KernelLevel> levels = by_speed(choice, usable, operation, precision);
  const KernelLevel chosen = KernelSet{choice.levels, nullptr}.level_of(operation, precision);
  std::stable_partition(levels.begin(), levels.end(), [&](KernelLevel level) { return level == chosen; });
  if (levels.empty()) return "nothing else can run here";
  std::string text;
  for (const KernelLevel level : levels) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(level), figure_of(choice, precision, level));
  }
  return fmt::format("{} {}", text, unit_of(choice));
}

JsonArray chosen_kernels(const std::string& kernels) {
  const KernelSet set = select_kernels(kernels);
  JsonArray rows;
  for (size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    for (const Precision precision : kAllPrecisions) {
      if (precision != Precision::kFp32 && !multiplies(operation)) continue;
      if (precision == Precision::kInt8 && operation == Operation::kAttention) continue;  // bf16
      rows.push_back(JsonObject{{"operation", to_string(operation)},
                                {"precision", to_string(precision)},
                                {"level", to_string(set.level_of(operation, precision))},
                                {"why", reason(kernels, operation, precision)}});
    }
  }
  return rows;
}

JsonArray multipliers(const Peaks& peaks) {
  JsonArray rows;
  for (const Precision precision : kAllPrecisions) {
    for (const KernelLevel level : available_levels()) {
      if (!exists(Operation::kGemm, precision, level) || level == KernelLevel::kReference) continue;
      rows.push_back(JsonObject{{"precision", to_string(precision)},
                                {"level", to_string(level)},
                                {"instruction", implementation(level).multipliers.of(precision)},
                                {"gops", std::round(peaks.of(precision, level) / 1e8) / 10}});
    }
  }
  return rows;
}

void add_reasons(const std::string& kernels, JsonArray& rows) {
  const auto is_same = [](const Json& a, const Json& b, const char* key) {
    return a.find(key)->as_string() == b.find(key)->as_string();
  };
  for (const Json& chosen : chosen_kernels(kernels)) {
    if (chosen.find("operation")->as_string() != to_string(Operation::kGemm)) continue;
    for (Json& row : rows) {
      if (!is_same(row, chosen, "precision") || !is_same(row, chosen, "level")) continue;
      row.as_object().emplace_back("why", "runs: " + chosen.find("why")->as_string());
    }
  }
}

std::string precision_note(const ChosenLevels& levels, const Choice& choice, Precision precision) {
  if (precision == Precision::kFp32 || gains_speed(levels, choice.peaks, precision)) return "";
  const std::string begin = fmt::format("note: --dtype {} saves memory, not time: ", to_string(precision));
  const KernelSet set{levels, nullptr};
  if (set.level_of(Operation::kGemm) == KernelLevel::kReference)
    return begin + "the reference computes every precision in the same way";
  const auto figure = [&](Precision operand) {
    const KernelLevel level = set.level_of(Operation::kGemm, operand);
    return fmt::format("{} by {} {}", to_string(operand), to_string(level), figure_of(choice, operand, level));
  };
  return begin + fmt::format("{}, {} {}", figure(precision), figure(Precision::kFp32), unit_of(choice));
}

void note_of_precision(const std::string& kernels, DtypeChoice dtype) {
  const Precision precision = program::precision_of(dtype);
  if (precision == Precision::kFp32) return;
  const std::string text = precision_note(select_kernels(kernels).levels, automatic_choice(), precision);
  if (!text.empty()) program::note(text);
}

}  // namespace deberta::measure

// Which implementation of each operation and precision runs unless one is forced: a pure function of what the processor
// can run and of the relative speed of its multiply instructions. Levels round differently, so the choice must not
// differ between two runs on one machine: the figures of known processors are in a table; only those of others are
// measured, once per process.
#pragma once
#include <span>
#include <string_view>

#include "kernels/implementations.h"
#include "kernels/peak.h"

namespace deberta {

// What a forced level means: for each operation the last row of the table up to `cap` that is among `usable` and has an
// implementation of it.
ChosenLevels capped_levels(LevelSet usable, KernelLevel cap);

// Attention at `level` for heads of this size: at the last level up to it that takes them. Every level takes whole
// vectors of 16, those that multiply pairs of bf16 whole 32; the reference takes the others.
KernelLevel level_for_heads(LevelSet usable, Operation operation, Precision precision, KernelLevel level,
                            size_t head_size);

// Figures this close may be in the wrong order: the multipliers of one processor differ by factors of two, and sqrt 2
// lies in the middle, so neither measurement noise nor a clock that drops under load changes a choice.
inline constexpr double kCloseRatio = 1.4;

// For each, the last level of the table within kCloseRatio of the fastest. Later levels need fewer other instructions
// for the same products (wider registers, no widening), so they win close calls.
ChosenLevels fastest_levels(LevelSet usable, const Peaks& peaks);

// Whether `precision` multiplies faster than fp32 does, by more than kCloseRatio. False where either has only the
// reference.
bool gains_speed(const ChosenLevels& levels, const Peaks& peaks, Precision precision);

// Processors whose multipliers have the same speed. Peaks are in operations per cycle of one core.
struct ProcessorKind {
  std::string_view name;
  std::string_view vendor;
  unsigned family = 0;
  struct {
    unsigned first = 0;
    unsigned last = 0;
  } models;
  Peaks peaks;
};
std::span<const ProcessorKind> processor_kinds();
const ProcessorKind* find_kind(const Processor& processor);  // null: not in the table

// What `auto` takes here, and why.
struct Choice {
  ChosenLevels levels{};
  Peaks peaks;
  const ProcessorKind* kind = nullptr;  // null: the peaks were measured
};
// `measure` is called for a processor of unknown kind.
Choice choose(const Processor& processor, LevelSet usable, Peaks (*measure)(LevelSet usable));
// For this processor; the same object in every call.
const Choice& automatic_choice();

}  // namespace deberta

// Which implementation of each operation and precision runs unforced: a pure function of what the processor can run and
// of how fast its multipliers are beside each other. Kernels of different levels round differently, so the choice may
// never differ between two runs on one machine: the figures of the kinds of processors that were met stand in a table,
// and only of others they are measured, once in a process.
#pragma once
#include <span>
#include <string_view>

#include "kernels/dispatch.h"
#include "kernels/peak.h"
#include "kernels/processor.h"

namespace deberta {

// Whether the operation has an implementation of its own at this level.
bool exists(Operation operation, Precision precision, KernelLevel level);

// The highest implementation at or below `cap` among `usable`, and that of every operation: what a forced level means.
KernelLevel capped_level(LevelSet usable, Operation operation, Precision precision, KernelLevel cap);
ChosenLevels capped_levels(LevelSet usable, KernelLevel cap);

// What is close to another may be slower in truth: multipliers of one processor differ by factors of two, and sqrt 2
// lies in the middle, so neither noise in a measurement nor a clock that falls under load moves a choice.
inline constexpr double kCloseRatio = 1.4;

// Of each the highest level among those that are within kCloseRatio of the fastest. Higher levels need fewer other
// instructions beside the same products (wider registers, no widening), so they win what is close.
ChosenLevels fastest_levels(LevelSet usable, const Peaks& peaks);

// Whether `precision` multiplies faster than fp32 does, by more than kCloseRatio. False where either has only the
// reference.
bool gains_speed(const ChosenLevels& levels, const Peaks& peaks, Precision precision);

// Processors whose multipliers run alike. Peaks are operations a cycle of one core.
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
const ProcessorKind* find_kind(const Processor& processor);  // null: not met yet

// What `auto` takes here, and why.
struct Choice {
  ChosenLevels levels{};
  Peaks peaks;
  const ProcessorKind* kind = nullptr;  // null: the peaks were measured
};
// `measure` is called for a processor of no kind.
Choice choose(const Processor& processor, LevelSet usable, Peaks (*measure)(LevelSet usable));
// For this processor; the same object in every call.
const Choice& automatic_choice();

}  // namespace deberta

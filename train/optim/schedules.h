// Learning-rate schedules: the factor of the learning rate at each step. Pure functions, so that a run that goes on
// needs nothing but its step: those of the original DeBERTa code and those of transformers, each under its own name.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace deberta::train {

enum class DecayShape { kLinear, kCosine, kOneMinusSqrt };

struct ScheduleSettings {
  int64_t total = 1;  // steps of the run
  double warmup = 0;  // from 1 on: steps; below 1: a part of the run
  double ends = 0;    // the factor at the end of the decay
  double power = 1;
  double cycles = 0;                       // 0: what is usual for the schedule
  double timescale = 0;                    // steps; 0: those of the warm-up, or 10000 without one
  double decay = 0.1;                      // from 1 on: steps; below 1: a part of the run
  DecayShape shape = DecayShape::kCosine;  // shape of that decay
};

// A row of the table of schedules. `uses` names the settings that count besides `total` and `warmup`.
struct Schedule {
  std::string_view name;
  double (*factor)(int64_t step,
                   const ScheduleSettings& settings);  // step from 0; settings as check_schedule wants them
  std::string_view meaning;
  std::string_view uses;
};

std::span<const Schedule> schedules();

// Throws kUsage, with the names there are.
const Schedule& find_schedule(std::string_view name);

// Throws kUsage: settings out of their range, a run too short for the schedule.
void check_schedule(const Schedule& schedule, const ScheduleSettings& settings);

}  // namespace deberta::train

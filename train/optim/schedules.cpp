// The original's count the run as x in [0, 1) and warm up while x < w; those of transformers count steps.
#include "train/optim/schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "deberta/error.h"

namespace deberta::train {
namespace {

using Settings = ScheduleSettings;
constexpr double kPi = std::numbers::pi;
constexpr double kUsualTimescale = 10000;
constexpr int64_t kCycles = 4;  // cycles of warmup_cyclic_linear_cosine

// The original's: x is the part of the run that is over, w the part that is warm-up.

double warm_part(const Settings& s) {
  return s.warmup >= 1 ? s.warmup / static_cast<double>(s.total) : s.warmup;
}

// A run that goes on beyond its end begins anew.
double wrapped_part(int64_t step, const Settings& s) {
  const double x = static_cast<double>(step) / static_cast<double>(s.total);
  return x - std::floor(x);
}

double between(double ends, double value) {
  return (1 - ends) * value + ends;
}

// From x, not from the end of the warm-up: the factor jumps from 1 to 1 - w there.
double warmup_linear(int64_t step, const Settings& s) {
  const double x = wrapped_part(step, s), w = warm_part(s);
  return x < w ? x / w : between(s.ends, 1 - x);
}

double warmup_linear_shift(int64_t step, const Settings& s) {
  const double x = wrapped_part(step, s), w = warm_part(s);
  return x < w ? x / w : between(s.ends, 1 - (x - w) / (1 - w));
}

double warmup_constant(int64_t step, const Settings& s) {
  const double x = wrapped_part(step, s), w = warm_part(s);
  return x < w ? x / w : 1;
}

double warmup_cosine(int64_t step, const Settings& s) {
  const double x = wrapped_part(step, s), w = warm_part(s);
  return x < w ? x / w : 0.5 * (1 + std::cos(kPi * x));
}

double warmup_linear_cosine(int64_t step, const Settings& s) {
  const double x = wrapped_part(step, s), w = warm_part(s);
  return x < w ? x / w : between(s.ends, std::max(0.5 * (1 + std::cos(kPi * (x - w) / (1 - w))), 0.0));
}

// The steps after the warm-up.
int64_t cyclic_total(const Settings& s) {
  return s.total - static_cast<int64_t>(static_cast<double>(s.total) * warm_part(s));
}

// Half-cosines on a linear descent. Its steps are counted from a warm-up that is cut by the warm-up once more.
double warmup_cyclic_linear_cosine(int64_t step, const Settings& s) {
  const double x = static_cast<double>(step) / static_cast<double>(s.total), w = warm_part(s);
  if (x < w) return x / w;
  const int64_t total = cyclic_total(s);
  const int64_t rest = step - static_cast<int64_t>(static_cast<double>(total) * w);
  const int64_t period = total / kCycles, k = rest / period;
  const double sign = k % 2 == 0 ? 1 : -1;
  const double wave = sign * std::cos(kPi * static_cast<double>(rest) / static_cast<double>(period)) - 1;
  const double height = 1 - static_cast<double>(k) / kCycles + wave / (2 * kCycles);
  return between(s.ends, std::max(height, 0.0));
}

// Those of transformers.

// A count as it is; a part of the run rounded up.
double to_steps(double count_or_part, const Settings& s) {
  return count_or_part >= 1 ? count_or_part : std::ceil(static_cast<double>(s.total) * count_or_part);
}

bool is_warming(int64_t step, const Settings& s) {
  return static_cast<double>(step) < to_steps(s.warmup, s);
}
double warm(int64_t step, const Settings& s) {
  return static_cast<double>(step) / std::max(1.0, to_steps(s.warmup, s));
}
// The part of what comes after the warm-up that is over.
double progress(int64_t step, const Settings& s) {
  const double warmup = to_steps(s.warmup, s);
  return (static_cast<double>(step) - warmup) / std::max(1.0, static_cast<double>(s.total) - warmup);
}

double constant(int64_t, const Settings&) {
  return 1;
}

double constant_with_warmup(int64_t step, const Settings& s) {
  return is_warming(step, s) ? warm(step, s) : 1;
}

double linear(int64_t step, const Settings& s) {
  if (is_warming(step, s)) return warm(step, s);
  const auto total = static_cast<double>(s.total);
  return std::max(0.0, (total - static_cast<double>(step)) / std::max(1.0, total - to_steps(s.warmup, s)));
}

double cosine(int64_t step, const Settings& s) {
  if (is_warming(step, s)) return warm(step, s);
  const double waves = s.cycles > 0 ? s.cycles : 0.5;
  return std::max(0.0, 0.5 * (1 + std::cos(kPi * waves * 2 * progress(step, s))));
}

double cosine_with_restarts(int64_t step, const Settings& s) {
  if (is_warming(step, s)) return warm(step, s);
  if (progress(step, s) >= 1) return 0;
  const double cycles = s.cycles > 0 ? s.cycles : 1;
  return std::max(0.0, 0.5 * (1 + std::cos(kPi * std::fmod(cycles * progress(step, s), 1.0))));
}

double polynomial(int64_t step, const Settings& s) {
  if (is_warming(step, s)) return warm(step, s);
  if (step >= s.total) return s.ends;
  return between(s.ends, std::pow(1 - progress(step, s), s.power));
}

double inverse_sqrt(int64_t step, const Settings& s) {
  if (is_warming(step, s)) return warm(step, s);
  const double warmup = to_steps(s.warmup, s);
  const double timescale = s.timescale > 0 ? s.timescale : warmup > 0 ? warmup : kUsualTimescale;
  return 1 / std::sqrt((static_cast<double>(step) + timescale - warmup) / timescale);
}

double decayed(double x, const Settings& s) {
  if (s.shape == DecayShape::kLinear) return 1 - x;
  if (s.shape == DecayShape::kOneMinusSqrt) return 1 - std::sqrt(x);
  return 0.5 * (1 + std::cos(kPi * (s.cycles > 0 ? s.cycles : 0.5) * 2 * x));
}

double warmup_stable_decay(int64_t step, const Settings& s) {
  if (is_warming(step, s)) return std::max(0.0, between(s.ends, warm(step, s)));
  if (step >= s.total) return s.ends;
  const double decay = to_steps(s.decay, s);
  const double left = static_cast<double>(s.total - step);
  return left > decay ? 1 : std::max(0.0, between(s.ends, decayed((decay - left) / decay, s)));
}

constexpr std::array kSchedules = {
    Schedule{"warmup_linear", warmup_linear,
             "falls on the line from 1 at the first step, so that it jumps after the warm-up", "ends"},
    Schedule{"warmup_linear_shift", warmup_linear_shift, "falls on a line that begins after the warm-up", "ends"},
    Schedule{"warmup_constant", warmup_constant, "stays", ""},
    Schedule{"warmup_cosine", warmup_cosine,
             "falls on the half cosine from the first step, so that it jumps after the warm-up", ""},
    Schedule{"warmup_linear_cosine", warmup_linear_cosine, "falls on a half cosine that begins after the warm-up",
             "ends"},
    Schedule{"warmup_cyclic_linear_cosine", warmup_cyclic_linear_cosine, "falls in four half cosines", "ends"},
    Schedule{"linear", linear, "falls on a line to 0", ""},
    Schedule{"cosine", cosine, "falls on a half cosine to 0", "cycles"},
    Schedule{"cosine_with_restarts", cosine_with_restarts, "falls on half cosines, each from 1", "cycles"},
    Schedule{"polynomial", polynomial, "falls as a power of what is left", "ends, power"},
    Schedule{"constant", constant, "is 1 from the first step", ""},
    Schedule{"constant_with_warmup", constant_with_warmup, "stays", ""},
    Schedule{"inverse_sqrt", inverse_sqrt, "falls as 1 over the root of the step", "timescale"},
    Schedule{"warmup_stable_decay", warmup_stable_decay, "stays, then falls in the last steps", "decay, shape, ends"},
};

[[noreturn]] void refuse(const char* argument, const std::string& message) {
  throw Error(ErrorCode::kUsage, {{.message = message, .argument = argument}});
}

}  // namespace

std::span<const Schedule> schedules() {
  return kSchedules;
}

const Schedule& find_schedule(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Schedule& schedule : kSchedules) {
    if (schedule.name == name) return schedule;
    names.push_back(schedule.name);
  }
  const std::string_view meant = nearest_match(name, names);
  refuse("lr_scheduler_type", fmt::format("expected one of {}, got {}{}", fmt::join(names, ", "), name,
                                          meant.empty() ? "" : fmt::format("; did you mean {}?", meant)));
}

void check_schedule(const Schedule& schedule, const ScheduleSettings& s) {
  const auto total = static_cast<double>(s.total);
  if (s.total < 1) refuse("max_steps", fmt::format("expected at least 1, got {}", s.total));
  if (!(s.warmup >= 0 && s.warmup < std::max(1.0, total)))
    refuse("warmup_steps",
           fmt::format("expected steps below the run's {}, or a part of it from 0 to 1, got {}", s.total, s.warmup));
  if (!(s.ends >= 0 && s.ends <= 1)) refuse("lr_schedule_ends", fmt::format("expected 0 to 1, got {}", s.ends));
  if (schedule.factor == warmup_cyclic_linear_cosine && cyclic_total(s) < kCycles)
    refuse("lr_scheduler_type", fmt::format("{}: expected at least {} steps after the warm-up, got {}", schedule.name,
                                            kCycles, cyclic_total(s)));
  if (schedule.factor == warmup_stable_decay &&
      !(s.decay >= 0 && to_steps(s.warmup, s) + to_steps(s.decay, s) <= total))
    refuse("lr_decay_steps", fmt::format("expected at most the {} steps after the warm-up, got {}",
                                         total - to_steps(s.warmup, s), s.decay));
}

}  // namespace deberta::train

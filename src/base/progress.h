// How far a long job is: counts, rates, time left. Makes the texts; a program prints them.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deberta {

// What is counted. Without a second unit only the first is shown.
struct ProgressUnits {
  std::string_view items = "rows";
  std::string_view tokens = "tokens";
};

class ProgressMeter {
 public:
  using Clock = std::chrono::steady_clock;
  explicit ProgressMeter(ProgressUnits units = {}, Clock::time_point start = Clock::now())
      : units_(units), start_(start) {}

  // `fraction`: part of the work that is done, when it is known.
  void update(uint64_t items, uint64_t tokens, std::optional<double> fraction);

  // "[####......] 40 %  349 rows  120.5 rows/s  3012 tokens/s  00:12 left"
  std::string bar(Clock::time_point now) const;
  // {"progress": {"items": 349, "tokens": 8724, "fraction": 0.4, "items_per_s": 120.5, ..., "eta_s": 12.1}}
  std::string json(Clock::time_point now) const;

 private:
  double seconds(Clock::time_point now) const;
  std::optional<double> seconds_left(Clock::time_point now) const;

  ProgressUnits units_;
  Clock::time_point start_;
  uint64_t items_ = 0;
  uint64_t tokens_ = 0;
  std::optional<double> fraction_;
};

}  // namespace deberta

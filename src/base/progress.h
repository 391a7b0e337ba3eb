// How far a long job has got: counts, rates, time left. Formats the texts; a program prints them.
#pragma once
#include <chrono>
#include <cstddef>
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

  // For a job that goes on: what was done before the clock started. Rates and the time left do not count it.
  void begin(uint64_t items, uint64_t tokens, std::optional<double> fraction);
  // `fraction`: part of the work that is done, when it is known.
  void update(uint64_t items, uint64_t tokens, std::optional<double> fraction);

  // "[####......] 40 %  349 rows  120.5 rows/s  3012 tokens/s  00:12 left", or as much of that as `columns` hold.
  std::string bar(Clock::time_point now, size_t columns) const;
  // What was done: "349 rows in 00:03, 120.5 rows/s, 3012 tokens/s", or as much of that as `columns` hold.
  std::string summary(Clock::time_point now, size_t columns) const;
  // {"progress": {"items": 349, "tokens": 8724, "fraction": 0.4, "items_per_s": 120.5, ..., "eta_s": 12.1}}
  std::string json(Clock::time_point now) const;

 private:
  // What a bar shows beside the part that is done.
  struct Shape {
    size_t cells;
    bool has_items, has_rate, has_tokens, has_time;
  };
  std::string bar(Clock::time_point now, const Shape& shape) const;
  std::string rate(Clock::time_point now) const;
  std::string token_rate(Clock::time_point now) const;  // empty without tokens
  double seconds(Clock::time_point now) const;
  double items_per_second(Clock::time_point now) const;
  double tokens_per_second(Clock::time_point now) const;
  std::optional<double> seconds_left(Clock::time_point now) const;

  struct Done {
    uint64_t items = 0;
    uint64_t tokens = 0;
    std::optional<double> fraction;
  };

  ProgressUnits units_;
  Clock::time_point start_;
  Done before_, done_;
};

}  // namespace deberta

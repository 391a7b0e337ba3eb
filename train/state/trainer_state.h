// What a run of training that goes on needs to know besides its tensors: trainer/state.json of a checkpoint.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace deberta::train {

struct BestMetric {
  std::string name;
  double value = 0;
  int64_t step = 0;  // after which it was measured
  // Further metrics of the same evaluation, which decide where another has the same value.
  std::map<std::string, double> other_values = {};

  std::optional<double> value_of(const std::string& metric) const;
  bool operator==(const BestMetric&) const = default;
};

// All random numbers follow from the seed and these counts (train/ops/random_domains.h): no generator has a state.
struct TrainerState {
  int64_t step = 0;  // done
  int64_t total_steps = 0;
  int64_t samples = 0;  // seen
  int64_t tokens = 0;
  int64_t seed = 0;                                 // at least 0
  std::map<std::string, std::string> options = {};  // options in effect, by name
  std::map<std::string, std::string> hashes = {};   // SHA-256 of data, tokenizer and the model it began from
  std::map<std::string, int64_t> counters = {};     // skipped steps, evaluations without a better one, ...
  std::map<std::string, double> sums = {};          // sums for metrics since their last line in the log; any value
  std::optional<BestMetric> best = {};

  bool operator==(const TrainerState&) const = default;
};

// A number as it is; NaN and infinity, which JSON has not, as "NaN", "Infinity", "-Infinity". And back; nothing for
// anything else.
Json to_json_number(double value);
std::optional<double> parse_json_number(const Json& value);

Json to_json(const TrainerState& state);

// Exactly what to_json() makes. `where` opens the messages. Throws kJson (all problems), kTooLarge.
TrainerState parse_trainer_state(std::string_view text, const std::string& where);
TrainerState load_trainer_state(const std::string& path);  // throws what reading throws, too

}  // namespace deberta::train

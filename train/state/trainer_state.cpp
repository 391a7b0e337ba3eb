// The members are listed once, in visit_members(); a writer and a reader visit them.
#include "train/state/trainer_state.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/format_version.h"
#include "deberta/error.h"

namespace deberta::train {
namespace {

constexpr int64_t kFormat = 1;
constexpr JsonLimits kLimits{.max_bytes = size_t{1} << 24, .max_depth = 4, .max_nodes = 100000};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class State, class Visit>
void visit_members(State& s, Visit&& member) {
  member("step", s.step);
  member("total_steps", s.total_steps);
  member("samples", s.samples);
  member("tokens", s.tokens);
  member("seed", s.seed);
  member("options", s.options);
  member("hashes", s.hashes);
  member("counters", s.counters);
  member("sums", s.sums);
  member("best", s.best);
}

Json value_of(const std::string& text) {
  return text;
}
Json value_of(int64_t number) {
  return number;
}
Json value_of(double number) {
  return to_json_number(number);
}
template <class Value>
Json value_of(const std::map<std::string, Value>& values) {
  JsonObject members;
  for (const auto& [name, value] : values) members.emplace_back(name, value_of(value));
  return members;
}
Json value_of(const std::optional<BestMetric>& best) {
  if (!best) return nullptr;
  JsonObject members{{"name", best->name}, {"value", to_json_number(best->value)}, {"step", best->step}};
  if (!best->other_values.empty()) members.emplace_back("others", value_of(best->other_values));
  return members;
}

class StateReader {
 public:
  StateReader(const Json& document, const std::string& where) : document_(document), where_(where) {}

  template <class Value>
  void operator()(const char* name, Value& value) {
    ++known_;
    const Json* member = document_.find(name);
    if (member == nullptr) {
      problems_.push_back({where_, fmt::format("{}: missing", name)});
    } else {
      read(name, *member, value);
    }
  }
  void finish() {
    if (problems_.empty() && document_.as_object().size() != known_ + 1)
      problems_.push_back({where_, fmt::format("expected {} keys, got {}", known_ + 1, document_.as_object().size())});
    if (!problems_.empty()) throw Error(ErrorCode::kJson, std::move(problems_));
  }

 private:
  void read(const std::string& name, const Json& json, std::string& value) {
    if (!json.is_string()) return refuse(name, json, "a string");
    value = json.as_string();
  }
  void read(const std::string& name, const Json& json, int64_t& value) {
    if (!json.is_integer() || json.as_integer() < 0) return refuse(name, json, "an integer >= 0");
    value = json.as_integer();
  }
  void read(const std::string& name, const Json& json, double& value) {
    const auto number = parse_json_number(json);
    if (!number) return refuse(name, json, "a number");
    value = *number;
  }
  void read(const std::string& name, const Json& json, std::optional<BestMetric>& value) {
    if (json.is_null()) return;
    value.emplace();
    StateReader members(json, fmt::format("{}: {}", where_, name));
    const bool has_others = json.is_object() && json.find("others") != nullptr;
    if (!json.is_object() || json.as_object().size() != (has_others ? 4 : 3))
      return refuse(name, json, "null or name, value and step");
    members("name", value->name);
    members("value", value->value);
    members("step", value->step);
    if (has_others) members("others", value->other_values);
    problems_.insert(problems_.end(), members.problems_.begin(), members.problems_.end());
  }
  template <class Value>
  void read(const std::string& name, const Json& json, std::map<std::string, Value>& values) {
    if (!json.is_object()) return refuse(name, json, "an object");
    for (const auto& [key, value] : json.as_object())
      read(fmt::format("{}: {}", name, quote_json(key)), value, values[key]);
  }
  void refuse(const std::string& name, const Json& got, const char* expected) {
    problems_.push_back({where_, fmt::format("{}: expected {}, got {}", name, expected, got.describe())});
  }

  const Json& document_;
  std::string where_;
  size_t known_ = 0;
  std::vector<Problem> problems_;
};

}  // namespace

std::optional<double> BestMetric::value_of(const std::string& metric) const {
  if (metric == name) return value;
  const auto other = other_values.find(metric);
  return other == other_values.end() ? std::nullopt : std::optional(other->second);
}

Json to_json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

std::optional<double> parse_json_number(const Json& value) {
  if (value.is_number()) return value.as_number();
  if (!value.is_string()) return std::nullopt;
  if (value.as_string() == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value.as_string() == "Infinity") return kInfinity;
  if (value.as_string() == "-Infinity") return -kInfinity;
  return std::nullopt;
}

Json to_json(const TrainerState& state) {
  JsonObject members{{"format", kFormat}};
  visit_members(state, [&](const char* name, const auto& value) { members.emplace_back(name, value_of(value)); });
  return members;
}

TrainerState parse_trainer_state(std::string_view text, const std::string& where) {
  const Json document = parse_json(text, where, kLimits);
  const Json* format = document.find("format");
  if (format != nullptr && format->is_integer()) check_format_version(format->as_integer(), kFormat, where);
  if (format == nullptr || !format->is_integer() || format->as_integer() != kFormat)
    throw Error(ErrorCode::kJson, where, fmt::format("expected an object of format {}", kFormat));
  TrainerState state;
  StateReader reader(document, where);
  visit_members(state, reader);
  reader.finish();
  return state;
}

TrainerState load_trainer_state(const std::string& path) {
  return parse_trainer_state(read_file(path, kLimits.max_bytes), path);
}

}  // namespace deberta::train

// trainer/state.json: what is written is what is read, and nothing else is.
#include "train/state/trainer_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/expect_error.h"

namespace deberta::train::trainer_state_test {
namespace {

TrainerState make_state() {
  return {.step = 500,
          .total_steps = 1000,
          .samples = 32000,
          .tokens = 4096000,
          .seed = 1234,
          .options = {{"learning_rate", "1e-4"}, {"text \"with\" quotes", "\xC3\xA4\n"}},
          .hashes = {{"train.txt", std::string(64, 'a')}},
          .counters = {{"skipped", 3}},
          .sums = {{"loss", 0.1 + 0.2}, {"tiny", 5e-324}, {"minus zero", -0.0}},
          .best = BestMetric{"accuracy", 2.0 / 3, 400, {{"f1", 0.5}}}};
}

TEST(TrainerState, IsReadAsItIsWritten) {
  TrainerState state = make_state();
  const std::string text = to_json(state).dump(2);
  EXPECT_TRUE(parse_trainer_state(text, "s") == state);
  EXPECT_TRUE(std::signbit(parse_trainer_state(text, "s").sums.at("minus zero")));
  state.best->other_values.clear();  // as states before these had it
  EXPECT_EQ(to_json(state).find("best")->as_object().size(), 3u);
  EXPECT_TRUE(parse_trainer_state(to_json(state).dump(), "s") == state);
  state.best.reset();
  EXPECT_TRUE(parse_trainer_state(to_json(state).dump(), "s") == state);
  EXPECT_TRUE(parse_trainer_state(to_json(TrainerState{}).dump(), "s") == TrainerState{});
}

TEST(TrainerState, KeepsNumbersThatAreNotFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  TrainerState state;
  state.sums = {{"a", std::nan("")}, {"b", kInfinity}, {"c", -kInfinity}};
  const TrainerState read = parse_trainer_state(to_json(state).dump(), "s");
  EXPECT_TRUE(std::isnan(read.sums.at("a")));
  EXPECT_EQ(read.sums.at("b"), kInfinity);
  EXPECT_EQ(read.sums.at("c"), -kInfinity);
}

// One member of a good document replaced; "" removes it.
std::string changed(const std::string& name, const std::string& value) {
  const Json good = to_json(make_state());
  JsonObject members;
  for (const auto& [key, old] : good.as_object()) {
    if (key != name) members.emplace_back(key, old);
  }
  if (!value.empty()) members.emplace_back(name, parse_json(value, "test"));
  return Json(members).dump();
}

TEST(TrainerState, RefusesAnythingElse) {
  for (const char* member :
       {"step", "total_steps", "samples", "tokens", "seed", "options", "hashes", "counters", "sums", "best"})
    EXPECT_ERROR(parse_trainer_state(changed(member, ""), "s"), kJson, "s: " + std::string(member) + ": missing");
  for (const char* value : {"-1", "1.5", "\"1\"", "null"})
    EXPECT_ERROR(parse_trainer_state(changed("step", value), "s"), kJson, "s: step: expected an integer >= 0, got");
  EXPECT_ERROR(parse_trainer_state(changed("options", "[]"), "s"), kJson, "options: expected an object");
  EXPECT_ERROR(parse_trainer_state(changed("options", R"({"a": 1})"), "s"), kJson,
               "options: \"a\": expected a string, got 1");
  EXPECT_ERROR(parse_trainer_state(changed("counters", R"({"a": "1"})"), "s"), kJson,
               "counters: \"a\": expected an integer");
  EXPECT_ERROR(parse_trainer_state(changed("sums", R"({"a": "nan"})"), "s"), kJson, "sums: \"a\": expected a number");
  EXPECT_ERROR(parse_trainer_state(changed("best", "3"), "s"), kJson, "best: expected null or name, value and step");
  EXPECT_ERROR(parse_trainer_state(changed("best", R"({"name": "a", "value": 1, "stop": 2})"), "s"), kJson,
               "s: best: step: missing");
  EXPECT_ERROR(parse_trainer_state(changed("best", R"({"name": "a", "value": 1, "step": 2, "others": 3})"), "s"), kJson,
               "others: expected an object");
  EXPECT_ERROR(parse_trainer_state(changed("more", "1"), "s"), kJson, "s: expected 11 keys, got 12");
  for (const char* format : {"", "0", "\"2\""})
    EXPECT_ERROR(parse_trainer_state(changed("format", format), "s"), kJson, "s: expected an object of format 1");
  EXPECT_ERROR(parse_trainer_state(R"({"format": 2})", "s"), kUnsupported,
               "s: format: expected at most 1, got 2; a newer version of deberta wrote it");
  for (const char* text : {"", "{", "[]", "1", "{}"}) EXPECT_ERROR(parse_trainer_state(text, "s"), kJson, "s: ");
}

}  // namespace
}  // namespace deberta::train::trainer_state_test

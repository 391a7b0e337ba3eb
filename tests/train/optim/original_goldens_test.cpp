// Optimisers and schedules against the original code's: the cases xadam* and schedules.json of the folder of its
// outputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/json.h"
#include "checkpoint/safetensors.h"
#include "support/paths.h"
#include "train/optim/adam.h"
#include "train/optim/gradient_norm.h"
#include "train/optim/schedules.h"

namespace deberta::train::original_goldens_test {
namespace {

constexpr double kGoldenTolerance = 1e-6;  // the folder's README: 7e-7 from a description in double
constexpr const char* kNoFolder = "no folder of original outputs (DEBERTA_GOLDENS, or the shared folder)";

// One case: the optimiser with its configuration, from the first weights on.
class OptimizerCase {
 public:
  OptimizerCase(const std::string& folder, const std::string& name)
      : file_(folder + "/" + name + ".safetensors"),
        document_(load_json(folder + "/" + name + ".json")),
        config_(*document_.find("config")),
        layout_(make_layout(parameters())),
        weights_(layout_),
        gradients_(layout_),
        adam_(layout_, options(), read("w.", weights_)) {}

  // The largest difference after any step; `steps`: how many there are.
  double run(int64_t& steps) {
    double worst = 0;
    for (steps = 0; file_.find(out(steps) + layout_.slots[0].name) != nullptr; ++steps) {
      read("in.grad." + std::to_string(steps) + ".", gradients_);
      const double norm = global_norm(layout_, gradients_, serial());
      adam_.step({.learning_rate = rate(steps), .divisor = clip_divisor(norm, number("max_grad_norm"))}, weights_,
                 gradients_);
      FlatBuffer expected(layout_);
      read(out(steps), expected);
      for (size_t i = 0; i < layout_.size; ++i)
        worst = std::max(worst, std::abs(double{expected.data()[i]} - double{weights_.data()[i]}));
    }
    return worst;
  }

 private:
  static std::string out(int64_t step) { return "out.step." + std::to_string(step) + "."; }
  double number(const char* key) const { return config_.find(key)->as_number(); }

  std::vector<NamedShape> parameters() const {
    std::vector<NamedShape> parameters;
    for (const TensorView& tensor : file_.tensors()) {
      if (tensor.name.starts_with("w.")) parameters.push_back({tensor.name.substr(2), tensor.shape});
    }
    return parameters;
  }
  const FlatBuffer& read(const std::string& prefix, FlatBuffer& buffer) const {
    for (const ParameterSlot& slot : layout_.slots) to_fp32(*file_.find(prefix + slot.name), buffer.of(slot).data());
    return buffer;
  }
  AdamOptions options() const {
    return {.beta1 = number("adam_beta1"),
            .beta2 = number("adam_beta2"),
            .epsilon = number("epsilon"),
            .weight_decay = number("weight_decay"),
            .is_admax = config_.find("opt_type")->as_string() == "admax",
            .is_rectified = config_.find("with_radam")->as_bool(),
            .lookahead_k = config_.find("lookahead_k")->as_integer(),
            .lookahead_alpha = number("lookahead_alpha")};
  }
  double rate(int64_t step) const {
    const ScheduleSettings settings{.total = config_.find("total_steps")->as_integer(),
                                    .warmup = number("warmup_proportion"),
                                    .ends = number("lr_schedule_ends")};
    return number("learning_rate") * find_schedule(config_.find("lr_schedule")->as_string()).factor(step, settings);
  }

  SafetensorsFile file_;
  Json document_;
  const Json& config_;
  ParameterLayout layout_;
  FlatBuffer weights_, gradients_;
  Adam adam_;
};

TEST(OriginalGoldens, OptimizersTakeTheSameSteps) {
  const std::string folder = deberta::test::original_goldens();
  if (folder.empty()) GTEST_SKIP() << kNoFolder;
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().stem().string();
    if (!name.starts_with("xadam") || entry.path().extension() != ".json") continue;
    int64_t steps = 0;
    const double error = OptimizerCase(folder, name).run(steps);
    EXPECT_LE(error, kGoldenTolerance) << name;
    EXPECT_GE(steps, 5) << name;
    RecordProperty(name, std::to_string(error * 1e9) + "e-9");
    ++cases;
  }
  EXPECT_EQ(cases, 6);
}

TEST(OriginalGoldens, SchedulesHaveTheSameFactors) {
  const std::string folder = deberta::test::original_goldens();
  if (folder.empty()) GTEST_SKIP() << kNoFolder;
  const Json document = load_json(folder + "/schedules.json");
  int values = 0;
  double worst = 0;
  for (const Json& row : document.find("table")->as_array()) {
    const Schedule& schedule = find_schedule(row.find("schedule")->as_string());
    const ScheduleSettings settings{.total = row.find("total")->as_integer(),
                                    .warmup = row.find("warmup")->as_number(),
                                    .ends = row.find("ends")->as_number()};
    check_schedule(schedule, settings);
    const JsonArray& steps = row.find("steps")->as_array();
    for (size_t i = 0; i < steps.size(); ++i, ++values) {
      const double expected = row.find("values")->as_array()[i].as_number();
      const double got = schedule.factor(steps[i].as_integer(), settings);
      worst = std::max(worst, std::abs(got - expected));
      EXPECT_NEAR(got, expected, 1e-15) << schedule.name << ", total " << settings.total << ", warm-up "
                                        << settings.warmup << ", ends " << settings.ends << ", step "
                                        << steps[i].as_integer();
    }
  }
  EXPECT_GE(values, 900);
  RecordProperty("worst", std::to_string(worst * 1e18) + "e-18");
}

}  // namespace
}  // namespace deberta::train::original_goldens_test

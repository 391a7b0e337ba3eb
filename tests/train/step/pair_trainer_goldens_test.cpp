// Two decoupled steps of replaced-token detection with differences against the original's trainers, from its samples:
// losses, gradients before the clip, weights after each step. The case rtd_decoupled_gdes of the folder of its outputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "train/objectives/original_case.h"
#include "train/optim/schedules.h"
#include "train/step/pair_trainer.h"

namespace deberta::train::pair_trainer_goldens_test {
namespace {

using namespace deberta::test;

constexpr double kSingle = 5e-5;  // from the folder's README

class Steps {
 public:
  explicit Steps(const std::string& folder)
      : file_(folder + "/rtd_decoupled_gdes.safetensors"),
        about_(load_json(folder + "/rtd_decoupled_gdes.json")),
        settings_(*about_.find("config")->find("optimizer")),
        trainer_(load_of_pair(about_, file_, "generator", at::kFloat),
                 load_of_pair(about_, file_, "discriminator", at::kFloat), {.lambda = number("rtd_lambda")},
                 {.adam = {.beta1 = number("adam_beta1"),
                           .beta2 = number("adam_beta2"),
                           .epsilon = number("epsilon"),
                           .weight_decay = number("weight_decay")}},
                 compute_) {}

  void run() {
    for (int64_t step = 0; step < about_.find("steps")->as_integer(); ++step) {
      const std::string name = std::to_string(step) + ".";
      PackedCase packed = pack_case(file_, "in." + name);
      set_labels(packed, integers<int32_t>(file_, "in." + name + "labels"));
      const std::vector<std::vector<int32_t>> ids = {
          at_predicted_rows(packed, integers<int32_t>(file_, "out." + name + "new_ids"))};
      const PairStepExtras extras{.given_ids_P = ids, .see = [&](const ParameterGroup& group) {
                                    for (const ParameterSlot& slot : group.layout().slots)
                                      compare(gradients_, "out." + name + "grad." + slot.name,
                                              group.gradients().of(slot));
                                  }};
      const double rate = rate_of(step);
      const PairStep result = trainer_.step({&packed.batch, 1}, {}, {rate, rate, number("max_grad_norm")}, extras);
      compare_loss("out." + name + "generator_loss", result.generator);
      compare_loss("out." + name + "discriminator_loss", result.discriminator);
      for (ParameterGroup& group : trainer_.groups()) {
        for (const ParameterSlot& slot : group.layout().slots)
          compare(weights_, "out." + name + slot.name, group.weights().of(slot));
      }
    }
    std::cout << gradients_.count << " gradients, worst error " << gradients_.worst << "; " << weights_.count
              << " weights, worst error " << weights_.worst << "; losses, worst error " << loss_ << "\n";
    EXPECT_GE(gradients_.count, 150u);
    EXPECT_GE(weights_.count, 150u);
  }

 private:
  struct Tally {
    size_t count = 0;
    double worst = 0;
  };
  double number(const char* key) const { return settings_.find(key)->as_number(); }
  double rate_of(int64_t step) const {
    const ScheduleSettings settings{.total = settings_.find("total_steps")->as_integer(),
                                    .warmup = number("warmup_proportion"),
                                    .ends = number("lr_schedule_ends")};
    return number("learning_rate") * find_schedule(settings_.find("lr_schedule")->as_string()).factor(step, settings);
  }
  // "…generator.embeddings.x" is "…generator.deberta.embeddings.x" in the file; a difference has the name _weight.
  const TensorView* find(std::string name) const {
    for (const std::string part : {"generator.", "discriminator."}) {
      for (const std::string room : {"embeddings.", "encoder."}) {
        const size_t at = name.find("." + part + room);
        if (at != std::string::npos) name.insert(at + 1 + part.size(), "deberta.");
      }
    }
    const TensorView* view = file_.find(name);
    if (view == nullptr) view = file_.find(name.substr(0, name.rfind('.')) + "._weight");
    return view;
  }
  void compare(Tally& tally, const std::string& name, std::span<const float> got) const {
    const TensorView* view = find(name);
    ASSERT_NE(view, nullptr) << name;
    const std::vector<float> expected = to_fp32(*view);
    ASSERT_EQ(expected.size(), got.size()) << name;
    double worst = 0;
    for (size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::abs(double{expected[i]} - double{got[i]}));
    EXPECT_LE(worst, kSingle) << name;
    tally.worst = std::max(tally.worst, worst);
    ++tally.count;
  }
  void compare_loss(const std::string& name, const StepResult& result) {
    const double error = std::abs(to_fp32(*file_.find(name))[0] - result.loss / static_cast<double>(result.count));
    EXPECT_LE(error, kSingle) << name;
    loss_ = std::max(loss_, error);
  }

  SafetensorsFile file_;
  Json about_;
  const Json& settings_;
  Compute compute_{.kernels = select_kernels("auto")};
  PairTrainer trainer_;
  Tally gradients_, weights_;
  double loss_ = 0;
};

TEST(PairTrainerGoldens, TwoDecoupledStepsAgree) {
  const std::string folder = original_goldens();
  if (folder.empty()) GTEST_SKIP() << kNoGoldens;
  Steps(folder).run();
}

}  // namespace
}  // namespace deberta::train::pair_trainer_goldens_test

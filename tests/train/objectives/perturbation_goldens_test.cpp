// SiFT against the original code: the perturbation and its gradient, the logits of all three passes, the losses and
// the gradients of the whole. The cases sift_* of the folder of its outputs.
// B sequences  L positions  T packed tokens  D hidden
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "support/torch_numbers.h"
#include "train/objectives/original_case.h"
#include "train/objectives/perturbation.h"

namespace deberta::train::perturbation_goldens_test {
namespace {

using namespace test;

constexpr double kSingle = 5e-5, kDouble = 2e-5;  // from the folder's README
const Compute kCompute{.kernels = select_kernels("auto")};

at::Tensor take(const at::Tensor& x, const std::vector<int64_t>& rows) {
  at::Tensor index = at::empty({static_cast<int64_t>(rows.size())}, at::kLong);
  std::copy(rows.begin(), rows.end(), index.data_ptr<int64_t>());
  return x.index_select(0, index);
}

AdversarialOptions options_of(const Json& about) {
  const std::string& kind = about.find("vat_loss_fn")->as_string();
  return {.lambda = about.find("vat_lambda")->as_number(),
          .learning_rate = about.find("vat_learning_rate")->as_number(),
          .deviation = about.find("vat_init_perturbation")->as_number(),
          .kind = kind == "kl"    ? DivergenceKind::kKl
                  : kind == "mse" ? DivergenceKind::kSquared
                                  : DivergenceKind::kSymmetricKl,
          .is_original = true};
}

class SiftCase {
 public:
  SiftCase(const std::string& folder, const std::string& name, at::ScalarType type)
      : name_(name),
        tolerance_(type == at::kDouble ? kDouble : kSingle),
        file_(folder + "/" + name + ".safetensors"),
        about_(load_json(folder + "/" + name + ".json")),
        model_(load_case(about_, file_, type)) {}

  double run() {
    const PackedCase packed = pack_case(file_, "in.");
    TaskBatch batch;
    batch.input = packed.batch;
    const bool is_score = model_.form.labels == 1;
    if (is_score) {
      batch.values_BC = to_fp32(*file_.find("in.labels"));
    } else {
      batch.classes_B = integers<int32_t>(file_, "in.labels");
    }
    const TaskOptions task{.loss = is_score ? TaskLoss::kScore : TaskLoss::kClass};
    EXPECT_EQ(packed.real_T.size(), packed.batch.tokens());
    const auto rows_of = [&](const std::string& output) {
      const at::Tensor all = read(file_, output);
      return take(all.view({-1, all.size(2)}), packed.real_BL);
    };
    const AdversarialLoss result =
        adversarial_loss(model_, kCompute, batch, task, options_of(about_), {}, rows_of("out.delta.0"));
    const double divisor = result.loss.divisor();
    compare("normalised_input", rows_of("out.normalised_input"), result.inputs_TD);
    compare("delta_gradient", rows_of("out.delta_gradient"), result.delta_gradient_TD);
    compare("delta.1", rows_of("out.delta.1"), result.delta_TD);
    compare("clean_logits", result.clean_NC);
    compare("logits_first", result.perturbed_NC);
    compare("logits_second", result.adversarial_NC);
    compare("task_loss", at::full({}, result.task / divisor, at::kDouble));
    compare("adversarial_loss", at::full({}, result.adversarial / divisor, at::kDouble));
    const at::Tensor total = result.loss.sum / divisor;
    compare("total_loss", total);
    total.backward();
    compare_gradients();
    return worst_;
  }

 private:
  void compare(const std::string& output, const at::Tensor& got) { compare(output, read(file_, "out." + output), got); }
  void compare(const std::string& output, const at::Tensor& expected, const at::Tensor& got) {
    const double error = worst_difference(expected.flatten(), got.flatten());
    worst_ = std::max(worst_, error);
    EXPECT_LE(error, tolerance_) << name_ << ": " << output;
  }
  void compare_gradients() {
    size_t count = 0;
    for (const NamedParameter& parameter : trained_parameters(model_)) {
      for (const std::string& prefix : {std::string("grad."), std::string("grad.deberta.")}) {
        if (file_.find("out." + prefix + parameter.name) == nullptr) continue;
        compare(prefix + parameter.name, test::gradient_of(parameter.tensor));
        ++count;
      }
    }
    EXPECT_EQ(count, 5u) << name_;
  }

  std::string name_;
  double tolerance_;
  SafetensorsFile file_;
  Json about_;
  Model model_;
  double worst_ = 0;
};

void run_all(at::ScalarType type) {
  const std::string folder = original_goldens();
  if (folder.empty()) GTEST_SKIP() << kNoGoldens;
  size_t cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".json" || !name.starts_with("sift_")) continue;
    std::cout << name << ": worst error " << SiftCase(folder, name, type).run() << "\n";
    ++cases;
  }
  EXPECT_EQ(cases, 4u);
}

TEST(PerturbationGoldens, AgreeInDouble) {
  run_all(at::kDouble);
}
TEST(PerturbationGoldens, AgreeInSinglePrecision) {
  run_all(at::kFloat);
}

}  // namespace
}  // namespace deberta::train::perturbation_goldens_test

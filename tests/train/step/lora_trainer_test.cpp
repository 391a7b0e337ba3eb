// Steps with LoRA: what moves, and that the model computes with the sums of what moved.
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/matmul.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/torch_numbers.h"
#include "train/model/lora.h"
#include "train/objectives/language_model.h"
#include "train/step/trainer.h"
#include "train/step/trainer_case.h"

namespace deberta::train::lora_trainer_test {
namespace {

Model lora_model() {
  Model plain = test::small_model(Head::kMaskedLm, 5);
  ModelForm form = plain.form;
  form.lora = LoraForm{.rank = 2, .alpha = 6, .targets = {"query_proj", "intermediate.dense"}};
  Model model = make_model(form);
  initialise(model, 5);
  begin_lora(model);
  return model;
}

struct LoraCase {
  explicit LoraCase(const OptimizerOptions& options = {})
      : compute{.kernels = select_kernels("auto")}, trainer(lora_model(), options, compute) {}

  Compute compute;
  Trainer trainer;

  void step(const std::vector<TrainBatch>& batches) {
    std::vector<std::function<Loss()>> losses;
    for (const TrainBatch& batch : batches)
      losses.push_back([&] { return language_model_loss(trainer.model(), compute, batch, {}); });
    ASSERT_TRUE(trainer.step(losses, {.rate = 1e-2}).is_finite);
  }
  // Copies, by name.
  std::map<std::string, at::Tensor> tensors() {
    std::map<std::string, at::Tensor> tensors;
    visit(trainer.model(),
          [&](const ParameterSpec& spec, at::Tensor& tensor) { tensors[spec.name] = tensor.detach().clone(); });
    return tensors;
  }
  // How far the model's weights are from the sums.
  double error_of_sums() {
    auto now = tensors();
    double worst = 0;
    for (const LoraMatrices& m : trainer.model().lora) {
      const at::Tensor product = at::matmul(m.b_OR.detach().to(at::kDouble), m.a_RI.detach().to(at::kDouble));
      worst = std::max(worst, test::worst_difference(now[m.module + ".weight"], m.base_OI + 3 * product));
    }
    return worst;
  }
};

TEST(LoraTrainer, MovesTheMatricesAndTheHeadAndMergesThem) {
  LoraCase run;
  const auto before = run.tensors();
  for (int step = 0; step < 3; ++step) {
    run.step({test::small_batch(0, 3), test::small_batch(3, 3)});
    EXPECT_LE(run.error_of_sums(), 1e-6);
  }
  std::map<std::string, bool> sums;
  for (const LoraMatrices& m : run.trainer.model().lora) {
    sums[m.module + ".weight"] = true;
    EXPECT_TRUE(at::equal(m.base_OI, before.at(m.module + ".weight"))) << m.module;
  }
  for (const auto& [name, tensor] : run.tensors()) {
    const bool is_trained = name.find(".lora_") != std::string::npos || name.starts_with("lm_predictions.");
    EXPECT_EQ(at::equal(tensor, before.at(name)), !is_trained && !sums.contains(name)) << name;
  }
}

TEST(LoraTrainer, ItsModelSharesNoWeightThatItChanges) {
  const Compute compute{.kernels = select_kernels("auto")};
  Model model = lora_model();
  const at::Tensor weight = model.encoder.layers[0].attention.query_proj.weight_OI, before = weight.detach().clone();
  Trainer trainer(model, {}, compute);
  const TrainBatch batch = test::small_batch(0, 4);
  const std::function<Loss()> loss = [&] { return language_model_loss(trainer.model(), compute, batch, {}); };
  for (int step = 0; step < 2; ++step) trainer.step({&loss, 1}, {.rate = 1e-2});
  EXPECT_TRUE(at::equal(weight, before));
}

TEST(LoraTrainer, AveragesAreOfTheMatrices) {
  LoraCase run({.adam = {.average_decay = 0.5}});
  for (int step = 0; step < 3; ++step) run.step({test::small_batch(0, 4)});
  const auto before = run.tensors();
  run.trainer.exchange_averages();
  EXPECT_LE(run.error_of_sums(), 1e-6);
  const std::string name = "encoder.layer.0.attention.self.query_proj.weight";
  EXPECT_FALSE(at::equal(run.tensors().at(name), before.at(name)));
  run.trainer.exchange_averages();
  for (const auto& [other, tensor] : run.tensors()) EXPECT_TRUE(at::equal(tensor, before.at(other))) << other;
}

}  // namespace
}  // namespace deberta::train::lora_trainer_test

// LoRA: the sums that the model computes with, their gradients, which tensors there are.
// R rank  I inputs  O outputs
#include "train/model/lora.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "support/torch_numbers.h"
#include "train/model/model_case.h"

namespace deberta::train::lora_test {
namespace {

using namespace test;

constexpr double kSums = 1e-6;
constexpr int64_t kRank = 3;

ModelForm lora_form(std::vector<std::string> targets = {"query_proj", "output.dense"}) {
  ModelForm form = make_form(Head::kSequence);
  form.lora = LoraForm{.rank = kRank, .alpha = 12, .targets = std::move(targets)};
  return form;
}

Model begun(const ModelForm& form) {
  Model model = make_model(form);
  initialise(model, 7);
  load_tiny_weights(model);
  begin_lora(model);
  return model;
}

// A and B with numbers that show, and their gradients 0, as a trainer has them.
void fill(Model& model) {
  uint64_t seed = 20;
  for (LoraMatrices& m : model.lora) {
    for (at::Tensor* tensor : {&m.a_RI, &m.b_OR}) {
      tensor->detach().copy_(normal_tensor(seed++, tensor->sizes(), at::kFloat));
      tensor->mutable_grad() = at::zeros_like(*tensor);
    }
  }
}

std::map<std::string, at::Tensor> tensors_of(Model& model) {
  std::map<std::string, at::Tensor> tensors;
  visit(model, [&](const ParameterSpec& spec, at::Tensor& tensor) { tensors[spec.name] = tensor; });
  return tensors;
}

std::vector<std::string> modules_of(std::vector<std::string> targets) {
  std::vector<std::string> modules;
  for (const LoraMatrices& m : make_model(lora_form(std::move(targets))).lora) modules.push_back(m.module);
  return modules;
}

// Sums by hand, in double.
double element(const at::Tensor& x, int64_t row, int64_t column) {
  return x.detach()[row][column].item<double>();
}

TEST(Lora, AddsAlphaOverRTimesTheProduct) {
  Model model = begun(lora_form());
  fill(model);
  merge_lora(test_compute(), model);
  auto tensors = tensors_of(model);
  for (const LoraMatrices& m : model.lora) {
    const at::Tensor& weight_OI = tensors[m.module + ".weight"];
    for (int64_t o = 0; o < m.shape_OI[0]; ++o) {
      for (int64_t i = 0; i < m.shape_OI[1]; ++i) {
        double product = 0;
        for (int64_t r = 0; r < kRank; ++r) product += element(m.b_OR, o, r) * element(m.a_RI, r, i);
        const double expected = element(m.base_OI, o, i) + 4 * product;
        ASSERT_NEAR(element(weight_OI, o, i), expected, kSums * (1 + std::abs(expected))) << m.module;
      }
    }
  }
}

TEST(Lora, HasTheGradientsOfTheProduct) {
  Model model = begun(lora_form());
  fill(model);
  auto tensors = tensors_of(model);
  uint64_t seed = 50;
  for (LoraMatrices& m : model.lora) {
    at::Tensor& weight_OI = tensors[m.module + ".weight"];
    weight_OI.mutable_grad() = normal_tensor(seed++, weight_OI.sizes(), at::kFloat);
    m.b_OR.mutable_grad().fill_(1);  // gradients add up
  }
  std::map<std::string, at::Tensor> dw;
  for (const LoraMatrices& m : model.lora) dw[m.module] = tensors[m.module + ".weight"].grad().clone();
  differentiate_lora(test_compute(), model);
  for (const LoraMatrices& m : model.lora) {
    const auto [outputs, inputs] = std::pair(m.shape_OI[0], m.shape_OI[1]);
    for (int64_t r = 0; r < kRank; ++r) {
      for (int64_t o = 0; o < outputs; ++o) {
        double expected = 0;
        for (int64_t i = 0; i < inputs; ++i) expected += element(dw[m.module], o, i) * element(m.a_RI, r, i);
        ASSERT_NEAR(element(m.b_OR.grad(), o, r), 1 + 4 * expected, 2e-5) << m.module;
      }
      for (int64_t i = 0; i < inputs; ++i) {
        double expected = 0;
        for (int64_t o = 0; o < outputs; ++o) expected += element(m.b_OR, o, r) * element(dw[m.module], o, i);
        ASSERT_NEAR(element(m.a_RI.grad(), r, i), 4 * expected, 2e-5) << m.module;
      }
    }
    EXPECT_FALSE(tensors[m.module + ".weight"].grad().defined()) << "the next step would add to it";
  }
}

// peft: kaiming_uniform_(a = sqrt(5)), which is 1 / sqrt(inputs) on both sides; and zeros.
TEST(Lora, BeginsAsTheModelItself) {
  Model model = begun(lora_form()), plain = make_tiny(make_form(Head::kSequence));
  merge_lora(test_compute(), model);
  auto tensors = tensors_of(model);
  for (auto& [name, tensor] : tensors_of(plain)) EXPECT_EQ(worst_difference(tensors[name], tensor), 0) << name;
  for (const LoraMatrices& m : model.lora) {
    const double most = 1 / std::sqrt(static_cast<double>(m.shape_OI[1]));
    EXPECT_EQ(m.b_OR.abs().max().item<double>(), 0);
    EXPECT_LE(m.a_RI.abs().max().item<double>(), most);
    EXPECT_GT(m.a_RI.max().item<double>(), 0.8 * most);
    EXPECT_LT(m.a_RI.min().item<double>(), -0.8 * most);
    EXPECT_NEAR(m.a_RI.square().mean().item<double>(), most * most / 3, most * most / 8);
  }
}

TEST(Lora, TrainsItsMatricesAndTheHeadAlone) {
  Model model = begun(lora_form({"value_proj"}));
  std::vector<std::string> names;
  for (const NamedParameter& parameter : trained_parameters(model)) names.push_back(parameter.name);
  const std::string layer = "encoder.layer.", value = ".attention.self.value_proj.lora_";
  EXPECT_EQ(names, (std::vector<std::string>{"pooler.dense.weight", "pooler.dense.bias", "classifier.weight",
                                             "classifier.bias", layer + "0" + value + "A.weight",
                                             layer + "0" + value + "B.weight", layer + "1" + value + "A.weight",
                                             layer + "1" + value + "B.weight"}));
}

TEST(Lora, IsInNoFileOfTheModel) {
  Model model = begun(lora_form()), plain = make_tiny(make_form(Head::kSequence));
  const std::vector<TensorView> views = to_views(model), expected = to_views(plain);
  ASSERT_EQ(views.size(), expected.size());
  for (size_t n = 0; n < views.size(); ++n) EXPECT_EQ(views[n].name, expected[n].name);
  EXPECT_EQ(lora_views(model).size(), 2 * model.lora.size());
}

TEST(Lora, ChoosesModulesAsPeftDoes) {
  const std::string layer_0 = "encoder.layer.0.", layer_1 = "encoder.layer.1.";
  EXPECT_EQ(modules_of({"query_proj"}),
            (std::vector<std::string>{layer_0 + "attention.self.query_proj", layer_1 + "attention.self.query_proj"}));
  EXPECT_EQ(modules_of({"output.dense"}),
            (std::vector<std::string>{layer_0 + "attention.output.dense", layer_0 + "output.dense",
                                      layer_1 + "attention.output.dense", layer_1 + "output.dense"}));
  EXPECT_EQ(modules_of({"attention.output.dense", "intermediate.dense"}),
            (std::vector<std::string>{layer_0 + "attention.output.dense", layer_0 + "intermediate.dense",
                                      layer_1 + "attention.output.dense", layer_1 + "intermediate.dense"}));
  ModelForm own = lora_form({"query_proj"});
  own.config.share_att_key = false;
  EXPECT_EQ(make_model(own).lora.size(), 2U) << "pos_query_proj is another name";
  EXPECT_ERROR(modules_of({"dense"}), kUsage, "expected names among query_proj, ");
  EXPECT_ERROR(modules_of({"pos_key_proj"}), kUsage, "expected layers of the model, which has no pos_key_proj");
  EXPECT_ERROR(modules_of({}), kUsage, "expected at least one name, got none");
}

}  // namespace
}  // namespace deberta::train::lora_test

// Layers computed again in the backward pass: values and gradients of every form, bit for bit.
#include "train/model/recompute.h"

#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/torch_numbers.h"
#include "train/model/model_case.h"
#include "train/model/parameters.h"

namespace deberta::train::recompute_test {
namespace {

using namespace test;

struct Results {
  at::Tensor value;
  std::vector<at::Tensor> gradients;
};

Results run(const ModelForm& form, at::ScalarType type, bool recomputes) {
  Model model = make_tiny(form, type);
  Compute compute = test_compute();
  compute.recomputes_layers = recomputes;
  const Batch batch = make_holed_batch(form.config);
  const Pass pass = make_pass(model, compute, input_of(batch), {.is_training = true, .seed = 5, .step = 3});
  const std::vector<int32_t> rows = {0, 5, 9, 11, 23};
  const at::Tensor y = form.head == Head::kMaskedLm ? word_states(pass, model, rows)
                                                    : take_rows(encode(pass, model).hidden_TD.back(), rows);
  Results results{y.detach().clone(), {}};
  (y * normal_tensor(55, y.sizes()).to(type)).sum().backward();
  for (const NamedParameter& parameter : trained_parameters(model)) {
    const at::Tensor gradient = test::gradient_of(parameter.tensor);
    results.gradients.push_back(gradient.defined() ? gradient : at::zeros_like(parameter.tensor));
  }
  return results;
}

TEST(Recompute, GivesTheSameBitsForEveryForm) {
  for (const auto& [name, form] : form_cases()) {
    for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
      const Results kept = run(form, type, false), recomputed = run(form, type, true);
      EXPECT_TRUE(kept.value.equal(recomputed.value)) << name;
      ASSERT_EQ(kept.gradients.size(), recomputed.gradients.size());
      for (size_t n = 0; n < kept.gradients.size(); ++n)
        EXPECT_TRUE(kept.gradients[n].equal(recomputed.gradients[n])) << name << ", " << n;
    }
  }
}

}  // namespace
}  // namespace deberta::train::recompute_test

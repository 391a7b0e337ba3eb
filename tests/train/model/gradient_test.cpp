// Gradients of whole layers, of the mask decoder and of every variant against finite differences, in double: with
// shared and own projections, with tables of 4 / 9, 8 / 16 and 256 / 512, and with dropout.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/torch_numbers.h"
#include "train/model/model_case.h"
#include "train/ops/linear.h"

namespace deberta::train::gradient_test {
namespace {

using namespace test;

constexpr double kGradientTolerance = 2e-8;

// A scalar that depends on every output.
at::Tensor scalar_of(const Model& model, const Batch& batch, const DropoutStream& dropout) {
  const Pass pass = make_pass(model, test_compute(), input_of(batch), dropout);
  const std::vector<int32_t> rows = {0, 5, 9, 11, 23};
  at::Tensor y;
  if (model.form.head == Head::kMaskedLm) {
    y = linear(pass.compute, word_states(pass, model, rows), model.embeddings.word_VE, model.head.bias_V);
  } else if (model.form.head == Head::kSequence) {
    const at::Tensor sum_TD = sum_embeddings(pass, model.embeddings);
    y = sequence_logits(pass, model.head, pooled_states(pass, model, sum_TD));
  } else if (model.form.head == Head::kReplacedToken) {
    y = replaced_logits(pass, model.head, encode(pass, model).hidden_TD.back());
  } else if (model.form.head != Head::kNone) {
    y = token_logits(pass, model.head, encode(pass, model).hidden_TD.back(), *pass.tokens);
  } else {
    y = mask_rows(pass.compute, encode(pass, model).hidden_TD.back(), *pass.tokens);
  }
  return (y * normal_tensor(55, y.sizes())).sum();
}

void check(const std::string& name, const ModelForm& form, bool is_training) {
  Model model = make_tiny(form, at::kDouble);
  const Batch batch = make_holed_batch(form.config);
  std::vector<at::Tensor> tensors;
  std::vector<std::string> names;
  for (const NamedParameter& parameter : trained_parameters(model)) {
    if (parameter.name == "embeddings.word_embeddings.weight") continue;  // below: the padding row gets none
    tensors.push_back(parameter.tensor);
  }
  const auto function = [&] { return scalar_of(model, batch, {is_training, 5, 3}); };
  EXPECT_LE(worst_gradient_error(tensors, function, 2), kGradientTolerance)
      << name << (is_training ? ", training" : "");
}

TEST(Gradients, OfEveryVariantAreFiniteDifferences) {
  for (const auto& [name, form] : form_cases()) {
    if (form.config.hidden_act == Activation::kRelu) continue;  // a kink within the step
    for (const bool is_training : {false, true}) check(name, form, is_training);
  }
}

TEST(Gradients, OfEverySizeOfTableAreFiniteDifferences) {
  struct Sizes {
    int64_t buckets, most;
  };
  for (const auto [buckets, most] : {Sizes{4, 9}, {8, 16}, {256, 512}}) {
    for (const bool is_shared : {true, false}) {
      ModelForm form = make_form();
      form.config.position_buckets = buckets;
      form.config.max_relative_positions = form.config.max_position_embeddings = most;
      form.config.share_att_key = is_shared;
      for (const bool is_training : {false, true}) check(std::to_string(buckets), form, is_training);
    }
  }
}

// All elements of what the relative terms share with the content: the projections and the table with its norm.
TEST(Gradients, FlowFromTheRelativeTermsIntoTheSharedProjections) {
  Model model = make_tiny(make_form(), at::kDouble);
  const Batch batch = make_batch({make_ids(1, 6)});
  Attention& a = model.encoder.layers[0].attention;
  RelativePosition& r = model.encoder.relative;
  const std::vector<at::Tensor> tensors = {a.key_proj.weight_OI, a.key_proj.bias_O,   a.query_proj.weight_OI,
                                           a.query_proj.bias_O,  r.rel_embeddings_RD, r.norm.weight_D,
                                           r.norm.bias_D};
  for (const bool is_training : {false, true}) {
    const auto function = [&] {
      const Pass pass = make_pass(model, test_compute(), input_of(batch), {is_training, 5, 3});
      const at::Tensor h_TD = encode(pass, model).hidden_TD.back();
      return (h_TD * normal_tensor(55, h_TD.sizes())).sum();
    };
    EXPECT_LE(worst_gradient_error(tensors, function, 60), kGradientTolerance) << is_training;
  }
}

TEST(Gradients, OfThePaddingRowComeOnlyFromTheOutput) {
  for (const Head head : {Head::kNone, Head::kMaskedLm}) {
    Model model = make_tiny(make_form(head), at::kDouble);
    Batch batch = make_holed_batch(model.form.config);
    batch.ids_T[2] = 0;
    scalar_of(model, batch, {}).backward();
    const at::Tensor gradient = test::gradient_of(model.embeddings.word_VE);
    EXPECT_EQ(gradient[0].abs().max().item<double>() > 0, head == Head::kMaskedLm);
    EXPECT_GT(gradient[batch.ids_T[1]].abs().max().item<double>(), 0);
  }
}

}  // namespace
}  // namespace deberta::train::gradient_test

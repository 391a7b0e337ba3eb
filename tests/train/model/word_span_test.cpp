// A head of the tests' own (support/word_spans.h) in the trainer: the engine's logits, and their gradients.
// N spans  C classes  D hidden
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "support/word_spans.h"
#include "train/model/model_case.h"

namespace deberta::train::word_span_test {
namespace {

using namespace test;

void visit_word_spans(OutputHead& head, const ModelForm& form, const Visit& each) {
  visit(head.classifier, {"classifier", 2 * form.config.hidden_size, form.labels}, each);
}

at::Tensor ends_of_word_spans(const Pass& pass, const Model& model, const HeadRequest& request) {
  const at::Tensor hidden_TD = encode(pass, model).hidden_TD.back();
  std::vector<int32_t> first_N, last_N;
  for (const TokenGroup& span : request.groups) {
    first_N.push_back(span.rows.front());
    last_N.push_back(span.rows.back());
  }
  return at::cat({take_rows(hidden_TD, first_N), take_rows(hidden_TD, last_N)}, 1);
}

at::Tensor logits_of_word_spans(const Pass& pass, const Model& model, const HeadRequest& request) {
  return apply(pass, model.head.classifier, ends_of_word_spans(pass, model, request));
}

constexpr TrainedHead kTrainedWordSpans{visit_word_spans, logits_of_word_spans};

// The encoder as it stands in the file, and the head by its visitor.
Model make_word_spans(const std::string& folder, const ModelConfig& config) {
  const Checkpoint checkpoint = Checkpoint::open(folder);
  Model model = make_model({.config = config, .head = Head::kNone, .labels = 3});
  load_parameters(model, checkpoint);
  kTrainedWordSpans.visit(model.head, model.form, [&](const ParameterSpec& spec, at::Tensor& tensor) {
    const TensorView* view = checkpoint.find(spec.name);
    ASSERT_NE(view, nullptr) << spec.name;
    ASSERT_EQ(view->shape, spec.shape) << spec.name;
    tensor = at::zeros(spec.shape, at::kFloat);
    to_fp32(*view, tensor.data_ptr<float>());
    tensor.requires_grad_(true);
  });
  return model;
}

TEST(TrainedWordSpans, HaveTheLogitsOfTheEngineAndTheirGradients) {
  const ModelConfig config = tiny_config();
  const TemporaryFolder folder;
  write_word_spans(folder.path(), config);
  const Model model = make_word_spans(folder.path(), config);
  const Batch batch = make_batch({make_ids(1, 6), make_ids(2, 9)});
  ForwardOptions options;
  options.groups = {{0, {1, 3}}, {0, {2, 2}}, {1, {7, 14}}};
  ForwardResult expected;
  load_word_spans(config).forward(batch, options, expected);

  const Pass pass = make_pass(model, test_compute(), input_of(batch), {});
  const at::Tensor logits_NC = kTrainedWordSpans.logits(pass, model, {.groups = options.groups});
  ASSERT_EQ(logits_NC.sizes(), (at::IntArrayRef{3, 3}));
  for (int64_t n = 0; n < logits_NC.numel(); ++n)
    EXPECT_NEAR(logits_NC.flatten()[n].item<float>(), expected.logits[static_cast<size_t>(n)], 5e-5) << n;

  logits_NC.sum().backward();
  const at::Tensor sum_D = ends_of_word_spans(pass, model, {.groups = options.groups}).sum(0);
  const at::Tensor gradient_CD = test::gradient_of(model.head.classifier.weight_OI);
  for (int64_t c = 0; c < 3; ++c) EXPECT_LE(worst_difference(gradient_CD[c], sum_D), 1e-4) << c;
  EXPECT_TRUE(test::gradient_of(model.embeddings.word_VE).defined()) << "the encoder learns from spans";
}

}  // namespace
}  // namespace deberta::train::word_span_test

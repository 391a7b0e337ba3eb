// The heads of entities in training: their tensors, their scores beside those of the engine, and what neither a pack
// nor a micro-batch may change.
#include "train/model/entity_head.h"

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "checkpoint/tensor_table.h"
#include "support/expect_error.h"
#include "support/torch_numbers.h"
#include "train/model/extraction_case.h"

namespace deberta::train::entity_head_test {
namespace {

using namespace test;

struct Asked {
  Batch batch;
  std::vector<LabelledWords> words;
};
Asked ask(const std::vector<LabelledText>& texts) {
  Asked asked;
  std::vector<std::vector<int32_t>> ids;
  int32_t start = 0;
  for (const LabelledText& text : texts) {
    ids.push_back(text.ids);
    asked.words.push_back(at_row(text.words, start));
    start += static_cast<int32_t>(text.ids.size());
  }
  asked.batch = make_batch(ids);
  return asked;
}

std::vector<float> scores_of(const Model& model, const Asked& asked, const DropoutStream& dropout = {},
                             uint32_t first_sequence = 0) {
  const at::NoGradGuard no_gradients;
  ModelInput input = input_of(asked.batch);
  input.first_sequence = first_sequence;
  const Pass pass = make_pass(model, test_compute(), input, dropout);
  const at::Tensor logits =
      trained_head(model.form.head).logits(pass, model, {.entities = asked.words}).reshape({-1}).contiguous();
  return {logits.const_data_ptr<float>(), logits.const_data_ptr<float>() + logits.numel()};
}

TEST(EntityHead, HasTheTensorsOfTheTable) {
  for (const auto& [name, config] : extraction_cases()) {
    const ModelForm form = form_of(config);
    Model model = make_model(form);
    std::vector<std::pair<std::string, Shape>> expected, got;
    for (const TensorSpec& spec : list_tensors(form.config, facts_of(form.head), 0)) {
      if (spec.name != "embeddings.position_embeddings.weight") expected.emplace_back(spec.name, spec.shape);
    }
    for (const TensorView& view : to_views(model)) got.emplace_back(view.name, view.shape);
    std::ranges::sort(expected);
    std::ranges::sort(got);
    EXPECT_EQ(got, expected) << name;
  }
}

TEST(EntityHead, ScoresAreThoseOfTheEngine) {
  for (const auto& [name, config] : extraction_cases()) {
    Model model = make_tiny(form_of(config));
    const TemporaryFolder folder;
    write_safetensors(folder.path("model.safetensors"), to_views(model));
    const deberta::Model engine =
        deberta::Model::load(Checkpoint::open(folder.path()), model.form.config, {.threads = 1});
    const Asked asked = ask(labelled_texts());
    ForwardOptions options;
    options.entities = asked.words;
    ForwardResult expected;
    engine.forward(asked.batch, options, expected);
    const std::vector<float> got = scores_of(model, asked);
    ASSERT_EQ(got.size(), expected.logits.size()) << name;
    for (size_t n = 0; n < got.size(); ++n) EXPECT_NEAR(got[n], expected.logits[n], 1e-4) << name << ", score " << n;
  }
}

TEST(EntityHead, DistancesBeyondTheTableAreThoseOfTheEngine) {
  ModelForm form = form_of(extraction_cases().front().config);
  form.config.position_buckets = 8;
  form.config.max_relative_positions = 12;
  Model model = make_tiny(form);
  const TemporaryFolder folder;
  write_safetensors(folder.path("model.safetensors"), to_views(model));
  const deberta::Model engine =
      deberta::Model::load(Checkpoint::open(folder.path()), model.form.config, {.threads = 1});
  const Batch batch = make_batch({make_ids(1, 40)});
  const std::vector<float> expected = last_hidden(engine, batch);
  const at::NoGradGuard no_gradients;
  const at::Tensor got = encode(make_pass(model, test_compute(), input_of(batch), {}), model).hidden_TD.back();
  ASSERT_EQ(static_cast<size_t>(got.numel()), expected.size());
  const at::Tensor got_TD = got.contiguous();
  for (size_t n = 0; n < expected.size(); ++n) EXPECT_NEAR(got_TD.const_data_ptr<float>()[n], expected[n], 1e-4) << n;
}

TEST(EntityHead, ScoresOfATextAloneAreThoseInAPackBitForBit) {
  for (const auto& [name, config] : extraction_cases()) {
    ModelForm form = form_of(config);
    form.config.cls_dropout = 0.25;
    const Model model = make_tiny(form);
    const DropoutStream training{.is_training = true, .seed = 5, .step = 3};
    std::vector<float> alone;
    uint32_t number = 0;
    for (const LabelledText& text : labelled_texts())
      std::ranges::copy(scores_of(model, ask({text}), training, number++), std::back_inserter(alone));
    EXPECT_EQ(scores_of(model, ask(labelled_texts()), training), alone) << name;
  }
}

// Every layer that drops draws other elements, and none without training.
TEST(EntityHead, DropsInTraining) {
  for (const auto& [name, config] : extraction_cases()) {
    ModelForm form = form_of(config);
    form.config.hidden_dropout_prob = form.config.attention_probs_dropout_prob = 0;
    Model model = make_tiny(form);
    const Asked asked = ask(labelled_texts());
    const DropoutStream training{.is_training = true, .seed = 5, .step = 3};
    model.form.config.cls_dropout = 0;
    const std::vector<float> plain = scores_of(model, asked, training);
    model.form.config.cls_dropout = 0.4;
    EXPECT_EQ(scores_of(model, asked), plain) << name;
    EXPECT_NE(scores_of(model, asked, training), plain) << name;
    EXPECT_NE(scores_of(model, asked, training), scores_of(model, asked, {.is_training = true, .seed = 5, .step = 4}));
  }
}

TEST(EntityHead, GradientsAreFiniteDifferences) {
  for (const auto& [name, config] : extraction_cases()) {
    ModelForm form = form_of(config);
    form.config.cls_dropout = 0.25;
    Model model = make_tiny(form, at::kDouble);
    const Asked asked = ask(labelled_texts());
    std::vector<at::Tensor> tensors;
    for (const NamedParameter& parameter : trained_parameters(model)) {
      if (!parameter.name.starts_with("embeddings.") && !parameter.name.starts_with("encoder."))
        tensors.push_back(parameter.tensor);
    }
    const auto function = [&] {
      const Pass pass = make_pass(model, test_compute(), input_of(asked.batch), {true, 5, 3});
      const at::Tensor y = trained_head(form.head).logits(pass, model, {.entities = asked.words});
      return (y * normal_tensor(55, y.sizes())).sum();
    };
    EXPECT_LE(worst_gradient_error(tensors, function, 3), 1e-7) << name;
  }
}

// All weights of the head learn, and the LSTM in both directions.
TEST(EntityHead, EveryTensorGetsAGradient) {
  for (const auto& [name, config] : extraction_cases()) {
    Model model = make_tiny(form_of(config));
    const Asked asked = ask(labelled_texts());
    const Pass pass = make_pass(model, test_compute(), input_of(asked.batch), {});
    trained_head(model.form.head).logits(pass, model, {.entities = asked.words}).square().sum().backward();
    for (const NamedParameter& parameter : trained_parameters(model)) {
      if (parameter.name.starts_with("embeddings.") || parameter.name.starts_with("encoder.")) continue;
      const at::Tensor gradient = gradient_of(parameter.tensor);
      ASSERT_TRUE(gradient.defined()) << name << ", " << parameter.name;
      EXPECT_GT(gradient.abs().sum().item<double>(), 0) << name << ", " << parameter.name;
    }
  }
}

TEST(EntityHead, BeginsWithMatricesThatKeepTheirScale) {
  Model model = make_model(form_of({.hidden_size = 12}));
  initialise(model, 7);
  visit(model, [](const ParameterSpec& spec, at::Tensor& tensor) {
    if (spec.name.starts_with("embeddings.") || spec.name.starts_with("encoder.")) return;
    const double most = tensor.detach().abs().max().item<double>();
    if (spec.shape.size() == 1) {
      EXPECT_EQ(most, 0) << spec.name;
    } else {
      const double bound = 1 / std::sqrt(static_cast<double>(spec.shape[1]));
      EXPECT_LE(most, bound) << spec.name;
      EXPECT_GT(most, 0.8 * bound) << spec.name;
    }
  });
}

TEST(EntityHead, WantsAnEncoderOfVersion2) {
  ModelForm form = form_of({.hidden_size = 16});
  form.config.layout = Layout::kV1;
  EXPECT_ERROR(make_model(form), kUnsupported, "model_type: expected deberta-v2 for a head of entities, got deberta");
}

}  // namespace
}  // namespace deberta::train::entity_head_test

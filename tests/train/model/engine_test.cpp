// The training model and the engine are two programs of one equation: on every variant they agree to single precision.
// N rows that the head reads  D hidden
#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "checkpoint/conversion.h"
#include "checkpoint/tensor_table.h"
#include "support/torch_numbers.h"
#include "train/model/model_case.h"

namespace deberta::train::engine_test {
namespace {

using namespace test;

constexpr double kTolerance = 5e-5;

at::Tensor to_tensor(const std::vector<float>& values, int64_t rows) {
  return at::from_blob(const_cast<float*>(values.data()), {static_cast<int64_t>(values.size())}, at::kFloat)
      .clone()
      .view({rows, static_cast<int64_t>(values.size()) / rows});
}

// The engine reads what the training model writes.
deberta::Model to_engine(Model& model, MaskDecoder mask_decoder) {
  const TemporaryFolder folder;
  write_safetensors(folder.path("model.safetensors"), to_views(model));
  return deberta::Model::load(Checkpoint::open(folder.path()), model.form.config,
                              {.threads = 1, .mask_decoder = mask_decoder});
}

// Logits of the rows `rows_N`; empty: of all.
at::Tensor logits_of(const Pass& pass, const Model& model, std::vector<int32_t> rows_N) {
  if (rows_N.empty()) {
    rows_N.resize(pass.tokens->count());
    std::iota(rows_N.begin(), rows_N.end(), 0);
  }
  return trained_head(model.form.head).logits(pass, model, {.rows_N = rows_N});
}

at::Tensor real_rows(const Batch& batch) {
  if (batch.mask_T.empty()) return at::ones({static_cast<int64_t>(batch.ids_T.size()), 1}, at::kFloat);
  return to_tensor(std::vector<float>(batch.mask_T.begin(), batch.mask_T.end()),
                   static_cast<int64_t>(batch.mask_T.size()));
}

TEST(TrainAndEngine, AgreeOnEveryVariant) {
  double worst = 0;
  for (const auto& [name, form] : engine_form_cases()) {
    Model model = make_tiny(form);
    const Batch batch = make_holed_batch(form.config);
    const deberta::Model engine = to_engine(model, MaskDecoder::kAuto);
    EXPECT_EQ(engine.has_mask_decoder(), form.has_mask_decoder()) << name;
    ForwardOptions options;
    for (int32_t n = 0; n <= form.config.num_hidden_layers; ++n) options.layers.push_back(n);
    if (form.head == Head::kMaskedLm) options.rows = {0, 5, 9, 11, 23};
    ForwardResult result;
    engine.forward(batch, options, result);

    const at::NoGradGuard no_gradients;
    const Pass pass = make_pass(model, test_compute(), input_of(batch), {});
    const EncoderStates states = encode(pass, model);
    const at::Tensor real_T = real_rows(batch);
    for (size_t n = 0; n < states.hidden_TD.size(); ++n) {
      const at::Tensor expected = to_tensor(result.hidden[n].rows_TD, 24);
      const double error = worst_difference(expected * real_T, states.hidden_TD[n] * real_T);
      EXPECT_LE(error, kTolerance) << name << ", hidden " << n;
      worst = std::max(worst, error);
    }
    if (form.head == Head::kNone) continue;
    at::Tensor got = logits_of(pass, model, options.rows);
    at::Tensor expected = to_tensor(result.logits, static_cast<int64_t>(result.logits_rows));
    if (got.size(0) == 24) {
      got = got * real_T;
      expected = expected * real_T;
    }
    const double error = worst_difference(expected, got);
    EXPECT_LE(error, kTolerance) << name << ", logits";
    worst = std::max(worst, error);
  }
  RecordProperty("worst", std::to_string(worst));
}

// The last layer of v3, of the convolution and of absolute positions at the input, and its gradients.
void expect_agreement(const Batch& batch, const std::string& what) {
  const auto count = static_cast<int64_t>(batch.ids_T.size());
  for (const auto& [name, form] : engine_form_cases()) {
    if (name != "v3" && name != "convolution" && name != "positions_at_the_input") continue;
    if (form.config.position_biased_input && batch.longest > form.config.max_position_embeddings) continue;
    Model model = make_tiny(form);
    const at::Tensor expected_TD = to_tensor(last_hidden(to_engine(model, MaskDecoder::kAuto), batch), count);
    const Pass pass = make_pass(model, test_compute(), input_of(batch), {});
    const at::Tensor got_TD = encode(pass, model).hidden_TD.back(), real_T = real_rows(batch);
    EXPECT_LE(worst_difference(expected_TD * real_T, got_TD * real_T), kTolerance) << what << ", " << name;
    (got_TD * real_T).square().sum().backward();
    for (const NamedParameter& parameter : trained_parameters(model)) {
      const at::Tensor gradient = test::gradient_of(parameter.tensor);
      EXPECT_TRUE(!gradient.defined() || at::isfinite(gradient).all().item<bool>()) << what << ", " << parameter.name;
    }
    const at::Tensor table_RD = test::gradient_of(model.encoder.relative.rel_embeddings_RD);
    EXPECT_EQ(table_RD[0].abs().sum().item<double>(), 0) << what << ": no distance has row 0";
  }
}

TEST(TrainAndEngine, AgreeWhateverIsMasked) {
  const auto expect = [](const std::string& what, const std::vector<uint8_t>& mask_T) {
    Batch batch = make_batch({make_ids(1, 12), make_ids(2, 5)});
    batch.mask_T = mask_T;
    expect_agreement(batch, what);
  };
  expect("none", {});
  expect("left", {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1});
  expect("right", {1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0});
  expect("holes", {1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 0, 1});
  expect("a whole sequence", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0});
  expect("all", std::vector<uint8_t>(17, 0));
}

// Distances of 15 and more have the last row of either side.
TEST(TrainAndEngine, AgreeBeyondTheFarthestDistance) {
  for (const size_t length : {15u, 16u, 17u, 18u, 70u}) {
    expect_agreement(make_batch({make_ids(1, length), make_ids(2, 3)}), std::to_string(length));
  }
}

// Fused tensors come in split, and the split ones with their key biases at 0 go out fused, byte for byte.
TEST(Version1, ComesInFusedAndIsTrainedSplit) {
  ModelForm form = make_form(Head::kMaskedLm, make_version_1);
  const TemporaryFolder folder;
  write_tiny_model(folder.path(), form.config, Head::kMaskedLm);
  const Checkpoint fused = Checkpoint::open(folder.path());
  const deberta::Model engine = deberta::Model::load(fused, form.config, {.threads = 1});
  Model model = make_model(form);
  load_parameters(model, fused);
  for (const NamedParameter& parameter : trained_parameters(model)) {
    EXPECT_FALSE(parameter.name.ends_with("key_proj.bias")) << parameter.name;
  }
  const at::NoGradGuard no_gradients;
  const Batch batch = make_batch({make_ids(1, 9), make_ids(3, 14)});
  ForwardOptions options;
  options.rows = {1, 4, 20};
  ForwardResult result;
  engine.forward(batch, options, result);
  const Pass pass = make_pass(model, test_compute(), input_of(batch), {});
  EXPECT_LE(worst_difference(to_tensor(result.logits, 3), logits_of(pass, model, options.rows)), kTolerance);

  const TemporaryFolder trained;
  write_safetensors(trained.path("model.safetensors"), to_views(model));
  ModelConfig split = form.config;
  split.layout = Layout::kV2;
  split.raw = to_json(split).dump(1);
  const Checkpoint written = Checkpoint::open(trained.path());
  ConversionOptions to_fused;
  to_fused.layout = Layout::kV1;
  const Conversion back = plan_conversion(written, split, to_fused, "model");
  size_t compared = 0;
  for (const PlannedTensor& tensor : back.tensors) {
    const TensorView* original = fused.find(tensor.canonical);
    if (original == nullptr) continue;
    std::vector<std::byte> bytes;
    for (const Bytes& run : tensor.runs) bytes.insert(bytes.end(), run.begin(), run.end());
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), original->bytes.begin(), original->bytes.end()))
        << tensor.canonical;
    ++compared;
  }
  EXPECT_EQ(compared, fused.tensors().size());
}

}  // namespace
}  // namespace deberta::train::engine_test

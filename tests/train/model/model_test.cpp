// Names, initialisation, loading and refusals; what packing and dropout may not change.
// T packed tokens  D hidden
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "checkpoint/tensor_table.h"
#include "support/expect_error.h"
#include "support/implementations.h"
#include "support/torch_numbers.h"
#include "train/model/model_case.h"
#include "train/ops/attention.h"
#include "train/ops/convolution.h"
#include "train/ops/dropout.h"

namespace deberta::train::model_test {
namespace {

using namespace test;

// The table lists an absolute table that need not be there, and nothing reads; all else is the same.
TEST(TensorTable, HasTheNamesAndShapesOfTheModel) {
  for (const auto& [name, form] : form_cases()) {
    Model model = make_model(form);
    std::vector<std::pair<std::string, Shape>> expected, got;
    for (const TensorSpec& spec : list_tensors(form.config, facts_of(form.head), form.labels)) {
      const bool is_read = spec.name != "embeddings.position_embeddings.weight" || form.reads_positions();
      if (is_read) expected.emplace_back(spec.name, spec.shape);
    }
    visit(model, [&](const ParameterSpec& spec, at::Tensor& tensor) {
      EXPECT_EQ(tensor.sizes(), at::IntArrayRef(spec.shape)) << spec.name;
    });
    for (const TensorView& view : to_views(model)) got.emplace_back(view.name, view.shape);
    std::sort(expected.begin(), expected.end());
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got, expected) << name;
  }
}

TEST(Initialisation, IsNormalWithZerosAndOnesWhereTheyBelong) {
  ModelForm form = make_form(Head::kMaskedLm);
  form.config.vocab_size = 3000;
  Model model = make_model(form);
  initialise(model, 7);
  const at::Tensor word = model.embeddings.word_VE.detach().to(at::kDouble);
  EXPECT_EQ(word[0].abs().sum().item<double>(), 0) << "the padding row";
  const at::Tensor rest = word.narrow(0, 1, 2999);
  EXPECT_NEAR(rest.mean().item<double>(), 0, 3e-4);
  EXPECT_NEAR(rest.square().mean().sqrt().item<double>(), form.config.initializer_range, 3e-4);
  EXPECT_GT(rest.abs().max().item<double>(), 3.5 * form.config.initializer_range);
  visit(model, [](const ParameterSpec& spec, at::Tensor& tensor) {
    const double sum = tensor.detach().abs().sum().item<double>();
    if (spec.name.ends_with("bias")) {
      EXPECT_EQ(sum, 0) << spec.name;
    }
    if (spec.name.ends_with("LayerNorm.weight")) {
      EXPECT_EQ(sum, static_cast<double>(tensor.numel())) << spec.name;
    }
  });
}

TEST(Initialisation, IsAFunctionOfSeedAndName) {
  Model a = make_model(make_form()), b = make_model(make_form()), c = make_model(make_form());
  initialise(a, 1);
  initialise(b, 1);
  initialise(c, 2);
  const auto query = [](const Model& model, size_t layer) {
    return model.encoder.layers[layer].attention.query_proj.weight_OI;
  };
  EXPECT_EQ(worst_difference(query(a, 0), query(b, 0)), 0);
  EXPECT_GT(worst_difference(query(a, 0), query(c, 0)), 0.01);
  EXPECT_GT(worst_difference(query(a, 0), query(a, 1)), 0.01);
}

TEST(Loading, NamesEverythingThatIsMissingOrHasAnotherShape) {
  const TemporaryFolder folder;
  write_tiny_model(folder.path(), tiny_config());
  const Checkpoint checkpoint = Checkpoint::open(folder.path());
  ModelForm form = make_form(Head::kSequence);
  Model model = make_model(form);
  EXPECT_ERROR(load_parameters(model, checkpoint), kTensors, "tensor missing: pooler.dense.weight");
  EXPECT_ERROR(load_parameters(model, checkpoint), kTensors, "tensor missing: classifier.bias");
  const std::vector<std::string> expected = {"pooler.dense.weight", "pooler.dense.bias", "classifier.weight",
                                             "classifier.bias"};
  EXPECT_EQ(load_parameters(model, checkpoint, {.allows_new_head = true}), expected);
  form.config.vocab_size = 49;
  model = make_model(form);
  EXPECT_ERROR(load_parameters(model, checkpoint, {.allows_new_head = true}), kTensors,
               "embeddings.word_embeddings.weight: expected shape [49, 16], got [50, 16]");
}

// Beside the table, discriminators that share embeddings have the difference from the generator's.
TEST(Loading, ReadsTheWholeTableNotTheDifferenceBesideIt) {
  const TemporaryFolder folder;
  write_tiny_model(folder.path(), tiny_config());
  const Checkpoint plain = Checkpoint::open(folder.path());
  std::vector<TensorView> tensors = plain.tensors();
  const std::vector<float> difference(50 * 16, 0.5f);
  tensors.push_back(
      {"embeddings.word_embeddings._weight", DType::kF32, {50, 16}, std::as_bytes(std::span(difference))});
  Model expected = make_model(make_form()), got = make_model(make_form());
  load_parameters(expected, plain);
  load_parameters(got, Checkpoint::from_memory(tensors, "both"));
  EXPECT_EQ(worst_difference(got.embeddings.word_VE, expected.embeddings.word_VE), 0);
}

// Layers below the head of twelve, as docs/reference/fine-tuning.md has them.
TEST(LayersBelowHead, AreThoseOfTheTable) {
  ModelForm form = make_form(Head::kSequence, [](ModelConfig& c) {
    c.num_hidden_layers = 12;
    c.conv_kernel_size = 3;
  });
  const auto check = [&](const std::vector<std::pair<std::string, int64_t>>& cases) {
    for (const auto& [name, depth] : cases) EXPECT_EQ(layers_below_head(form, name), depth) << name;
  };
  check({{"classifier.weight", 0},
         {"pooler.dense.bias", 0},
         {"encoder.layer.11.output.dense.weight", 1},
         {"encoder.layer.10.output.dense.weight", 2},
         {"encoder.layer.1.attention.self.query_proj.weight", 11},
         {"encoder.layer.0.output.LayerNorm.bias", 12},
         {"encoder.conv.conv.weight", 12},
         {"encoder.conv.LayerNorm.weight", 12},
         {"encoder.rel_embeddings.weight", 13},
         {"encoder.LayerNorm.weight", 13},
         {"embeddings.LayerNorm.weight", 13},
         {"embeddings.word_embeddings.weight", 13}});
  form.config.norm_first = true;
  check({{"encoder.final_LayerNorm.weight", 1}});
  form.config.shares_layers = true;
  check({{"encoder.layer.0.output.dense.weight", 1}, {"embeddings.word_embeddings.weight", 2}});
}

TEST(TrainedParameters, HaveTheRateOfTheHeadOrADecayForEachLayerBelowIt) {
  Model model = make_model(make_form(Head::kSequence));  // has two layers
  size_t heads = 0;
  for (const NamedParameter& parameter : trained_parameters(model, {.head = 3, .decay = .5})) {
    const std::string& name = parameter.name;
    const bool is_head = name.starts_with("pooler.") || name.starts_with("classifier.");
    heads += is_head;
    EXPECT_EQ(parameter.rate, is_head                               ? 3
                              : name.starts_with("encoder.layer.1") ? .5
                              : name.starts_with("encoder.layer.0") ? .25
                                                                    : .125)
        << name;
  }
  EXPECT_EQ(heads, 4U);
  for (const NamedParameter& parameter : trained_parameters(model)) EXPECT_EQ(parameter.rate, 1) << parameter.name;
}

TEST(Forms, ThatCannotBeTrainedAreRefusedWithEveryReason) {
  ModelForm form = make_form(Head::kMaskedLm);
  form.config.num_hidden_layers = 1;
  form.config.embedding_size = 8;
  EXPECT_ERROR(make_model(form), kUnsupported, "at least 2 for the mask decoder");
  EXPECT_ERROR(make_model(form), kUnsupported, "embedding_size: expected hidden_size 16");
  form.config.mask_decoder_passes = 4;
  EXPECT_ERROR(make_model(form), kUnsupported, "mask_decoder_passes: expected 0 to 3, got 4");
  form = make_form();
  form.config.conv_kernel_size = 2;
  EXPECT_ERROR(make_model(form), kUnsupported, "conv_kernel_size: expected an odd number, got 2");
  form.config.conv_kernel_size = 3;
  form.config.is_causal = true;
  EXPECT_ERROR(make_model(form), kUnsupported, "conv_kernel_size: expected 0, as a convolution sees the token");
  form = make_form();
  form.config.talking_head = true;
  EXPECT_ERROR(make_model(form), kUnsupported, "talking_head");
  form = make_form();
  form.config.attention_head_size = 4;
  EXPECT_ERROR(make_model(form), kUnsupported, "hidden_size: expected 8");
  form = make_form();
  form.config.has_p2p = true;
  form.config.has_c2p = false;
  EXPECT_ERROR(make_model(form), kUnsupported, "pos_att_type: expected c2p and p2c beside p2p");
  form = make_form();
  form.config.layout = Layout::kV1;
  form.config.norm_first = true;
  EXPECT_ERROR(make_model(form), kUnsupported, "model_type: expected deberta-v2");
  form = make_form();
  form.config.shares_layers = true;
  form.frozen_layers = 1;
  EXPECT_ERROR(make_model(form), kUnsupported, "frozen layers: expected none or all with share_layers, got 1");
  form = make_form(Head::kSequence);
  form.labels = 0;
  EXPECT_ERROR(make_model(form), kUnsupported, "classes of the head");
}

TEST(Batches, ThatDoNotFitAreRefused) {
  const Model model = make_model(make_form(Head::kMaskedLm));
  const auto pass_of = [&](const Batch& batch) { return make_pass(model, test_compute(), input_of(batch), {}); };
  Batch batch = make_batch({{1, 2, 50}});
  EXPECT_ERROR(pass_of(batch), kTokenId, "batch, token 2: token id: expected 0 to 49, got 50");
  batch = make_batch({{1, 2, 3}});
  batch.starts = {0, 2};
  EXPECT_ERROR(pass_of(batch), kInput, "starts: expected ascending numbers from 0 to 3 tokens");
  batch = make_batch({make_ids(1, 17)});
  EXPECT_ERROR(pass_of(batch), kInput, "position: expected 0 to 15, got 16");
  batch = make_batch({{1, 2, 3}});
  batch.mask_T = {1, 1};
  EXPECT_ERROR(pass_of(batch), kInput, "mask: expected 3 elements, got 2");
}

at::Tensor last_hidden(const Model& model, const Batch& batch, const DropoutStream& dropout, uint32_t first = 0) {
  ModelInput input = input_of(batch);
  input.first_sequence = first;
  return encode(make_pass(model, test_compute(), input, dropout), model).hidden_TD.back();
}

// A sequence of the tests of packs; some have a hole.
struct Sequence {
  std::vector<int32_t> ids;
  int32_t hole = -1;
};

// The states of one sequence: h_0 .. h_N, and what the head of words reads at every other token.
using States = std::vector<at::Tensor>;

// Those of each sequence of a pack whose first is number `first` of the step.
std::vector<States> states_of(const Model& model, const Compute& compute, const std::vector<Sequence>& pack,
                              const DropoutStream& dropout, uint32_t first) {
  const at::NoGradGuard no_gradients;
  Batch batch;
  std::vector<int32_t> rows_P;
  std::vector<uint8_t> mask_T;
  std::vector<int64_t> sizes, chosen;
  bool has_holes = false;
  for (const Sequence& sequence : pack) {
    const auto begin = static_cast<int32_t>(batch.ids_T.size()), size = static_cast<int32_t>(sequence.ids.size());
    batch.add(sequence.ids);
    for (int32_t t = 0; t < size; ++t) {
      mask_T.push_back(t != sequence.hole);
      if (t % 2 == 0) rows_P.push_back(begin + t);
    }
    has_holes = has_holes || sequence.hole >= 0;
    sizes.push_back(size);
    chosen.push_back((size + 1) / 2);
  }
  if (has_holes) batch.mask_T = mask_T;
  ModelInput input = input_of(batch);
  input.first_sequence = first;
  const Pass pass = make_pass(model, compute, input, dropout);
  std::vector<States> states(pack.size());
  const auto split = [&](const at::Tensor& x_ND, const std::vector<int64_t>& counts) {
    int64_t begin = 0;
    for (size_t b = 0; b < counts.size(); begin += counts[b++]) {
      states[b].push_back(x_ND.narrow(0, begin, counts[b]));
    }
  };
  for (const at::Tensor& h_TD : encode(pass, model).hidden_TD) split(h_TD, sizes);
  if (model.form.head == Head::kMaskedLm) split(word_states(pass, model, rows_P), chosen);
  return states;
}

bool has_same_bits(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.contiguous(), y = b.contiguous();
  if (x.sizes() != y.sizes() || !at::isfinite(x).all().item<bool>()) return false;
  return std::memcmp(x.const_data_ptr<float>(), y.const_data_ptr<float>(), x.nbytes()) == 0;
}

// Head sizes that every attention kernel takes, inner products longer than a block of the products, odd lengths.
ModelForm wide(ModelForm form) {
  ModelConfig& c = form.config;
  c.embedding_size = c.embedding_size == c.hidden_size ? 64 : 20;
  c.hidden_size = c.pooler_hidden_size = 64;
  c.attention_head_size = 32;
  c.intermediate_size = 1100;
  c.max_position_embeddings = 160;
  return form;
}

// The pack on three threads, each of its sequences alone on one.
void expect_same_alone(const Model& model, const KernelSet& kernels, const std::vector<Sequence>& pack,
                       const DropoutStream& dropout, uint32_t first, const std::string& what) {
  ThreadPool pool(3);
  const Compute packed{.kernels = kernels, .parallel = pool.parallel()}, alone{.kernels = kernels};
  const std::vector<States> got = states_of(model, packed, pack, dropout, first);
  for (uint32_t b = 0; b < pack.size(); ++b) {
    const States expected = states_of(model, alone, {pack[b]}, dropout, first + b)[0];
    for (size_t n = 0; n < expected.size(); ++n) {
      EXPECT_TRUE(has_same_bits(got[b][n], expected[n]))
          << what << ", sequence " << b << " of the pack from " << first << (dropout.is_training ? " with dropout" : "")
          << ", states " << n << ": off by " << worst_difference(got[b][n], expected[n]);
    }
  }
}

TEST(Packing, ChangesNoBitWithDropoutOrWithout) {
  const std::vector<Sequence> pack = {{make_ids(1, 9)},    {make_ids(2, 1)},  {make_ids(3, 131), 70}, {make_ids(4, 17)},
                                      {make_ids(5, 3), 0}, {make_ids(6, 65)}, {make_ids(7, 33)}};
  const std::vector<Sequence> other_order = {pack[5], pack[2], pack[6], pack[0], pack[4], pack[1], pack[3]};
  for (const auto& [name, tiny] : form_cases()) {
    if (tiny.head != Head::kNone && tiny.head != Head::kMaskedLm) continue;
    const Model model = make_tiny(wide(tiny));
    for (const KernelLevel level : levels_of(Operation::kGemm)) {
      if (level == KernelLevel::kReference && name != "v3") continue;  // plain loops over each row
      const std::string what = name + ", " + std::string(to_string(level));
      for (const bool is_training : {false, true}) {
        const DropoutStream dropout{is_training, 5, 3};
        expect_same_alone(model, select_kernels(to_string(level)), pack, dropout, 0, what);
        expect_same_alone(model, select_kernels(to_string(level)), other_order, dropout, 4, what);
      }
    }
  }
}

// The last states, and the gradients of all parameters.
States states_and_gradients(const ModelForm& form, const Compute& compute, bool has_whole_table) {
  Model model = make_tiny(form);
  const Batch batch = make_batch({make_ids(1, 9), make_ids(2, 20)});
  Pass pass = make_pass(model, compute, input_of(batch), {.is_training = true, .seed = 5, .step = 3});
  if (has_whole_table) {
    const ModelConfig& c = form.config;
    pass.lut = std::make_shared<RelLut>(RelLutParams{c.position_buckets, c.max_relative_positions, true, 20});
  }
  EXPECT_EQ(pass.lut->rows() == 2 * form.config.span(), has_whole_table);
  States states = {encode(pass, model).hidden_TD.back()};
  states[0].square().sum().backward();
  for (const NamedParameter& parameter : trained_parameters(model)) {
    const at::Tensor gradient = test::gradient_of(parameter.tensor);
    if (gradient.defined()) states.push_back(gradient);
  }
  return states;
}

TEST(RelativeTable, RowsThatNoSequenceReachesChangeNoBit) {
  for (const auto& [name, tiny] : form_cases()) {
    ModelForm form = wide(tiny);
    if (form.head != Head::kNone || !form.config.relative_attention || form.config.attention_terms() == 1) continue;
    form.config.max_relative_positions = 128;
    if (form.config.position_buckets > 0) form.config.position_buckets = 64;
    for (const Implementation& implementation :
         implementations(Operation::kGemm, {Precision::kFp32, Precision::kBf16})) {
      if (implementation.level == KernelLevel::kReference && name != "v3") continue;  // plain loops over each row
      const Compute compute{.kernels = implementation.kernels(), .precision = implementation.precision};
      const States got = states_and_gradients(form, compute, false);
      const States expected = states_and_gradients(form, compute, true);
      ASSERT_EQ(got.size(), expected.size());
      for (size_t n = 0; n < expected.size(); ++n)
        EXPECT_TRUE(has_same_bits(got[n], expected[n])) << name << ", " << implementation << ", " << n;
    }
  }
}

// Gradients of a sum over the states, where there are any.
States gradients_of_sum(Model& model, const at::Tensor& states_ND) {
  States gradients;
  for (const NamedParameter& parameter : trained_parameters(model)) parameter.tensor.mutable_grad().reset();
  (states_ND * normal_tensor(55, states_ND.sizes()).to(states_ND.scalar_type())).sum().backward({}, true);
  for (const NamedParameter& parameter : trained_parameters(model)) {
    if (parameter.tensor.grad().defined()) gradients.push_back(test::gradient_of(parameter.tensor).clone());
  }
  return gradients;
}

// Whatever the form, the last layer computes only these rows: the same bits, and in double the same gradients.
TEST(ChosenRows, AreThoseOfTheWholePass) {
  const std::vector<int32_t> rows_N = {0, 9, 14, 28};
  for (const auto& [name, tiny] : form_cases()) {
    for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
      Model model = make_tiny(wide(tiny), type);
      const Batch batch = make_batch({make_ids(1, 9), make_ids(2, 20)});
      const Pass pass = make_pass(model, test_compute(), input_of(batch), {.is_training = true, .seed = 5, .step = 3});
      const at::Tensor sum_TD = sum_embeddings(pass, model.embeddings);
      const at::Tensor expected_ND = take_rows(encode(pass, model, sum_TD).hidden_TD.back(), rows_N);
      const at::Tensor got_ND = encode_rows(pass, model, sum_TD, rows_N);
      if (type == at::kFloat) {
        EXPECT_TRUE(has_same_bits(got_ND.detach(), expected_ND.detach())) << name;
        continue;
      }
      const States expected = gradients_of_sum(model, expected_ND), got = gradients_of_sum(model, got_ND);
      ASSERT_EQ(got.size(), expected.size()) << name;
      for (size_t n = 0; n < got.size(); ++n)
        EXPECT_LE(worst_difference(got[n], expected[n]), 1e-11) << name << ", gradient " << n;
    }
  }
}

TEST(DropoutPlaces, DifferBetweenStepsSeedsAndSequencesOnlyInTraining) {
  const Model model = make_tiny(make_form());
  const Batch batch = make_batch({make_ids(1, 9)});
  const at::Tensor base = last_hidden(model, batch, {true, 5, 3});
  EXPECT_EQ(worst_difference(base, last_hidden(model, batch, {true, 5, 3})), 0);
  EXPECT_GT(worst_difference(base, last_hidden(model, batch, {true, 5, 4})), 0.01);
  EXPECT_GT(worst_difference(base, last_hidden(model, batch, {true, 6, 3})), 0.01);
  EXPECT_GT(worst_difference(base, last_hidden(model, batch, {true, 5, 3}, 1)), 0.01);
  EXPECT_EQ(worst_difference(last_hidden(model, batch, {false, 5, 3}), last_hidden(model, batch, {false, 6, 4}, 1)), 0);
}

TEST(DropoutPlaces, OfTheRelativeTableAreOneDrawForEachLayer) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const Model model = make_tiny(make_form(), type);
    const Batch batch = make_batch({make_ids(1, 9)});
    const Pass pass = make_pass(model, test_compute(), input_of(batch), {true, 5, 3});
    ModelInput later = input_of(batch);
    later.first_sequence = 8;
    const Pass next = make_pass(model, test_compute(), later, {true, 5, 3});
    const at::Tensor table = relative_table(pass, model.encoder.relative);
    const at::Tensor first = drop_relative(pass, table, 0);
    EXPECT_EQ(worst_difference(first, drop_relative(next, table, 0)), 0) << "however the step is split";
    EXPECT_GT(worst_difference(first, drop_relative(pass, table, 1)), 0.1);
  }
}

// Every layer has the gradient of all its uses, and files have it as often as it is used.
TEST(SharedLayers, AreOneTensorEach) {
  Model shared = make_tiny(make_form(Head::kNone, [](ModelConfig& c) { c.shares_layers = true; }), at::kDouble);
  Model apart = make_tiny(make_form(), at::kDouble);
  const Layer& layer = shared.encoder.layers[0];
  EXPECT_TRUE(layer.feed_forward.output.weight_OI.is_same(shared.encoder.layers[1].feed_forward.output.weight_OI));
  apart.encoder.layers[1] = Layer();
  visit(apart, [&](const ParameterSpec& spec, at::Tensor& tensor) {
    if (!spec.name.starts_with("encoder.layer.1.")) return;
    visit(shared, [&](const ParameterSpec& other, at::Tensor& same) {
      if ("encoder.layer.1." + other.name.substr(16) == spec.name && other.name.starts_with("encoder.layer.0."))
        tensor = same.detach().clone().requires_grad_();
    });
  });
  const Batch batch = make_batch({make_ids(1, 9), make_ids(2, 5)});
  for (Model* model : {&shared, &apart}) {
    const Pass pass = make_pass(*model, test_compute(), input_of(batch), {});
    gradients_of_sum(*model, encode(pass, *model).hidden_TD.back());
  }
  const auto gradient = [](const Model& model, size_t n) {
    return model.encoder.layers[n].attention.key_proj.weight_OI.grad();
  };
  EXPECT_LE(worst_difference(gradient(shared, 0), gradient(apart, 0) + gradient(apart, 1)), 1e-12);
}

// Q_i . K_j + Q_i . Kr + K_j . Qr + Qr_row(i) . Kr, all over sqrt(4 d), one number at a time.
TEST(PositionToPosition, IsTheEquation) {
  const Model model = make_tiny(make_form(Head::kNone, [](ModelConfig& c) { c.has_p2p = true; }), at::kDouble);
  const at::NoGradGuard no_gradients;
  const Batch batch = make_batch({make_ids(2, 3), make_ids(1, 9)});
  const Pass pass = make_pass(model, test_compute(), input_of(batch), {});
  const Attention& a = model.encoder.layers[0].attention;
  const at::Tensor x = embed(pass, model.embeddings), relative = relative_table(pass, model.encoder.relative);
  const at::Tensor table = drop_relative(pass, relative, 0);
  const auto project = [](const Linear& linear, const at::Tensor& rows) {
    return at::matmul(rows, linear.weight_OI.t()) + linear.bias_O;
  };
  const at::Tensor q = project(a.query_proj, x), k = project(a.key_proj, x), v = project(a.value_proj, x);
  const at::Tensor kr = project(a.key_proj, table), qr = project(a.query_proj, table);
  at::Tensor mixed = at::zeros_like(q);
  for (const auto& [begin, length] : {std::pair<int64_t, int64_t>{0, 3}, {3, 9}}) {
    for (int64_t head = 0; head < 2; ++head) {
      const auto part = [&](const at::Tensor& rows, int64_t n) { return rows[n].narrow(0, 8 * head, 8); };
      for (int64_t i = 0; i < length; ++i) {
        at::Tensor scores = at::zeros({length}, at::kDouble);
        for (int64_t j = 0; j < length; ++j) {
          const int32_t row = pass.lut->row(i - j), own = pass.lut->row(i);
          scores[j] = (part(q, begin + i).dot(part(k, begin + j)) + part(q, begin + i).dot(part(kr, row)) +
                       part(k, begin + j).dot(part(qr, row)) + part(qr, own).dot(part(kr, row))) /
                      std::sqrt(4.0 * 8);
        }
        mixed[begin + i].narrow(0, 8 * head, 8) +=
            at::matmul(scores.softmax(0), v.narrow(0, begin, length).narrow(1, 8 * head, 8));
      }
    }
  }
  const at::Tensor expected = add_norm(pass.compute, project(a.dense, mixed), x, pass.norm(a.norm), {}, *pass.tokens);
  EXPECT_LE(worst_difference(attend_to_itself(pass, a, x, relative, 0), expected), 1e-12);
}

TEST(NormFirst, IsTheEquation) {
  const Model model = make_tiny(make_form(Head::kNone, [](ModelConfig& c) { c.norm_first = true; }), at::kDouble);
  Model after = make_tiny(make_form(), at::kDouble);
  const at::NoGradGuard no_gradients;
  const Batch batch = make_batch({make_ids(1, 9)});
  const Pass pass = make_pass(model, test_compute(), input_of(batch), {});
  const Pass plain = make_pass(after, test_compute(), input_of(batch), {});
  const at::Tensor relative = relative_table(pass, model.encoder.relative);
  const auto norm = [&](const Norm& weights, const at::Tensor& x) {
    return layer_norm(pass.compute, x, pass.norm(weights));
  };
  // The blocks of the published order, their norms taken away by norms that do nothing here.
  const auto block_of = [&](const Layer& layer, const at::Tensor& x, bool is_attention) {
    AttentionInputs inputs;
    inputs.queries = inputs.keys = plain.tokens;
    inputs.lut = plain.lut;
    inputs.heads = 2;
    const auto project = [](const Linear& linear, const at::Tensor& rows) {
      return at::matmul(rows, linear.weight_OI.t()) + linear.bias_O;
    };
    if (!is_attention) {
      const at::Tensor inner = at::gelu(project(layer.feed_forward.intermediate, x));
      return project(layer.feed_forward.output, inner);
    }
    const Attention& a = layer.attention;
    const at::Tensor table = drop_relative(plain, relative, 0);
    inputs.q_ND = project(a.query_proj, x);
    inputs.k_TD = project(a.key_proj, x);
    inputs.v_TD = project(a.value_proj, x);
    inputs.kr_RD = project(a.key_proj, table);
    inputs.qr_RD = project(a.query_proj, table);
    inputs.scale = 1 / std::sqrt(3.0 * 8);
    return project(a.dense, attention(pass.compute, inputs));
  };
  at::Tensor x = embed(pass, model.embeddings);
  for (const Layer& layer : model.encoder.layers) {
    x = x + block_of(layer, norm(layer.attention.norm, x), true);
    x = x + block_of(layer, norm(layer.feed_forward.norm, x), false);
  }
  EXPECT_LE(worst_difference(encode(pass, model).hidden_TD.back(), norm(model.encoder.final_norm, x)), 1e-12);
}

TEST(FixedDistances, AreSinusoidsThatNothingTrains) {
  ModelForm form = make_form(Head::kNone, [](ModelConfig& c) { c.has_fixed_distances = true; });
  Model model = make_model(form);
  initialise(model, 3);
  const at::Tensor table = model.encoder.relative.rel_embeddings_RD;
  EXPECT_FALSE(table.requires_grad());
  ASSERT_EQ(table.size(0), 16);
  for (const int64_t distance : {-8, -1, 0, 3, 7}) {
    for (const int64_t d : {0, 5, 8, 15}) {
      const double angle = static_cast<double>(distance) * std::pow(10000, -2.0 * static_cast<double>(d % 8) / 16);
      EXPECT_NEAR(table[distance + 8][d].item<double>(), d < 8 ? std::sin(angle) : std::cos(angle), 1e-6);
    }
  }
  for (const NamedParameter& parameter : trained_parameters(model))
    EXPECT_NE(parameter.name, "encoder.rel_embeddings.weight");
}

// After all layers, each pass with a layer of its own on the keys and values of h_N.
TEST(MaskDecoder, OfItsOwnLayersFollowsTheEncoder) {
  const ModelForm form = make_form(Head::kMaskedLm, [](ModelConfig& c) { c.has_own_decoder = true; });
  const Model model = make_tiny(form, at::kDouble);
  ASSERT_EQ(model.encoder.decoder_layers.size(), 2u);
  const Batch batch = make_batch({make_ids(1, 9), make_ids(2, 5)});
  const std::vector<int32_t> rows = {2, 3, 12};
  const Pass pass = make_pass(model, test_compute(), input_of(batch), {true, 5, 3});
  const EncoderStates states = encode(pass, model);
  const at::Tensor& h_TD = states.hidden_TD.back();
  at::Tensor q_TD = model.embeddings.position_PE.index_select(0, pass.position_ids_T) + h_TD;
  for (size_t k = 0; k < 2; ++k) {
    const Layer& layer = model.encoder.decoder_layers[k];
    const KeysValues keys = project_keys_values(pass, layer.attention, h_TD);
    q_TD = query_layer(pass, layer, {q_TD, pass.tokens}, keys, states.relative_RD, 2 + k);
  }
  const at::Tensor expected = transform_for_words(pass, model.head, take_rows(q_TD, rows));
  EXPECT_LE(worst_difference(word_states(pass, model, rows), expected), 1e-12);
}

// Each pass of the mask decoder draws its own numbers: as layers N - 1, N, ...
TEST(MaskDecoder, PassesAreNumberedOnFromTheLastLayer) {
  for (const int64_t passes : {1, 2, 3}) {
    ModelForm form = make_form(Head::kMaskedLm);
    form.config.mask_decoder_passes = passes;
    const Model model = make_tiny(form, at::kDouble);
    const Batch batch = make_batch({make_ids(1, 9), make_ids(2, 5)});
    const std::vector<int32_t> rows = {2, 3, 12};
    const Pass pass = make_pass(model, test_compute(), input_of(batch), {true, 5, 3});
    const EncoderStates states = encode(pass, model.encoder, embed(pass, model.embeddings), 1);
    const std::vector<at::Tensor> decoded =
        decode_masked(pass, model.encoder, model.embeddings.position_PE, states, rows);
    ASSERT_EQ(decoded.size(), static_cast<size_t>(passes));
    // By hand, for every token: rows are independent.
    const Layer& layer = model.encoder.layers.back();
    const at::Tensor& h_TD = states.hidden_TD.back();
    at::Tensor q_TD = model.embeddings.position_PE.index_select(0, pass.position_ids_T) + h_TD;
    for (size_t k = 0; k < decoded.size(); ++k) {
      const KeysValues keys = project_keys_values(pass, layer.attention, h_TD);
      q_TD = query_layer(pass, layer, {q_TD, pass.tokens}, keys, states.relative_RD, 1 + k);
      EXPECT_LE(worst_difference(take_rows(q_TD, rows), decoded[k]), 1e-12) << passes << ", pass " << k;
    }
  }
}

ModelForm convolutional() {
  return make_form(Head::kNone, [](ModelConfig& c) {
    c.num_hidden_layers = 1;
    c.conv_kernel_size = 3;
    c.conv_act = Activation::kSigmoid;
  });
}

TEST(Embeddings, OfMaskedTokensAreZero) {
  const Model model = make_tiny(make_form());
  const Batch batch = make_holed_batch(model.form.config);
  const at::Tensor h0_TD = embed(make_pass(model, test_compute(), input_of(batch), {}), model.embeddings);
  for (const int64_t row : {3, 20}) EXPECT_EQ(h0_TD[row].abs().sum().item<double>(), 0) << row;
  EXPECT_GT(h0_TD[4].abs().sum().item<double>(), 0);
}

TEST(Convolution, MaskedTokensAreZeroAfterIt) {
  const Model model = make_tiny(convolutional());
  const at::Tensor h_TD = last_hidden(model, make_holed_batch(model.form.config), {});
  for (const int64_t row : {3, 20}) EXPECT_EQ(h_TD[row].abs().sum().item<double>(), 0) << row;
  EXPECT_GT(h_TD[4].abs().sum().item<double>(), 0);
}

// The sigmoid of a dropped element is 1/2, not 0.
TEST(Convolution, DropsBeforeItsActivation) {
  const Model model = make_tiny(convolutional(), at::kDouble);
  const Batch batch = make_batch({make_ids(1, 9)});
  const Pass pass = make_pass(model, test_compute(), input_of(batch), {true, 5, 3});
  const Convolution& v = model.encoder.convolution;
  const at::Tensor h0_TD = embed(pass, model.embeddings), layer_TD = normal_tensor(4, {9, 16});
  const at::Tensor y_TD = convolution(pass.compute, h0_TD, {v.weight_DCW, v.bias_D, 1}, *pass.tokens);
  const at::Tensor factors =
      dropout_factors(pass.dropout(RandomDomain::kConvolutionDropout, 0.1, 0), *pass.tokens, 16, y_TD);
  EXPECT_GT(factors.eq(0).sum().item<int64_t>(), 5);
  const at::Tensor expected = layer_norm(pass.compute, (y_TD * factors).sigmoid() + layer_TD, pass.norm(v.norm));
  EXPECT_LE(worst_difference(add_convolution(pass, v, h0_TD, layer_TD), expected), 1e-12);
}

TEST(Convolution, AtTheInputIsWhatTheFirstLayerReads) {
  const ModelForm form = make_form(Head::kNone, [](ModelConfig& c) {
    c.conv_kernel_size = 3;
    c.conv_groups = c.hidden_size;
    c.convolves_input = true;
  });
  const Model model = make_tiny(form, at::kDouble);
  const at::NoGradGuard no_gradients;
  const Batch batch = make_holed_batch(form.config);
  const Pass pass = make_pass(model, test_compute(), input_of(batch), {});
  const EncoderStates states = encode(pass, model);
  const at::Tensor h0_TD = embed(pass, model.embeddings);
  const at::Tensor input_TD = add_convolution(pass, model.encoder.convolution, h0_TD, h0_TD);
  EXPECT_LE(worst_difference(states.hidden_TD[0], input_TD), 1e-12);
  EXPECT_GT(worst_difference(h0_TD, input_TD), 1e-3);
  at::Tensor h_TD = input_TD;
  for (size_t n = 0; n < model.encoder.layers.size(); ++n)
    h_TD = encoder_layer(pass, model.encoder.layers[n], h_TD, states.relative_RD, n);
  EXPECT_LE(worst_difference(states.hidden_TD.back(), h_TD), 1e-12);
}

TEST(Memory, OfTheCallerHoldsWeightsAndAddsUpGradients) {
  Model model = make_tiny(make_form()), kept = make_tiny(make_form());
  const std::vector<NamedParameter> before = trained_parameters(model);
  std::vector<std::vector<float>> weights, gradients;
  std::vector<ParameterMemory> memory;
  for (const NamedParameter& parameter : before) {
    weights.emplace_back(static_cast<size_t>(parameter.tensor.numel()));
    gradients.emplace_back(static_cast<size_t>(parameter.tensor.numel()));
    memory.push_back({weights.back().data(), gradients.back().data()});
  }
  move_parameters(model, memory);
  const Batch batch = make_batch({make_ids(1, 9)});
  for (Model* each : {&model, &kept}) {
    for (int time = 0; time < 2; ++time) last_hidden(*each, batch, {}).square().sum().backward();
  }
  const std::vector<NamedParameter> expected = trained_parameters(kept);
  for (size_t n = 0; n < before.size(); ++n) {
    const at::Tensor values = trained_parameters(model)[n].tensor;
    EXPECT_EQ(static_cast<const void*>(values.data_ptr<float>()), weights[n].data());
    EXPECT_EQ(worst_difference(values, expected[n].tensor), 0) << before[n].name;
    EXPECT_EQ(static_cast<const void*>(values.grad().data_ptr<float>()), gradients[n].data()) << before[n].name;
    EXPECT_EQ(worst_difference(values.grad(), test::gradient_of(expected[n].tensor)), 0) << before[n].name;
  }
}

}  // namespace
}  // namespace deberta::train::model_test

// Loading, heads, scores and errors of the model; distances, scale and terms as they reach the scores.
#include "deberta/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/file.h"
#include "engine/engine_case.h"
#include "kernels/dispatch.h"
#include "support/expect_error.h"
#include "support/test_device.h"

namespace deberta::model_test {
namespace {

using namespace test;

// The level at which models run attention in single precision here.
KernelLevel fast_level() {
  return select_kernels("auto").level_of(Operation::kAttention, Precision::kFp32);
}

AttentionScores first_scores(const Model& model, const Batch& batch) {
  ForwardOptions options;
  options.wants_scores = true;
  options.wants_logits = false;
  return run(model, batch, options).scores.at(0);
}

TEST(Scores, TermsAreThoseOfTheModelAndProbabilitiesFollow) {
  for (const int terms : {0, 1, 2, 3}) {
    ModelConfig config = tiny_config();
    config.has_c2p = (terms & 1) != 0;
    config.has_p2c = (terms & 2) != 0;
    const Model model = load_tiny(config);
    ForwardOptions options;
    options.wants_scores = true;
    const ForwardResult result = run(model, make_batch({make_ids(1, 3), make_ids(2, 5)}), options);
    ASSERT_EQ(result.scores.size(), 4u);
    EXPECT_EQ(result.scores[0].layer, 1);
    EXPECT_EQ(result.scores[1].sequence, 1);
    EXPECT_EQ(result.scores[3].layer, 2);
    const AttentionScores& s = result.scores[1];
    ASSERT_EQ(s.c2c_HLL.size(), 2u * 5 * 5);
    EXPECT_EQ(s.c2p_HLL.empty(), !config.has_c2p);
    EXPECT_EQ(s.p2c_HLL.empty(), !config.has_p2c);
    for (size_t row = 0; row < 10; ++row) {
      std::vector<double> e(5);
      double sum = 0;
      for (size_t j = 0; j < 5; ++j) {
        const size_t at = row * 5 + j;
        double a = double{s.c2c_HLL[at]};
        if (config.has_c2p) a += double{s.c2p_HLL[at]};
        if (config.has_p2c) a += double{s.p2c_HLL[at]};
        sum += e[j] = std::exp(a);
      }
      for (size_t j = 0; j < 5; ++j) EXPECT_NEAR(s.probabilities_HLL[row * 5 + j], e[j] / sum, 1e-5);
    }
  }
}

// Query and key projections without weights, biases 1: every q and k is a vector of ones, c2c = scale * K. With the
// projections shared the relative rows are ones too, so each term equals c2c.
void make_ones(const std::string& name, std::vector<float>& values) {
  const bool is_query_or_key =
      name.find("query_proj") != std::string::npos || name.find("key_proj") != std::string::npos;
  if (is_query_or_key) std::fill(values.begin(), values.end(), name.ends_with("bias") ? 1.0f : 0.0f);
}

TEST(Scores, ScaleCountsTheTermsNamed) {
  for (const int terms : {0, 1, 2, 3}) {
    for (const bool is_relative : {true, false}) {
      ModelConfig config = tiny_config();
      config.has_c2p = (terms & 1) != 0;
      config.has_p2c = (terms & 2) != 0;
      config.relative_attention = is_relative;
      const AttentionScores s =
          first_scores(load_changed(config, Head::kNone, {.threads = 1}, make_ones), make_batch({{1, 2}}));
      const int named = (terms & 1) + (terms >> 1);
      const double expected = 8 / std::sqrt(8.0 * (1 + named));
      EXPECT_NEAR(s.c2c_HLL[1], expected, 1e-6) << "terms " << terms << " relative " << is_relative;
      ASSERT_EQ(s.c2p_HLL.size(), is_relative && config.has_c2p ? 8u : 0u);
      ASSERT_EQ(s.p2c_HLL.size(), is_relative && config.has_p2c ? 8u : 0u);
      for (const float x : s.c2p_HLL) EXPECT_NEAR(x, expected, 1e-6);
      for (const float x : s.p2c_HLL) EXPECT_NEAR(x, expected, 1e-6);
    }
  }
}

TEST(Distance, RulesDifferOnlyBeyondTheTable) {
  ModelConfig config = tiny_config();  // table for 16
  const Model original = load_tiny(config);
  const Model hf = load_tiny(config, Head::kNone, {.threads = 1, .distance = DistanceRule::kHf});
  const Batch inside = make_batch({make_ids(1, 16)});
  const Batch beyond = make_batch({make_ids(1, 17)});
  EXPECT_EQ(last_hidden(original, inside), last_hidden(hf, inside));
  EXPECT_NE(last_hidden(original, beyond), last_hidden(hf, beyond));
}

TEST(Distance, Row0IsReadUnderTheHfRuleAlone) {
  const auto spoil_row_0 = [](const std::string& name, std::vector<float>& values) {
    if (name.ends_with("rel_embeddings.weight")) std::fill_n(values.begin(), 16, 3.0f);
    if (name.ends_with("rel_embeddings.weight")) values[0] = -9.0f;
  };
  const ModelOptions hf{.threads = 1, .distance = DistanceRule::kHf};
  const Batch batch = make_batch({make_ids(1, 40)});
  EXPECT_EQ(last_hidden(load_tiny(tiny_config()), batch),
            last_hidden(load_changed(tiny_config(), Head::kNone, {.threads = 1}, spoil_row_0), batch));
  EXPECT_NE(last_hidden(load_tiny(tiny_config(), Head::kNone, hf), batch),
            last_hidden(load_changed(tiny_config(), Head::kNone, hf, spoil_row_0), batch));
}

TEST(Tables, FollowEveryWeightThatMakesThem) {
  const Batch batch = make_batch({make_ids(1, 10)});
  for (const bool is_shared : {true, false}) {
    ModelConfig config = tiny_config();
    config.share_att_key = is_shared;
    const std::vector<float> before = last_hidden(load_tiny(config), batch);
    std::vector<std::string> names = {"rel_embeddings.weight", "encoder.LayerNorm.weight", "encoder.LayerNorm.bias"};
    if (!is_shared)
      names.insert(names.end(), {"0.attention.self.pos_key_proj.weight", "1.attention.self.pos_query_proj.weight",
                                 "0.attention.self.pos_query_proj.bias"});
    for (const std::string& wanted : names) {
      const auto change = [&](const std::string& name, std::vector<float>& values) {
        if (!name.ends_with(wanted)) return;
        for (size_t i = 0; i < values.size(); i += 3) values[i] += 0.5f;
      };
      EXPECT_NE(last_hidden(load_changed(config, Head::kNone, {.threads = 1}, change), batch), before) << wanted;
    }
  }
}

// Weights in training are evaluated where they are.
TEST(Tables, AreTheSameFromTensorsInMemory) {
  const TemporaryFolder folder;
  write_tiny_model(folder.path(), tiny_config());
  const ModelConfig config = load_model_config(folder.path("config.json"));
  Tensors tensors = read_tensors(folder.path("model.safetensors"));
  const Batch batch = make_batch({make_ids(1, 9)});
  const auto load = [&] {
    std::vector<TensorView> views;
    for (const auto& [name, tensor] : tensors)
      views.push_back({name, DType::kF32, tensor.shape, std::as_bytes(std::span(tensor.values))});
    return load_model(Checkpoint::from_memory(views, "training"), config, {.threads = 1});
  };
  const std::vector<float> expected = last_hidden(load_tiny(tiny_config()), batch);
  EXPECT_EQ(last_hidden(load(), batch), expected);
  for (auto& [name, tensor] : tensors) tensor.values[0] += 1;
  EXPECT_NE(last_hidden(load(), batch), expected);
}

TEST(Heads, TokenLogitsForChosenRowsAreThoseOfAllRows) {
  const Batch batch = make_batch({make_ids(1, 6), make_ids(2, 7)});
  for (const Head head : {Head::kToken, Head::kTokenOriginal, Head::kSpan, Head::kMaskedLm, Head::kReplacedToken}) {
    const Model model = load_tiny(tiny_config(), head);
    EXPECT_EQ(model.head(), head);
    const ForwardResult all = run(model, batch);
    size_t columns = head == Head::kMaskedLm ? 50 : 3;
    if (head == Head::kSpan) columns = 2;
    if (head == Head::kReplacedToken) columns = 1;
    ASSERT_EQ(all.logits_columns, columns);
    ASSERT_EQ(all.logits_rows, 13u);
    ForwardOptions options;
    options.rows = {0, 5, 12};
    const ForwardResult some = run(model, batch, options);
    ASSERT_EQ(some.logits_rows, 3u);
    for (size_t n = 0; n < 3; ++n) {
      const auto row = static_cast<size_t>(options.rows[n]);
      EXPECT_EQ(slice(some.logits, n * columns, (n + 1) * columns),
                slice(all.logits, row * columns, (row + 1) * columns));
    }
  }
}

// If they are not requested, the last layer computes only the rows that the head reads.
TEST(Heads, AskingForTheLastHiddenStatesChangesNoLogit) {
  Batch batch = make_batch({make_ids(1, 6), {}, make_ids(2, 70), make_ids(3, 1)});
  batch.mask_T.assign(77, 1);
  batch.mask_T[1] = batch.mask_T[6] = 0;
  for (const Head head : {Head::kSequence, Head::kToken, Head::kTokenOriginal, Head::kSpan, Head::kReplacedToken}) {
    const Model model = load_tiny(tiny_config(), head);
    ForwardOptions options;
    if (head != Head::kSequence) options.rows = {0, 5, 6, 50, 76};
    const std::vector<float> some = run(model, batch, options).logits;
    options.layers = {2};
    EXPECT_EQ(run(model, batch, options).logits, some) << to_string(head);
  }
}

TEST(Heads, LanguageModelIsTiedToTheWordTable) {
  const Model model = load_changed(tiny_config(), Head::kMaskedLm, {.threads = 1},
                                   [](const std::string& name, std::vector<float>& values) {
                                     if (name.ends_with("word_embeddings.weight"))
                                       std::fill_n(values.begin() + 7 * 16, 16, 0.0f);
                                     if (name == "lm_predictions.lm_head.bias") values[7] = 2.5f;
                                   });
  const ForwardResult result = run(model, make_batch({{1, 2, 3}}));
  EXPECT_EQ(result.logits[50 + 7], 2.5f);
}

TEST(Heads, WithoutLogitsNoneAreComputed) {
  const Model model = load_tiny(tiny_config(), Head::kSequence);
  EXPECT_EQ(model.labels(), 3);
  EXPECT_GT(model.memory_bytes(), 1000u);
  ForwardOptions options;
  options.wants_logits = false;
  options.layers = {0, 2};
  const ForwardResult result = run(model, make_batch({{1, 2, 3}}), options);
  EXPECT_TRUE(result.logits.empty() && result.pooled_BD.empty());
  ASSERT_EQ(result.hidden.size(), 2u);
  EXPECT_EQ(result.hidden[1].layer, 2);
  EXPECT_EQ(result.hidden[0].rows_TD.size(), 3u * 16);
}

TEST(Errors, IdsOutsideTheVocabularyNameRowAndId) {
  const Model model = load_tiny(tiny_config());
  EXPECT_ERROR(run(model, make_batch({{1}, {}, {2, 3, 50}})), kTokenId,
               "row 2, token 2: token id: expected 0 to 49, got 50");
  EXPECT_ERROR(run(model, make_batch({{-1}})), kTokenId, "got -1");
}

TEST(Errors, TypesAndPositionsOutsideTheirTables) {
  ModelConfig config = tiny_config();
  config.type_vocab_size = 2;
  config.position_biased_input = true;
  const Model model = load_tiny(config);
  Batch batch;
  batch.add(std::vector<int32_t>{1, 2}, std::vector<int32_t>{0, 2});
  EXPECT_ERROR(run(model, batch), kInput, "row 0, token 1: type id: expected 0 to 1, got 2");
  EXPECT_ERROR(run(model, make_batch({{1}, make_ids(1, 17)})), kInput, "row 1: expected at most 16 tokens");
  EXPECT_EQ(last_hidden(model, make_batch({make_ids(1, 16)})).size(), 256u);
  batch = make_batch({{1, 2}});
  batch.position_ids_T = {0, 16};
  EXPECT_ERROR(run(model, batch), kInput, "position: expected 0 to 15");
  EXPECT_EQ(last_hidden(load_tiny(tiny_config()), make_batch({make_ids(1, 600)})).size(), 9600u)
      << "no table is read, no limit";
}

TEST(Errors, MalformedBatchesAndOptions) {
  const Model model = load_tiny(tiny_config(), Head::kToken);
  Batch batch = make_batch({{1, 2, 3}});
  batch.starts = {0, 2, 1, 3};
  EXPECT_ERROR(run(model, batch), kInput, "starts: expected ascending numbers from 0 to 3 tokens");
  batch.starts = {0, 2};
  EXPECT_ERROR(run(model, batch), kInput, "starts");
  batch = make_batch({{1, 2, 3}});
  batch.mask_T = {1};
  EXPECT_ERROR(run(model, batch), kInput, "mask: expected 3 elements, got 1");
  batch = make_batch({{1, 2, 3}});
  ForwardOptions options;
  options.rows = {0, 3};
  EXPECT_ERROR(run(model, batch, options), kInput, "rows: expected ascending numbers below 3 tokens, got 3");
  options.rows = {1, 1};
  EXPECT_ERROR(run(model, batch, options), kInput, "rows");
  options.rows = {};
  options.layers = {3};
  EXPECT_ERROR(run(model, batch, options), kInput, "layers: expected ascending numbers from 0 to 2, got 3");
}

TEST(Errors, ResultsThatAreNotNumbers) {
  const auto spoil = [](const std::string& name, std::vector<float>& values) {
    if (name == "classifier.bias") values[1] = std::numeric_limits<float>::infinity();
  };
  const Model model = load_changed(tiny_config(), Head::kSequence, {.threads = 1}, spoil);
  EXPECT_ERROR(run(model, make_batch({{1, 2}})), kNotFinite,
               "logits: row 0, column 1: expected a finite number, got inf");
}

TEST(Errors, ModelsThatThisVersionDoesNotCompute) {
  const TemporaryFolder folder;
  ModelConfig config = tiny_config();
  config.layout = Layout::kV1;
  config.talking_head = true;
  write_tiny_model(folder.path(), config);
  config.raw = to_json(config).dump();
  EXPECT_ERROR(load_model(Checkpoint::open(folder.path()), config), kUnsupported, "talking_head: not computed");
}

// These are the trainer's ablations; an engine that reads the weights in another way would answer wrongly.
TEST(Errors, FormsThatOnlyTrainingHas) {
  const auto load = [](Head head, void (*change)(ModelConfig&)) {
    ModelConfig config = tiny_config();
    change(config);
    return load_tiny(config, head);
  };
  EXPECT_ERROR(load(Head::kSequence, [](ModelConfig& c) { c.has_p2p = true; }), kUnsupported,
               "pos_att_type p2p: a form");
  EXPECT_ERROR(load(Head::kSequence, [](ModelConfig& c) { c.norm_first = true; }), kUnsupported, "norm_first: a form");
  const auto convolves_input = [](ModelConfig& c) {
    c.conv_kernel_size = 3;
    c.convolves_input = true;
  };
  EXPECT_ERROR(load(Head::kToken, convolves_input), kUnsupported, "conv_at_input: a form of ablations");
  const auto own_decoder = [](ModelConfig& c) { c.has_own_decoder = true; };
  EXPECT_ERROR(load(Head::kMaskedLm, own_decoder), kUnsupported, "own_decoder_layers: a form of ablations");
  EXPECT_EQ(load(Head::kSequence, own_decoder).head(), Head::kSequence) << "the encoder is an ordinary one";
}

TEST(Errors, TensorsAreCheckedBeforeAnythingElse) {
  const TemporaryFolder folder;
  write_tiny_model(folder.path(), tiny_config());
  ModelConfig config = load_model_config(folder.path("config.json"));
  config.intermediate_size = 25;
  EXPECT_ERROR(load_model(Checkpoint::open(folder.path()), config), kTensors,
               "intermediate.dense.weight: expected shape [25, 16], got [24, 16]");
}

TEST(Errors, UnknownKernels) {
  EXPECT_ERROR(load_tiny(tiny_config(), Head::kNone, {.threads = 1, .kernels = "sse"}), kKernels,
               "unknown name \"sse\"");
}

uint64_t attention_calls(KernelLevel level) {
  for (const KernelCount& count : kernel_counts()) {
    if (count.operation == Operation::kAttention && count.level == level) return count.calls;
  }
  return 0;
}

TEST(EmptyRowsRule, DoesNotSlowBatchesWithoutThem) {
  if (fast_level() == KernelLevel::kReference) GTEST_SKIP() << "this processor has no fast attention";
  const ModelOptions options{.threads = 1, .empty_rows = EmptyRows::kAverage};
  const Model model = load_tiny(with_fast_heads(), Head::kNone, options);
  const auto layers = static_cast<uint64_t>(model.config().num_hidden_layers);
  Batch batch = make_batch({make_ids(1, 5), make_ids(2, 9)});
  const uint64_t fast = attention_calls(fast_level()), slow = attention_calls(KernelLevel::kReference);
  run(model, batch);
  EXPECT_EQ(attention_calls(fast_level()), fast + layers);
  EXPECT_EQ(attention_calls(KernelLevel::kReference), slow);
  batch.mask_T.assign(batch.tokens(), 1);
  run(model, batch);
  EXPECT_EQ(attention_calls(KernelLevel::kReference), slow + layers);
}

TEST(ModelPrecision, Int8WithoutACalibrationIsRefusedUnlessAllowed) {
  ModelOptions options{.precision = Precision::kInt8, .threads = 1};
  EXPECT_ERROR(load_tiny(tiny_config(), Head::kNone, options), kUncalibrated, "there is none");
  options.allows_uncalibrated = true;
  EXPECT_NO_THROW(load_tiny(tiny_config(), Head::kNone, options));
}

}  // namespace
}  // namespace deberta::model_test

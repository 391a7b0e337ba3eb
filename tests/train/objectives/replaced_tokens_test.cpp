// Replaced-token detection: what is drawn, what counts as replaced, what D is asked, whose tables move.
#include "train/objectives/replaced_tokens.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "kernels/sample_ids.h"
#include "support/expect_error.h"
#include "support/tiny_model.h"
#include "support/torch_numbers.h"
#include "train/model/parameters.h"
#include "train/objectives/task_losses.h"
#include "train/ops/linear.h"

namespace deberta::train::replaced_tokens_test {
namespace {

using namespace test;

const Compute kCompute{.kernels = select_kernels("auto")};
constexpr TableSharing kAll[] = {TableSharing::kNone, TableSharing::kSame, TableSharing::kDisentangled};
constexpr int32_t kCls = 1, kSep = 2, kMaskId = 49;

Model make_random(Head head, uint64_t seed, bool has_positions = false) {
  ModelForm form;
  form.config = tiny_config();
  form.config.position_biased_input = has_positions;
  form.head = head;
  Model model = make_model(form, at::kDouble);
  model.form.config.initializer_range = 0.3;
  initialise(model, seed);
  return model;
}

// [CLS] 7 M 9 [SEP], [CLS] M 30 hole M [SEP]
TrainBatch make_batch() {
  TrainBatch batch;
  batch.ids_T = {kCls, 7, kMaskId, 9, kSep, kCls, kMaskId, 30, 31, kMaskId, kSep};
  batch.starts = {0, 5, 11};
  batch.mask_T = {1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1};
  batch.longest = 6;
  batch.rows_P = {2, 6, 9};
  batch.labels_P = {8, 12, 40};
  return batch;
}

TEST(ReplacedTokens, ACorrectDrawCountsAsOriginalAndEveryRealTokenIsAsked) {
  const TrainBatch replaced = replace_tokens(make_batch(), std::vector<int32_t>{8, 13, 41});
  EXPECT_EQ(replaced.ids_T, (std::vector<int32_t>{kCls, 7, 8, 9, kSep, kCls, 13, 30, 31, 41, kSep}));
  EXPECT_EQ(replaced.rows_P, (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 9, 10})) << "[CLS] and [SEP] too, no hole";
  EXPECT_EQ(replaced.labels_P, (std::vector<int32_t>{0, 0, 0, 0, 0, 0, 1, 0, 1, 0}));
}

TEST(ReplacedTokens, ARowWithoutADrawKeepsWhatStandsThere) {
  const TrainBatch replaced = replace_tokens(make_batch(), std::vector<int32_t>{8, -1, 40});
  EXPECT_EQ(replaced.ids_T[6], kMaskId);
  EXPECT_EQ(replaced.labels_P, (std::vector<int32_t>{0, 0, 0, 0, 0, 0, 1, 0, 0, 0}));
}

TEST(ReplacedTokens, RefusesAnotherNumberOfIds) {
  EXPECT_ERROR(replace_tokens(make_batch(), std::vector<int32_t>{8}), kInput,
               "batch: drawn ids: expected 3, one for each row to predict, got 1");
}

TEST(ReplacedTokens, TheGeneratorsLossIsThatOfItsLanguageModel) {
  Model generator = make_random(Head::kMaskedLm, 1);
  const DropoutStream dropout{.is_training = true, .seed = 3, .step = 2};
  const Loss expected = language_model_loss(generator, kCompute, make_batch(), dropout);
  const GeneratorLoss got = generator_loss(generator, kCompute, make_batch(), dropout);
  EXPECT_EQ(got.loss.sum.item<double>(), expected.sum.item<double>());
  EXPECT_EQ(got.loss.count, 3);
  EXPECT_EQ(got.loss.correct, expected.correct);
}

// The first word at which the sum of the probabilities passes the uniform number of (step, sequence, position).
TEST(ReplacedTokens, WordsAreDrawnFromTheSoftmaxByCounter) {
  Model generator = make_random(Head::kMaskedLm, 1);
  TrainBatch batch = make_batch();
  batch.first_sequence = 7;
  const uint64_t key = random_key(3, RandomDomain::kGeneratorSample);
  const at::Tensor z_PE = word_states(make_pass(generator, kCompute, input_of(batch), {}), generator, batch.rows_P);
  const at::Tensor p_PV =
      linear(kCompute, z_PE, generator.embeddings.word_VE, generator.head.bias_V).softmax(1).cumsum(1).detach();
  const std::vector<std::pair<uint64_t, int32_t>> coordinates = {{7, 2}, {8, 1}, {8, 4}};
  std::set<std::vector<int32_t>> seen;
  for (uint32_t step = 0; step < 20; ++step) {
    const auto ids = generator_loss(generator, kCompute, batch, {.seed = 3, .step = step}).ids_P;
    for (size_t n = 0; n < 3; ++n) {
      const double u = sample_uniform(key, uint64_t{step} << 32 | coordinates[n].first, coordinates[n].second);
      const int64_t expected = p_PV[static_cast<int64_t>(n)].le(u).sum().item<int64_t>();
      EXPECT_EQ(ids[n], expected) << "step " << step << ", row " << n;
    }
    seen.insert(ids);
  }
  EXPECT_GT(seen.size(), 10u);
}

TEST(ReplacedTokens, ASplitStepDrawsTheSameWords) {
  Model generator = make_random(Head::kMaskedLm, 1);
  const DropoutStream dropout{.is_training = true, .seed = 5, .step = 4};
  TrainBatch second;
  second.ids_T = {kCls, kMaskId, 30, 31, kMaskId, kSep};
  second.mask_T = {1, 1, 1, 0, 1, 1};
  second.starts = {0, 6};
  second.first_sequence = 1;
  second.rows_P = {1, 4};
  second.labels_P = {12, 40};
  const auto whole = generator_loss(generator, kCompute, make_batch(), dropout).ids_P;
  const auto part = generator_loss(generator, kCompute, second, dropout).ids_P;
  EXPECT_EQ(part, (std::vector<int32_t>{whole[1], whole[2]}));
}

TEST(ReplacedTokens, TheDiscriminatorsLossIsBinaryCrossEntropyOfEveryRealToken) {
  const Model discriminator = make_random(Head::kReplacedToken, 2);
  const TrainBatch replaced = replace_tokens(make_batch(), std::vector<int32_t>{8, 13, 41});
  const auto logits_of = [&] {
    const Pass pass = make_pass(discriminator, kCompute, input_of(replaced), {});
    return replaced_logits(pass, discriminator.head, encode(pass, discriminator).hidden_TD.back()).detach();
  };
  discriminator.head.classifier.bias_O.detach().sub_(logits_of().mean());  // so that it predicts both classes
  const at::Tensor logits = logits_of();
  double sum = 0;
  int64_t correct = 0, flagged = 0, detected = 0;
  for (const int64_t t : {0, 1, 2, 3, 4, 5, 6, 7, 9, 10}) {
    const double x = logits[t].item<double>();
    const bool is_replaced = t == 6 || t == 9;
    sum += std::log1p(std::exp(is_replaced ? -x : x));
    correct += (x >= 0) == is_replaced;
    flagged += x >= 0;
    detected += x >= 0 && is_replaced;
  }
  const DiscriminatorLoss got = discriminator_loss(discriminator, kCompute, replaced, {});
  EXPECT_NEAR(got.loss.sum.item<double>(), sum, 1e-12);
  EXPECT_EQ(got.loss.count, 10);
  EXPECT_EQ(got.loss.correct, correct);
  EXPECT_EQ(got.replaced, 2);
  EXPECT_EQ(got.flagged, flagged);
  EXPECT_EQ(got.detected, detected);
  EXPECT_GT(flagged, 0);
  EXPECT_LT(flagged, 10);
}

TEST(ReplacedTokens, DropoutOfTheDiscriminatorDrawsOtherNumbers) {
  Model discriminator = make_random(Head::kReplacedToken, 2);
  const TrainBatch replaced = replace_tokens(make_batch(), std::vector<int32_t>{8, 13, 41});
  const DropoutStream dropout{.is_training = true, .seed = 5, .step = 4};
  const auto loss = [&](const DropoutStream& p) {
    return discriminator_loss(discriminator, kCompute, replaced, p).loss.sum.item<double>();
  };
  const Pass pass = make_pass(discriminator, kCompute, input_of(replaced), dropout);
  const at::Tensor logits = replaced_logits(pass, discriminator.head, encode(pass, discriminator).hidden_TD.back());
  const std::vector<float> labels(replaced.labels_P.begin(), replaced.labels_P.end());
  EXPECT_EQ(loss(dropout), loss(dropout));
  EXPECT_NE(loss(dropout), loss({}));
  EXPECT_GT(std::abs(loss(dropout) - binary_loss(take_rows(logits, replaced.rows_P), labels).sum.item<double>()), 1e-6)
      << "the generator's numbers";
}

// Which tables L_D moves, and which L_G.
TEST(TableSharing, DecidesWhoseTablesTheDiscriminatorMoves) {
  for (const TableSharing sharing : kAll) {
    const Model generator = make_random(Head::kMaskedLm, 1, true);
    const Model discriminator = make_random(Head::kReplacedToken, 2, true);
    const Model joined = join_tables(discriminator, generator, sharing);
    const TrainBatch replaced = replace_tokens(make_batch(), std::vector<int32_t>{8, 13, 41});
    discriminator_loss(joined, kCompute, replaced, {}).loss.sum.backward();
    const bool is_same = sharing == TableSharing::kSame;
    EXPECT_EQ(generator.embeddings.word_VE.grad().defined(), is_same);
    EXPECT_EQ(generator.embeddings.position_PE.grad().defined(), is_same);
    EXPECT_EQ(discriminator.embeddings.word_VE.grad().defined(), !is_same);
    EXPECT_EQ(discriminator.embeddings.position_PE.grad().defined(), !is_same);
  }
}

TEST(TableSharing, ADifferenceIsAddedToTheTablesOfTheGenerator) {
  const Model generator = make_random(Head::kMaskedLm, 1, true);
  Model discriminator = make_random(Head::kReplacedToken, 2, true);
  const at::Tensor words = discriminator.embeddings.word_VE.detach().clone();
  const at::Tensor positions = discriminator.embeddings.position_PE.detach().clone();
  hold_difference(discriminator, generator);
  const Model joined = join_tables(discriminator, generator, TableSharing::kDisentangled);
  EXPECT_LE(worst_difference(joined.embeddings.word_VE, words), 1e-15);
  EXPECT_LE(worst_difference(joined.embeddings.position_PE, positions), 1e-15);
  clear_difference(discriminator);
  const Model fresh = join_tables(discriminator, generator, TableSharing::kDisentangled);
  EXPECT_EQ(worst_difference(fresh.embeddings.word_VE, generator.embeddings.word_VE), 0);
  EXPECT_EQ(worst_difference(fresh.embeddings.position_PE, generator.embeddings.position_PE), 0);
}

TEST(TableSharing, RefusesPairsWhoseTablesDiffer) {
  const ModelForm generator = make_random(Head::kMaskedLm, 1).form;
  ModelForm discriminator = make_random(Head::kReplacedToken, 2).form;
  discriminator.config.embedding_size = 5;
  EXPECT_NO_THROW(check_pair(generator, discriminator, TableSharing::kNone));
  EXPECT_ERROR(check_pair(generator, discriminator, TableSharing::kSame), kUsage, "embedding_size: expected");
  discriminator.config.vocab_size = 51;
  EXPECT_ERROR(check_pair(generator, discriminator, TableSharing::kNone), kUsage,
               "vocab_size: expected 50, whose ids the generator draws, got 51");
}

}  // namespace
}  // namespace deberta::train::replaced_tokens_test

// A step of a pair: which loss moves which weights, in which order, and what stays when something is not finite.
#include "train/step/pair_trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "train/step/trainer_case.h"

namespace deberta::train::pair_trainer_test {
namespace {

constexpr TableSharing kAll[] = {TableSharing::kNone, TableSharing::kSame, TableSharing::kDisentangled};
const Compute kCompute{.kernels = select_kernels("auto")};

Model make_small(Head head, uint64_t seed, TableSharing sharing) {
  Model model = test::small_model(head, seed);
  if (head == Head::kReplacedToken && sharing == TableSharing::kDisentangled) clear_difference(model);
  return model;
}

// The words to predict are masked (3).
TrainBatch make_batch(uint32_t first, uint32_t sequences) {
  TrainBatch batch = test::small_batch(first, sequences);
  for (const int32_t row : batch.rows_P) batch.ids_T[static_cast<size_t>(row)] = 3;
  return batch;
}

struct Pair {
  explicit Pair(const PairOptions& options, double loss_scale = 0)
      : trainer(make_small(Head::kMaskedLm, 1, options.sharing), make_small(Head::kReplacedToken, 2, options.sharing),
                options, {.adam = {.has_bias_correction = true}, .loss_scale = loss_scale}, kCompute) {}

  PairTrainer trainer;
  uint32_t steps = 0;

  PairStep step(const std::vector<TrainBatch>& batches,
                PairStepSettings settings = {.rate = 1e-3, .discriminator_rate = 1e-3, .max_norm = 0},
                const PairStepExtras& extras = {}) {
    return trainer.step(batches, {.is_training = true, .seed = 1, .step = steps++}, settings, extras);
  }
  std::vector<float> weights(const std::string& prefix) {
    std::vector<float> values;
    for (ParameterGroup& group : trainer.groups()) {
      for (const ParameterSlot& slot : group.layout().slots) {
        if (!slot.name.starts_with(prefix)) continue;
        const auto of_slot = group.weights().of(slot);
        values.insert(values.end(), of_slot.begin(), of_slot.end());
      }
    }
    return values;
  }
};

// 20 joint steps without a clip: what the discriminator's loss weighs is nothing to a generator whose tables it does
// not move.
TEST(PairTrainer, OnlySharedTablesLetTheDiscriminatorMoveTheGenerator) {
  for (const TableSharing sharing : kAll) {
    std::vector<float> generator[2], discriminator[2];
    for (const bool is_heavy : {false, true}) {
      Pair pair({.sharing = sharing, .is_joint = true, .lambda = is_heavy ? 50.0 : 0.0});
      for (uint32_t step = 0; step < 20; ++step) pair.step({make_batch(4 * step, 4)});
      generator[is_heavy] = pair.weights("generator.");
      discriminator[is_heavy] = pair.weights("discriminator.");
    }
    EXPECT_EQ(generator[0] == generator[1], sharing != TableSharing::kSame);
    EXPECT_NE(discriminator[0], discriminator[1]);
  }
}

TEST(PairTrainer, OneTableForBothNeedsOneOptimiser) {
  EXPECT_ERROR(Pair({.sharing = TableSharing::kSame, .is_joint = false}), kUsage,
               "replaced-token detection: optimisers: expected one for both models, whose tables are the same, got "
               "two; train jointly, or share by differences");
  Pair pair({.sharing = TableSharing::kSame, .is_joint = true});
  EXPECT_EQ(pair.trainer.groups().size(), 1u);
  EXPECT_TRUE(pair.weights("discriminator.embeddings.word_embeddings").empty());
}

// By hand: words are drawn, the generator steps, then the discriminator reads the moved tables.
TEST(PairTrainer, TheDiscriminatorReadsMovedTablesAndWordsDrawnBefore) {
  for (const TableSharing sharing : {TableSharing::kNone, TableSharing::kDisentangled}) {
    const DropoutStream dropout{.is_training = true, .seed = 1, .step = 0};
    const TrainBatch batch = make_batch(0, 4);
    Pair by_hand({.sharing = sharing}), pair({.sharing = sharing});
    const auto ids = generator_loss(by_hand.trainer.generator(), kCompute, batch, dropout).ids_P;
    const TrainBatch replaced = replace_tokens(batch, ids);
    const Model before = by_hand.trainer.joined_discriminator();
    const double old_loss = discriminator_loss(before, kCompute, replaced, dropout).loss.sum.item<double>();
    by_hand.step({batch}, {.rate = 1e-2, .discriminator_rate = 0, .max_norm = 0});
    const Model joined = by_hand.trainer.joined_discriminator();
    const DiscriminatorLoss expected = discriminator_loss(joined, kCompute, replaced, dropout);
    const PairStep got = pair.step({batch}, {.rate = 1e-2, .discriminator_rate = 1e-2, .max_norm = 0});
    expected.loss.sum.backward();
    double squares = 0;
    for (const float gradient : by_hand.trainer.groups()[1].gradients().all()) squares += double{gradient} * gradient;
    EXPECT_NEAR(got.discriminator.norm, PairOptions{}.lambda * std::sqrt(squares) / 32, 1e-5 * got.discriminator.norm);
    EXPECT_EQ(got.discriminator.loss, expected.loss.sum.item<double>());
    EXPECT_EQ(got.discriminator.count, 32);
    EXPECT_EQ(got.discriminator.correct, expected.loss.correct);
    EXPECT_EQ(got.replaced, expected.replaced);
    EXPECT_EQ(got.flagged, expected.flagged);
    EXPECT_EQ(got.detected, expected.detected);
    EXPECT_EQ(got.generator.count, 8);
    EXPECT_EQ(old_loss == got.discriminator.loss, sharing == TableSharing::kNone);
  }
}

TEST(PairTrainer, ADifferenceBeginsAtZeroAndIsTrained) {
  Pair pair({});
  const std::string name = "discriminator.embeddings.word_embeddings.weight";
  const auto largest = [&] {
    float value = 0;
    for (const float each : pair.weights(name)) value = std::max(value, std::abs(each));
    return value;
  };
  ASSERT_FALSE(pair.weights(name).empty());
  EXPECT_EQ(largest(), 0);
  pair.step({make_batch(0, 4)});
  EXPECT_GT(largest(), 1e-4f);
  const auto words = [](const Model& model) {
    const at::Tensor table = model.embeddings.word_VE.detach().contiguous();
    return std::vector<float>(table.const_data_ptr<float>(), table.const_data_ptr<float>() + table.numel());
  };
  const std::vector<float> sum = words(pair.trainer.joined_discriminator()), base = words(pair.trainer.generator()),
                           difference = words(pair.trainer.discriminator());
  for (size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum[i], base[i] + difference[i]) << i;
}

TEST(PairTrainer, MicroBatchesOfUnequalSizeMakeTheSameStepAsOne) {
  for (const bool is_joint : {false, true}) {
    Pair whole({.is_joint = is_joint}), parts({.is_joint = is_joint});
    const PairStepSettings settings{.rate = 0, .discriminator_rate = 0, .max_norm = 1};
    const PairStep a = whole.step({make_batch(0, 6)}, settings);
    const PairStep b = parts.step({make_batch(0, 1), make_batch(1, 4), make_batch(5, 1)}, settings);
    EXPECT_NEAR(b.generator.loss, a.generator.loss, 1e-5 * a.generator.loss);
    EXPECT_NEAR(b.discriminator.loss, a.discriminator.loss, 1e-5 * a.discriminator.loss);
    EXPECT_NEAR(b.generator.norm, a.generator.norm, 1e-5 * a.generator.norm);
    EXPECT_NEAR(b.discriminator.norm, a.discriminator.norm, 1e-5 * a.discriminator.norm);
    EXPECT_EQ(b.replaced, a.replaced);
    EXPECT_EQ(b.discriminator.count, 48);
  }
}

TEST(PairTrainer, LambdaWeighsTheGradientNotTheLossThatIsShown) {
  const PairStepSettings settings{.rate = 0, .discriminator_rate = 0, .max_norm = 1};
  const PairStep a = Pair({.lambda = 10}).step({make_batch(0, 4)}, settings);
  const PairStep b = Pair({.lambda = 50}).step({make_batch(0, 4)}, settings);
  EXPECT_EQ(a.discriminator.loss, b.discriminator.loss);
  EXPECT_NEAR(b.discriminator.norm, 5 * a.discriminator.norm, 1e-4 * b.discriminator.norm);
  EXPECT_EQ(a.generator.norm, b.generator.norm);
}

TEST(PairTrainer, RepeatedStepsLearn) {
  for (const TableSharing sharing : kAll) {
    Pair pair({.sharing = sharing, .is_joint = sharing == TableSharing::kSame});
    const PairStepSettings settings{.rate = 1e-2, .discriminator_rate = 1e-2, .max_norm = 1};
    const PairStep first = pair.step({make_batch(0, 4)}, settings);
    PairStep last;
    for (int i = 0; i < 40; ++i) last = pair.step({make_batch(0, 4)}, settings);
    EXPECT_LT(last.generator.loss, 0.7 * first.generator.loss);
    EXPECT_LT(last.discriminator.loss, 0.9 * first.discriminator.loss);
  }
}

TEST(PairTrainer, AStepIsLeftOnlyBeforeAWeightMoves) {
  for (const bool is_joint : {false, true}) {
    int most = 0;
    for (int last = 1; last <= 5; ++last) {
      Pair pair({.is_joint = is_joint});
      const std::vector<float> before = pair.weights("");
      int calls = 0;
      const PairStepExtras extras{.check_stop = [&] {
        if (++calls == last) throw last;
      }};
      try {
        pair.step({make_batch(0, 2), make_batch(2, 2)}, {.rate = 1e-3, .discriminator_rate = 1e-3}, extras);
      } catch (const int&) {
        EXPECT_EQ(pair.weights(""), before) << last;
      }
      most = std::max(most, calls);
    }
    EXPECT_EQ(most, is_joint ? 4 : 2);
  }
}

TEST(PairTrainer, AScaleOfTheLossesChangesNoBit) {
  for (const bool is_joint : {false, true}) {
    SCOPED_TRACE(is_joint);
    Pair plain({.is_joint = is_joint}), scaled({.is_joint = is_joint}, 16384);
    const PairStep a = plain.step({make_batch(0, 2), make_batch(2, 1)}),
                   b = scaled.step({make_batch(0, 2), make_batch(2, 1)});
    EXPECT_EQ(b.generator.loss, a.generator.loss);
    EXPECT_EQ(b.discriminator.loss, a.discriminator.loss);
    EXPECT_EQ(b.generator.norm, a.generator.norm);
    EXPECT_EQ(b.discriminator.norm, a.discriminator.norm);
    EXPECT_EQ(scaled.weights(""), plain.weights(""));
  }
}

// So near the end of fp32 the divisor of the gradients loses bits.
TEST(PairTrainer, AScaleThatOverflowsIsLoweredAndEachLossCountedOnce) {
  for (const bool is_joint : {false, true}) {
    SCOPED_TRACE(is_joint);
    Pair plain({.is_joint = is_joint}), scaled({.is_joint = is_joint}, std::ldexp(1.0, 140));
    const PairStep a = plain.step({make_batch(0, 2)}), b = scaled.step({make_batch(0, 2)});
    EXPECT_TRUE(b.generator.is_finite && b.discriminator.is_finite);
    EXPECT_EQ(b.generator.loss, a.generator.loss);
    EXPECT_EQ(b.generator.correct, a.generator.correct);
    EXPECT_NEAR(b.discriminator.loss, a.discriminator.loss, 1e-4 * a.discriminator.loss);
    EXPECT_EQ(b.replaced, a.replaced);
    EXPECT_NEAR(b.generator.norm, a.generator.norm, 1e-5 * a.generator.norm);
    for (ParameterGroup& group : scaled.trainer.groups()) EXPECT_LT(group.loss_scale().value(), std::ldexp(1.0, 130));
  }
}

TEST(PairTrainer, AStepWithoutLabelsMovesNothing) {
  Pair pair({});
  TrainBatch batch = make_batch(0, 2);
  batch.rows_P.clear();
  batch.labels_P.clear();
  const std::vector<float> before = pair.weights("");
  EXPECT_EQ(pair.step({batch}).discriminator.count, 0);
  EXPECT_EQ(pair.weights(""), before);
}

TEST(PairTrainer, ALossThatIsNotFiniteMovesNothingAndLeavesNoGradient) {
  for (const bool is_joint : {false, true}) {
    Pair pair({.is_joint = is_joint}), fresh({.is_joint = is_joint});
    const std::vector<float> before = pair.weights("");
    float& weight = pair.trainer.groups()[0].weights().all()[0];
    const float kept = weight;
    weight = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(pair.step({make_batch(0, 2)}).generator.is_finite);
    weight = kept;
    EXPECT_EQ(pair.weights(""), before);
    pair.steps = 0;
    const PairStep a = pair.step({make_batch(0, 2)}), b = fresh.step({make_batch(0, 2)});
    EXPECT_EQ(a.generator.norm, b.generator.norm);
    EXPECT_EQ(a.discriminator.norm, b.discriminator.norm);
  }
}

}  // namespace
}  // namespace deberta::train::pair_trainer_test

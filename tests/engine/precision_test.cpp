// bf16 and int8 against fp32: close to it on every kernel set of this machine, and as independent of batch and threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "engine/engine_case.h"
#include "support/implementations.h"

namespace deberta::precision_test {
namespace {

using namespace test;

constexpr size_t kHidden = 64, kVocabulary = 50;

ModelConfig convolutional() {
  ModelConfig config = with_fast_heads();
  config.conv_kernel_size = 3;
  config.conv_act = Activation::kTanh;
  return config;
}

ModelConfig version_1() {
  ModelConfig config = with_fast_heads();
  make_version_1(config);
  return config;
}

std::vector<ModelConfig> variants() {
  return {with_fast_heads(), convolutional(), version_1()};
}

// The smallest cosine between a row and the expected one.
double worst_cosine(const std::vector<float>& rows, const std::vector<float>& expected, size_t columns) {
  double worst = 1;
  for (size_t at = 0; at < expected.size(); at += columns) {
    const double cosine = cosine_of(std::span(rows).subspan(at, columns), std::span(expected).subspan(at, columns));
    worst = cosine >= worst ? worst : cosine;  // a NaN stays
  }
  return worst;
}

// With holes, an empty sequence, one beyond the relative table, and few or many rows.
Batch mixed_batch(size_t longest) {
  Batch batch = make_batch({make_ids(1, 7), {}, make_ids(2, 1), make_ids(3, longest), make_ids(4, 16)});
  batch.mask_T.assign(batch.tokens(), 1);
  batch.mask_T[3] = batch.mask_T[10] = 0;
  return batch;
}

class Precisions : public testing::TestWithParam<test::Implementation> {
 protected:
  Precision precision() const { return GetParam().precision; }
  ModelOptions options(size_t threads = 1) const {
    return {.precision = precision(),
            .allows_uncalibrated = true,
            .threads = threads,
            .kernels = std::string(to_string(GetParam().level))};
  }
  double least_cosine() const { return precision() == Precision::kBf16 ? 0.999 : 0.99; }
};

INSTANTIATE_TEST_SUITE_P(All, Precisions,
                         testing::ValuesIn(test::implementations(Operation::kGemm,
                                                                 {Precision::kBf16, Precision::kInt8})),
                         test::kNameOfImplementation);

TEST_P(Precisions, HiddenStatesAreNearThoseOfFp32AndNotTheSame) {
  for (const ModelConfig& config : variants()) {
    const Model exact = load_tiny(config), model = load_tiny(config, Head::kNone, options());
    for (const size_t longest : {size_t{20}, size_t{200}}) {
      const std::vector<float> expected = last_hidden(exact, mixed_batch(longest));
      const std::vector<float> hidden = last_hidden(model, mixed_batch(longest));
      ASSERT_EQ(hidden.size(), expected.size());
      EXPECT_GT(worst_cosine(hidden, expected, kHidden), least_cosine())
          << longest << " convolution " << config.conv_kernel_size;
      EXPECT_NE(hidden, expected);
    }
  }
}

TEST_P(Precisions, LogitsOfTheMaskDecoderAreNearThoseOfFp32) {
  for (const ModelConfig& config : variants()) {
    const Model exact = load_tiny(config, Head::kMaskedLm), model = load_tiny(config, Head::kMaskedLm, options());
    ASSERT_TRUE(model.has_mask_decoder());
    const Batch batch = mixed_batch(15);
    for (const std::vector<int32_t>& rows : std::vector<std::vector<int32_t>>{{}, {0, 8, 30}}) {
      ForwardOptions chosen;
      chosen.rows = rows;
      const ForwardResult result = run(model, batch, chosen);
      EXPECT_GT(worst_cosine(result.logits, run(exact, batch, chosen).logits, kVocabulary), least_cosine());
    }
  }
}

TEST_P(Precisions, PackedEqualsSoloForAnyThreads) {
  for (const ModelConfig& config : variants()) {
    std::vector<std::vector<int32_t>> rows;
    for (const size_t length : {1u, 2u, 33u, 150u}) rows.push_back(make_ids(length, length));
    const Model solo = load_tiny(config, Head::kNone, options());
    std::vector<float> expected;
    for (const auto& row : rows) {
      const std::vector<float> hidden = last_hidden(solo, make_batch({row}));
      expected.insert(expected.end(), hidden.begin(), hidden.end());
    }
    for (const size_t threads : {1u, 2u, 3u}) {
      const Model model = load_tiny(config, Head::kNone, options(threads));
      EXPECT_EQ(last_hidden(model, make_batch(rows)), expected) << threads << " threads";
    }
  }
}

// The same rows by themselves, and with every row of the last layer or the mask decoder computed.
TEST_P(Precisions, LogitsOfChosenRowsAreThoseOfAllRows) {
  for (const ModelConfig& config : variants()) {
    for (const Head head : {Head::kToken, Head::kMaskedLm}) {
      const Batch batch = mixed_batch(15);
      ForwardOptions chosen;
      chosen.rows = {0, 3, 7, 8, 30};
      for (const size_t threads : {1u, 2u, 3u}) {
        const Model model = load_tiny(config, head, options(threads));
        const ForwardResult some = run(model, batch, chosen);
        const ForwardResult all = run(model, batch);
        const size_t columns = all.logits_columns;
        for (size_t n = 0; n < chosen.rows.size(); ++n) {
          const size_t row = static_cast<size_t>(chosen.rows[n]);
          EXPECT_EQ(slice(some.logits, n * columns, (n + 1) * columns),
                    slice(all.logits, row * columns, (row + 1) * columns))
              << to_string(head) << " row " << row << ", " << threads << " threads";
        }
      }
    }
  }
}

TEST_P(Precisions, AskingForTheLastHiddenStatesChangesNoSequenceLogit) {
  for (const ModelConfig& config : variants()) {
    const Model model = load_tiny(config, Head::kSequence, options());
    const Batch batch = mixed_batch(20);
    ForwardOptions all;
    all.layers = {2};
    EXPECT_EQ(run(model, batch).logits, run(model, batch, all).logits);
  }
}

}  // namespace
}  // namespace deberta::precision_test

// Two hundred texts on every kernel set of this machine, in every precision: each one gets the same answers as alone,
// bit for bit, whatever it is packed with, in any order, on any number of threads. And a text of 8192 tokens.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "engine/engine_case.h"
#include "support/implementations.h"
#include "support/sanitizers.h"

namespace deberta::batch_invariance_test {
namespace {

using namespace test;

constexpr size_t kLongest = 700, kLong = kSanitized ? 2048 : 8192, kLabels = 3;

// Fewer where each operation costs more.
size_t count_texts() {
  return kSanitized || test_memory() != nullptr ? 20 : 200;
}

// 1 to 700 tokens, more short ones than long ones.
std::vector<std::vector<int32_t>> make_texts() {
  std::vector<std::vector<int32_t>> texts;
  const size_t count = count_texts();
  for (size_t i = 0; i < count; ++i)
    texts.push_back(make_ids(i, 1 + (kLongest - 1) * i * i / ((count - 1) * (count - 1))));
  return texts;
}

std::vector<size_t> shuffled(size_t count, uint64_t seed) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return uniform_at(seed, a) < uniform_at(seed, b); });
  return order;
}

// Indexed by the position of a text in `texts`.
struct Outputs {
  std::vector<float> logits;                    // [texts, C]
  std::vector<std::vector<float>> hidden_rows;  // every token's row from the last layer, when they are read
};

// The texts in `order`, `pack` of them at once.
Outputs outputs_of(const Model& model, const std::vector<std::vector<int32_t>>& texts, const std::vector<size_t>& order,
                   size_t pack, bool reads_hidden) {
  Outputs outputs{std::vector<float>(texts.size() * kLabels), std::vector<std::vector<float>>(texts.size())};
  ForwardOptions options;
  if (reads_hidden) options.layers = {static_cast<int32_t>(model.config().num_hidden_layers)};
  const auto columns = static_cast<size_t>(model.config().hidden_size);
  for (size_t begin = 0; begin < order.size(); begin += pack) {
    const size_t end = std::min(begin + pack, order.size());
    Batch batch;
    for (size_t i = begin; i < end; ++i) batch.add(texts[order[i]]);
    const ForwardResult result = run(model, batch, options);
    for (size_t i = begin; i < end; ++i) {
      const size_t b = i - begin;
      std::copy_n(&result.logits[b * kLabels], kLabels, &outputs.logits[order[i] * kLabels]);
      const auto row = [&](size_t at) { return static_cast<size_t>(batch.starts[at]) * columns; };
      if (reads_hidden) outputs.hidden_rows[order[i]] = slice(result.hidden[0].rows_TD, row(b), row(b + 1));
    }
  }
  return outputs;
}

class BatchInvariance : public testing::TestWithParam<Implementation> {
 protected:
  Model load(size_t threads) const {
    return load_tiny(with_fast_heads(), Head::kSequence,
                     {.precision = GetParam().precision,
                      .allows_uncalibrated = true,
                      .threads = threads,
                      .kernels = std::string(to_string(GetParam().level))});
  }
};

INSTANTIATE_TEST_SUITE_P(All, BatchInvariance,
                         testing::ValuesIn(vector_implementations(Operation::kGemm, {Precision::kFp32, Precision::kBf16,
                                                                                     Precision::kInt8})),
                         kNameOfImplementation);

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BatchInvariance);  // a processor that has only the reference

TEST_P(BatchInvariance, TwoHundredTextsHaveTheSameBitsInAnyBatchOrderAndThreads) {
  const auto texts = make_texts();
  const Outputs alone = outputs_of(load(1), texts, shuffled(count_texts(), 0), 1, true);
  struct Run {
    size_t threads, pack;
    bool reads_hidden;  // else the last layer runs only on the rows that the head reads
  };
  for (const auto& [threads, pack, reads_hidden] :
       {Run{1, count_texts(), true}, Run{2, 1, false}, Run{2, 64, false}, Run{3, 17, true}, Run{8, 5, false}}) {
    const Outputs packed =
        outputs_of(load(threads), texts, shuffled(count_texts(), threads * pack), pack, reads_hidden);
    EXPECT_EQ(packed.logits, alone.logits) << threads << " threads, packs of " << pack;
    for (size_t i = 0; reads_hidden && i < count_texts(); ++i)
      ASSERT_EQ(packed.hidden_rows[i], alone.hidden_rows[i]) << threads << " threads, packs of " << pack;
  }
}

TEST_P(BatchInvariance, ALongTextAloneAndInABatch) {
  const std::vector<int32_t> text = make_ids(1, kLong);
  const Model model = load(2);
  const std::vector<float> alone = run(model, make_batch({text})).logits;
  const std::vector<float> packed = run(model, make_batch({make_ids(2, 3), text, make_ids(3, 40)})).logits;
  EXPECT_EQ(slice(packed, kLabels, 2 * kLabels), alone);
  for (const float logit : alone) EXPECT_TRUE(std::isfinite(logit));
}

}  // namespace
}  // namespace deberta::batch_invariance_test

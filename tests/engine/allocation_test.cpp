// A forward pass allocates no memory once one of its size has run.
#include <gtest/gtest.h>

#include <vector>

#include "engine/engine_case.h"
#include "support/allocations.h"

namespace deberta::allocation_test {
namespace {

using namespace test;

TEST(Allocations, AreNoneInAPassNoLargerThanTheOnesBefore) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16, Precision::kInt8}) {
    for (const Head head : {Head::kSequence, Head::kToken, Head::kSpan, Head::kMaskedLm, Head::kReplacedToken}) {
      const Model model =
          load_tiny(with_fast_heads(), head, {.precision = precision, .allows_uncalibrated = true, .threads = 2});
      const Batch batch = make_batch({make_ids(1, 16), make_ids(2, 7)}), smaller = make_batch({make_ids(3, 14)});
      ForwardOptions options;
      options.layers = {0, 2};
      ForwardResult result;
      model.forward(batch, options, result);
      const std::vector<float> logits = result.logits;
      const size_t before = allocations();
      model.forward(batch, options, result);
      model.forward(smaller, options, result);
      EXPECT_EQ(allocations() - before, 0u) << to_string(precision) << " " << to_string(head);
      model.forward(batch, options, result);
      EXPECT_EQ(result.logits, logits);
    }
  }
}

TEST(Allocations, AreNoneWhateverThePoolerReads) {
  for (const ClassifierPooling pooling :
       {ClassifierPooling::kMean, ClassifierPooling::kMax, ClassifierPooling::kAttention}) {
    ModelConfig config = with_fast_heads();
    config.classifier_pooling = pooling;
    const Model model = load_tiny(config, Head::kSequence, {.threads = 2});
    const Batch batch = make_batch({make_ids(1, 16), make_ids(2, 7)}), smaller = make_batch({make_ids(3, 14)});
    ForwardResult result;
    model.forward(batch, {}, result);
    const size_t before = allocations();
    model.forward(batch, {}, result);
    model.forward(smaller, {}, result);
    EXPECT_EQ(allocations() - before, 0u) << to_string(pooling);
  }
}

}  // namespace
}  // namespace deberta::allocation_test

// Cross-entropy of rows of logits, and sampling from them: every implementation that this processor has, against sums
// in double; the gradient against finite differences, samples against the distribution.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/cross_entropy.h"
#include "kernels/sample_ids.h"
#include "support/expect_error.h"
#include "support/implementations.h"
#include "support/random.h"

namespace deberta::softmax_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kGuard = 12345.5f;

double log_sum(const std::vector<double>& x_V) {
  const double largest = *std::max_element(x_V.begin(), x_V.end());
  double sum = 0;
  for (const double x : x_V) sum += std::exp(x - largest);
  return largest + std::log(sum);
}

class Softmax : public testing::TestWithParam<KernelLevel> {
 protected:
  KernelSet kernels() const { return select_kernels(to_string(GetParam())); }
};
INSTANTIATE_TEST_SUITE_P(Levels, Softmax, testing::ValuesIn(test::levels_of(Operation::kSoftmax)),
                         [](const auto& level) { return std::string(to_string(level.param)); });

// Rows of logits with NaN between them; results between guards.
struct LossCase {
  size_t rows, classes, stride;
  std::vector<float> logits, gradient;
  std::vector<int32_t> labels;
  std::vector<double> loss;
  std::vector<uint8_t> is_correct;

  LossCase(size_t row_count, size_t class_count, double deviation)
      : rows(row_count), classes(class_count), stride(class_count + 3), loss(rows + 1, -7), is_correct(rows + 1, 9) {
    logits.assign(1 + (rows - 1) * stride + classes, kNan);
    gradient.assign(1 + rows * stride, kGuard);
    const auto values = test::normals(1, rows * classes, deviation);
    for (size_t r = 0; r < rows; ++r) {
      std::copy_n(&values[r * classes], classes, row(r));
      labels.push_back(static_cast<int32_t>(test::uniform_at(2, r) * static_cast<double>(classes)));
    }
  }
  float* row(size_t r) { return logits.data() + 1 + r * stride; }
  CrossEntropyParams params() {
    CrossEntropyParams p{};
    p.logits_RV = logits.data() + 1;
    p.stride = stride;
    p.rows = rows;
    p.classes = classes;
    p.labels_R = labels.data();
    p.scale = 0.25f;
    p.loss_R = loss.data();
    p.is_correct_R = is_correct.data();
    p.gradient_RV = gradient.data() + 1;
    return p;
  }
  // The results in `gradient` are those of the logits of `from`.
  void expect_agreement(LossCase from) const {
    for (size_t r = 0; r < rows; ++r) {
      const std::vector<double> x_V(from.row(r), from.row(r) + classes);
      const auto label = static_cast<size_t>(labels[r]);
      const double sum = log_sum(x_V), scale = std::max(1.0, std::abs(sum));
      ASSERT_NEAR(loss[r], sum - x_V[label], 1e-6 * scale) << "V " << classes;
      ASSERT_EQ(is_correct[r] == 1, std::max_element(x_V.begin(), x_V.end()) - x_V.begin() == labels[r]);
      for (size_t v = 0; v < classes; ++v) {
        const double exact = 0.25 * (std::exp(x_V[v] - sum) - (v == label ? 1 : 0));
        ASSERT_NEAR(gradient[1 + r * stride + v], exact, 2e-7) << "V " << classes << " row " << r << " class " << v;
      }
      for (size_t v = classes; v < stride; ++v) ASSERT_EQ(gradient[1 + r * stride + v], kGuard);
    }
    EXPECT_EQ(gradient.front(), kGuard);
    EXPECT_EQ(loss.back(), -7);
    EXPECT_EQ(is_correct.back(), 9);
  }
};

std::vector<size_t> class_cases() {
  std::vector<size_t> classes = {127, 128, 129, 1023, 1024, 1025, 2055, 8193};
  for (size_t count = 1; count <= 70; ++count) classes.push_back(count);
  return classes;
}

TEST_P(Softmax, LossGradientAndAccuracyFollowTheEquations) {
  for (const size_t classes : class_cases()) {
    for (const double deviation : {1.0, 20.0}) {
      LossCase c(5, classes, deviation);
      c.row(1)[static_cast<size_t>(c.labels[1])] = 90;   // e^90 is beyond fp32
      c.row(2)[static_cast<size_t>(c.labels[2])] = -90;  // a loss that is large
      const LossCase before = c;
      cross_entropy(kernels(), c.params());
      c.expect_agreement(before);
    }
  }
}

TEST_P(Softmax, TheGradientMayReplaceTheLogitsOrBeLeftOut) {
  LossCase c(6, 1030, 2), in_place(6, 1030, 2), without(6, 1030, 2);
  cross_entropy(kernels(), c.params());
  CrossEntropyParams p = in_place.params();
  p.gradient_RV = in_place.logits.data() + 1;
  cross_entropy(kernels(), p);
  for (size_t r = 0; r < 6; ++r) {
    for (size_t v = 0; v < 1030; ++v) ASSERT_EQ(in_place.row(r)[v], c.gradient[1 + r * c.stride + v]);
  }
  p = without.params();
  p.gradient_RV = nullptr;
  p.is_correct_R = nullptr;
  cross_entropy(kernels(), p);
  EXPECT_EQ(in_place.loss, c.loss);
  EXPECT_EQ(without.loss, c.loss);
}

TEST_P(Softmax, IgnoredRowsHaveNeitherLossNorGradient) {
  LossCase c(4, 40, 2);
  c.labels[1] = -100;
  std::fill_n(c.row(1), 40, kNan);
  cross_entropy(kernels(), c.params());
  EXPECT_EQ(c.loss[1], 0);
  EXPECT_EQ(c.is_correct[1], 0);
  for (size_t v = 0; v < 40; ++v) EXPECT_EQ(c.gradient[1 + c.stride + v], 0);
  EXPECT_GT(c.loss[2], 0);
  CrossEntropyParams p = c.params();
  p.ignored_label = 3;
  c.labels[1] = 3;
  cross_entropy(kernels(), p);
  EXPECT_EQ(c.loss[1], 0) << "another label that means none";
}

TEST_P(Softmax, ARowDependsOnItselfAloneWhateverTheThreads) {
  LossCase whole(100, 390, 2);
  cross_entropy(kernels(), whole.params());
  for (const unsigned threads : {1u, 2u, 3u}) {
    ThreadPool pool(threads);
    LossCase c(100, 390, 2);
    CrossEntropyParams p = c.params();
    p.parallel = pool.parallel();
    cross_entropy(kernels(), p);
    EXPECT_TRUE(c.loss == whole.loss && c.gradient == whole.gradient) << threads << " threads";
  }
  for (const size_t row : {size_t{0}, size_t{57}, size_t{99}}) {
    LossCase c(100, 390, 2);
    CrossEntropyParams p = c.params();
    p.logits_RV = c.row(row);
    p.labels_R += row;
    p.rows = 1;
    cross_entropy(kernels(), p);
    EXPECT_EQ(c.loss[0], whole.loss[row]);
    for (size_t v = 0; v < 390; ++v) ASSERT_EQ(c.gradient[1 + v], whole.gradient[1 + row * c.stride + v]);
  }
}

TEST_P(Softmax, ALabelAmongEqualLargestLogitsIsCorrectWhenItIsTheFirst) {
  LossCase c(2, 100, 1);
  for (const size_t r : {size_t{0}, size_t{1}}) c.row(r)[30] = c.row(r)[80] = 50;
  c.labels = {30, 80};
  cross_entropy(kernels(), c.params());
  EXPECT_EQ(c.is_correct[0], 1);
  EXPECT_EQ(c.is_correct[1], 0);
}

TEST_P(Softmax, ANumberThatIsNoneMakesTheLossOne) {
  for (const float none : {kNan, kInfinity}) {
    for (const size_t v : {size_t{0}, size_t{13}, size_t{39}}) {
      LossCase c(3, 40, 1);
      c.labels = {v == 13 ? 13 : 1, 2, 3};
      c.row(0)[v] = none;
      cross_entropy(kernels(), c.params());
      EXPECT_TRUE(std::isnan(c.loss[0])) << none << " at " << v;
      EXPECT_EQ(c.is_correct[0], none == kInfinity ? c.is_correct[0] : 0);
      EXPECT_TRUE(std::isfinite(c.loss[1]));
    }
  }
}

TEST(CrossEntropyEquations, TheGradientIsTheFiniteDifferenceOfTheLoss) {
  const auto logits = test::normals(1, 9, 2);
  const std::vector<double> x_V(logits.begin(), logits.end());
  LossCase c(1, 9, 1);
  std::copy(logits.begin(), logits.end(), c.row(0));
  c.labels = {4};
  cross_entropy(select_kernels("reference"), c.params());
  for (size_t v = 0; v < 9; ++v) {
    constexpr double kStep = 1e-5;
    std::vector<double> above = x_V, below = x_V;
    above[v] += kStep;
    below[v] -= kStep;
    const double difference = (log_sum(above) - above[4] - log_sum(below) + below[4]) / (2 * kStep);
    EXPECT_NEAR(c.gradient[1 + v], 0.25 * difference, 3e-8);
  }
}

TEST(CrossEntropyArguments, AreChecked) {
  const KernelSet kernels = select_kernels("auto");
  LossCase c(2, 5, 1);
  for (const int32_t label : {-1, 5, -101}) {
    c.labels[1] = label;
    EXPECT_ERROR(cross_entropy(kernels, c.params()), kInternal, "softmax: a label outside the classes");
  }
  CrossEntropyParams p = c.params();
  p.loss_R = nullptr;
  EXPECT_ERROR(cross_entropy(kernels, p), kInternal, "a null pointer in cross_entropy");
  p = c.params();
  p.stride = 4;
  EXPECT_ERROR(cross_entropy(kernels, p), kInternal, "rows overlap");
}

TEST(CrossEntropyArguments, CheckComparesTheLosses) {
  const KernelSet kernels = select_kernels("check");
  LossCase c(3, 1000, 2);
  cross_entropy(kernels, c.params());
  const KernelCheck::Difference difference = kernels.check->worst(Operation::kSoftmax);
  EXPECT_EQ(difference.calls, 1u);
  EXPECT_LT(difference.worst, 1e-5);
  EXPECT_NE(difference.where.find("[R 3, V 1000] row "), std::string::npos) << difference.where;
}

struct SampleCase {
  size_t rows, classes;
  std::vector<float> logits;
  std::vector<uint64_t> samples;
  std::vector<int32_t> positions, ids;

  SampleCase(size_t row_count, size_t class_count, double deviation)
      : rows(row_count), classes(class_count), logits(test::normals(1, rows * classes, deviation)), ids(rows + 1, -9) {
    for (size_t r = 0; r < rows; ++r) {
      samples.push_back(r / 7 + (uint64_t{3} << 32));
      positions.push_back(static_cast<int32_t>(r % 7));
    }
  }
  SampleIdsParams params() {
    SampleIdsParams p{};
    p.logits_RV = logits.data();
    p.rows = rows;
    p.classes = classes;
    p.key = 0x1122334455667788;
    p.samples_R = samples.data();
    p.positions_R = positions.data();
    p.ids_R = ids.data();
    return p;
  }
};

TEST(SampleUniform, CounterIsPositionAndSampleAndTheKeyIsTheKey) {
  const PhiloxCounter words = philox({5, 0, 7, 2}, {0x55667788, 0x11223344});
  const uint64_t bits = words[0] | uint64_t{words[1]} << 32;
  EXPECT_EQ(sample_uniform(0x1122334455667788, 7 + (uint64_t{2} << 32), 5), static_cast<double>(bits >> 11) / 0x1p53);
}

// The first class whose cumulative probability exceeds the uniform number; where that is within 1e-6 of a border, the
// neighbour will do.
TEST_P(Softmax, DrawsTheClassOfTheUniformNumber) {
  for (const size_t classes : class_cases()) {
    for (const double deviation : {1.0, 20.0}) {
      SampleCase c(20, classes, deviation);
      sample_ids(kernels(), c.params());
      for (size_t r = 0; r < c.rows; ++r) {
        const std::vector<double> x_V(c.logits.begin() + static_cast<std::ptrdiff_t>(r * classes),
                                      c.logits.begin() + static_cast<std::ptrdiff_t>((r + 1) * classes));
        ASSERT_TRUE(c.ids[r] >= 0 && static_cast<size_t>(c.ids[r]) < classes);
        const auto id = static_cast<size_t>(c.ids[r]);
        const double sum = log_sum(x_V), uniform = sample_uniform(c.params().key, c.samples[r], c.positions[r]);
        double before = 0;
        for (size_t v = 0; v < id; ++v) before += std::exp(x_V[v] - sum);
        ASSERT_LE(before, uniform + 1e-6) << "V " << classes;
        ASSERT_GT(before + std::exp(x_V[id] - sum), uniform - 1e-6) << "V " << classes;
      }
      EXPECT_EQ(c.ids.back(), -9);
    }
  }
}

TEST_P(Softmax, SamplesFollowTheDistribution) {
  constexpr size_t kRows = 20000;
  SampleCase c(kRows, 4, 1);
  const float logits[] = {0.0f, std::log(2.0f), std::log(3.0f), -kInfinity};
  for (size_t r = 0; r < kRows; ++r) std::copy_n(logits, 4, &c.logits[r * 4]);
  sample_ids(kernels(), c.params());
  double counts[4] = {};
  for (size_t r = 0; r < kRows; ++r) ++counts[c.ids[r]];
  EXPECT_NEAR(counts[0] / kRows, 1.0 / 6, 0.01);
  EXPECT_NEAR(counts[1] / kRows, 2.0 / 6, 0.01);
  EXPECT_NEAR(counts[2] / kRows, 3.0 / 6, 0.01);
  EXPECT_EQ(counts[3], 0);
}

TEST_P(Softmax, ASampleDependsOnKeySampleAndPositionAlone) {
  SampleCase whole(50, 1100, 1);
  sample_ids(kernels(), whole.params());
  for (const unsigned threads : {1u, 2u, 3u}) {
    ThreadPool pool(threads);
    SampleCase c(50, 1100, 1);
    SampleIdsParams p = c.params();
    p.parallel = pool.parallel();
    sample_ids(kernels(), p);
    EXPECT_EQ(c.ids, whole.ids) << threads << " threads";
  }
  SampleCase c(50, 1100, 1);
  SampleIdsParams p = c.params();
  p.logits_RV += 33 * 1100;
  p.samples_R += 33;
  p.positions_R += 33;
  p.rows = 1;
  sample_ids(kernels(), p);
  EXPECT_EQ(c.ids[0], whole.ids[33]) << "alone";
  for (const auto change : {+[](SampleCase& s) {
                              for (uint64_t& n : s.samples) ++n;
                            },
                            +[](SampleCase& s) {
                              for (uint64_t& n : s.samples) n += uint64_t{1} << 32;
                            },
                            +[](SampleCase& s) {
                              for (int32_t& n : s.positions) ++n;
                            }}) {
    SampleCase changed(50, 1100, 1);
    change(changed);
    sample_ids(kernels(), changed.params());
    EXPECT_NE(changed.ids, whole.ids);
  }
  p = c.params();
  p.key += uint64_t{1} << 40;
  sample_ids(kernels(), p);
  EXPECT_NE(c.ids, whole.ids);
}

TEST_P(Softmax, ARowWithANumberThatIsNoneGivesNoClass) {
  SampleCase c(4, 30, 1);
  c.logits[30 + 17] = kNan;
  c.logits[60] = kNan;
  std::fill_n(&c.logits[90], 30, -kInfinity);
  sample_ids(kernels(), c.params());
  EXPECT_GE(c.ids[0], 0);
  EXPECT_EQ(c.ids[1], -1);
  EXPECT_EQ(c.ids[2], -1);
  EXPECT_EQ(c.ids[3], -1);
}

TEST(SampleIdsArguments, AreChecked) {
  SampleCase c(2, 5, 1);
  SampleIdsParams p = c.params();
  p.ids_R = nullptr;
  EXPECT_ERROR(sample_ids(select_kernels("auto"), p), kInternal, "a null pointer in sample_ids");
  p = c.params();
  p.stride = 4;
  EXPECT_ERROR(sample_ids(select_kernels("auto"), p), kInternal, "rows that overlap");
}

}  // namespace
}  // namespace deberta::softmax_test

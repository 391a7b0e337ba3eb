// The profile counts calls, rows and time by operation and shape while it is on; the peaks are positive and ordered.
#include "kernels/profile.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/layer_norm.h"
#include "kernels/peak.h"

namespace deberta::profile_test {
namespace {

void run_layer_norm(size_t rows, size_t columns) {
  std::vector<float> x(rows * columns, 1.0f), gamma(columns, 1.0f), beta(columns);
  LayerNormParams p{};
  p.x_TD = p.y_TD = x.data();
  p.gamma_D = gamma.data();
  p.beta_D = beta.data();
  p.rows = rows;
  p.columns = columns;
  layer_norm(select_kernels("auto"), p);
}

TEST(Profile, CountsCallsAndRowsByShapeWhileItIsOn) {
  run_layer_norm(3, 8);
  start_profile();
  run_layer_norm(3, 8);
  run_layer_norm(5, 8);
  run_layer_norm(2, 16);
  const std::vector<ProfileEntry> entries = stop_profile();
  run_layer_norm(3, 8);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].key.operation, Operation::kLayerNorm);
  EXPECT_EQ(entries[0].key.outputs, 8u);
  EXPECT_EQ(entries[0].calls, 2u);
  EXPECT_EQ(entries[0].rows, 8u);
  EXPECT_GT(entries[0].thread_seconds, 0);
  EXPECT_EQ(entries[1].rows, 2u);
  start_profile();
  EXPECT_TRUE(stop_profile().empty()) << "a new profile begins empty, and nothing counts while it is off";
}

TEST(Profile, ACallThatMayUseTwoThreadsCountsTwice) {
  start_profile();
  {
    const ProfileTimer timer({.operation = Operation::kGemm, .precision = Precision::kFp32, .outputs = 1, .depth = 1},
                             {.rows = 1, .workers = 2});
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const std::vector<ProfileEntry> entries = stop_profile();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_GE(entries[0].thread_seconds, 0.02);
}

TEST(Peak, EveryLevelOfEveryPrecisionHasOne) {
  for (const KernelLevel level : available_levels()) {
    const KernelSet kernels = select_kernels(to_string(level));
    for (const Precision precision : {Precision::kFp32, Precision::kBf16, Precision::kInt8}) {
      const KernelLevel runs = kernels.level_of(Operation::kGemm, precision);
      const double peak = measure_peak(precision, runs, serial());
      if (runs == KernelLevel::kReference) {
        EXPECT_EQ(peak, 0);
      } else {
        EXPECT_GT(peak, 1e8) << to_string(runs) << " " << to_string(precision);
      }
    }
  }
}

TEST(Peak, MemoryIsReadByEveryWorker) {
  ThreadPool pool(2);
  EXPECT_GT(measure_read_bandwidth(pool.parallel()), 1e7);
}

}  // namespace
}  // namespace deberta::profile_test

// Rows moved by their numbers, beside plain loops, on one thread and on several.
#include "kernels/row_moves.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/thread_pool.h"

namespace deberta::row_moves_test {
namespace {

class RowMoves : public testing::Test {
 protected:
  static constexpr size_t kRows = 40, kColumns = 900, kMoved = 25;  // more than one task

  RowMoves() {
    std::iota(x_.begin(), x_.end(), 1.0F);
    std::iota(y_.begin(), y_.end(), 0.25F);
    for (size_t n = 0; n < kMoved; ++n) rows_.push_back(static_cast<int32_t>(n + n / 2));
  }
  RowMoveParams params(const std::vector<float>& x, std::vector<float>& y, const Parallel& parallel) const {
    return {.x = x.data(),
            .rows_N = rows_.data(),
            .rows = kMoved,
            .columns = kColumns,
            .y = y.data(),
            .parallel = parallel};
  }
  size_t at(size_t n, size_t d) const { return static_cast<size_t>(rows_[n]) * kColumns + d; }

  std::vector<float> x_ = std::vector<float>(kRows * kColumns), y_ = x_;
  std::vector<int32_t> rows_;
};

TEST_F(RowMoves, GatherScatterAndAddTakeTheRowsThatAreNamed) {
  ThreadPool pool(3);
  for (const Parallel& parallel : {serial(), pool.parallel()}) {
    std::vector<float> gathered = y_, scattered = y_, added = y_;
    gather_rows({}, params(x_, gathered, parallel));
    scatter_rows({}, params(x_, scattered, parallel));
    add_rows({}, params(x_, added, parallel));
    std::vector<float> by_hand = y_;
    for (size_t n = 0; n < kMoved; ++n) {
      for (size_t d = 0; d < kColumns; ++d) {
        ASSERT_EQ(gathered[n * kColumns + d], x_[at(n, d)]);
        ASSERT_EQ(added[n * kColumns + d], y_[n * kColumns + d] + x_[at(n, d)]);
        by_hand[at(n, d)] = x_[n * kColumns + d];
      }
    }
    EXPECT_EQ(scattered, by_hand);
  }
}

TEST_F(RowMoves, WithoutNumbersTheyAreTheFirstOnes) {
  std::vector<float> added = y_;
  RowMoveParams p = params(x_, added, serial());
  p.rows_N = nullptr;
  add_rows({}, p);
  for (size_t i = 0; i < y_.size(); ++i) ASSERT_EQ(added[i], i < kMoved * kColumns ? y_[i] + x_[i] : y_[i]) << i;
}

}  // namespace
}  // namespace deberta::row_moves_test

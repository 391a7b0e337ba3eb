// The gradient of a look-up, against a plain loop over the tokens.
#include "kernels/embedding_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "support/expect_error.h"
#include "support/implementations.h"
#include "support/random.h"

namespace deberta::embedding_gradient_test {
namespace {

constexpr float kGuard = 12345.5f;

// Ids with many repetitions, one of them longer than a task; no id names the last row of the table.
struct LookUp {
  size_t tokens, columns, rows;
  std::vector<int32_t> ids;
  std::vector<float> dx, table;
  std::vector<uint64_t> scratch;

  LookUp(size_t token_count, size_t column_count, size_t row_count)
      : tokens(token_count),
        columns(column_count),
        rows(row_count),
        dx(test::normals(1, tokens * columns)),
        table(1 + rows * columns + 1, 0.5f) {
    table.front() = table.back() = kGuard;
    for (size_t t = 0; t < tokens; ++t) {
      const auto id = static_cast<int32_t>(test::uniform_at(2, t) * static_cast<double>(rows - 1));
      ids.push_back(t % 3 == 0 ? 0 : id);
    }
    scratch.assign(embedding_gradient_scratch_bytes(tokens) / sizeof(uint64_t) + 1, ~uint64_t{0});
  }
  EmbeddingGradientParams params() {
    EmbeddingGradientParams p{};
    p.ids_T = ids.data();
    p.dx_TE = dx.data();
    p.tokens = tokens;
    p.columns = columns;
    p.table_VE = table.data() + 1;
    p.table_rows = rows;
    p.scratch = scratch.data();
    return p;
  }
  // One chain of fp32 sums for each row, ascending tokens.
  std::vector<float> expected(int32_t skipped) const {
    std::vector<float> sums(table.size(), 0.5f);
    sums.front() = sums.back() = kGuard;
    for (size_t t = 0; t < tokens; ++t) {
      for (size_t e = 0; ids[t] != skipped && e < columns; ++e) {
        sums[1 + static_cast<size_t>(ids[t]) * columns + e] += dx[t * columns + e];
      }
    }
    return sums;
  }
};

class EmbeddingGradient : public testing::TestWithParam<KernelLevel> {
 protected:
  KernelSet kernels() const { return select_kernels(to_string(GetParam())); }
};
INSTANTIATE_TEST_SUITE_P(Levels, EmbeddingGradient, testing::ValuesIn(test::levels_of(Operation::kEmbedding)),
                         [](const auto& level) { return std::string(to_string(level.param)); });

TEST_P(EmbeddingGradient, IsTheSumOverTokensInAscendingOrderForAnyThreads) {
  for (const size_t tokens : {size_t{1}, size_t{2}, size_t{31}, size_t{32}, size_t{33}, size_t{500}}) {
    for (const size_t columns : {size_t{1}, size_t{7}, size_t{64}}) {
      for (const size_t rows : {size_t{2}, size_t{11}, size_t{1000}}) {
        for (const unsigned threads : {1u, 2u, 3u}) {
          ThreadPool pool(threads);
          LookUp c(tokens, columns, rows);
          EmbeddingGradientParams p = c.params();
          p.parallel = pool.parallel();
          embedding_gradient(kernels(), p);
          EXPECT_EQ(c.table, c.expected(-1)) << tokens << " tokens, " << columns << " x " << rows << ", " << threads;
          EXPECT_EQ(c.scratch.back(), ~uint64_t{0});
        }
      }
    }
  }
}

TEST_P(EmbeddingGradient, ThePaddingRowGetsNothing) {
  LookUp c(200, 5, 20);
  EmbeddingGradientParams p = c.params();
  p.skipped_id = 0;
  embedding_gradient(kernels(), p);
  EXPECT_EQ(c.table, c.expected(0));
  for (size_t e = 0; e < 5; ++e) EXPECT_EQ(c.table[1 + e], 0.5f);
}

// <y, lookup(table)> in double moves with the table as the gradient says.
TEST_P(EmbeddingGradient, IsTheFiniteDifferenceOfTheLookUp) {
  LookUp c(40, 3, 6);
  std::fill(c.table.begin() + 1, c.table.end() - 1, 0.0f);
  embedding_gradient(kernels(), c.params());
  const auto loss = [&](const std::vector<double>& table) {
    double sum = 0;
    for (size_t i = 0; i < c.dx.size(); ++i) {
      sum += double{c.dx[i]} * table[static_cast<size_t>(c.ids[i / 3]) * 3 + i % 3];
    }
    return sum;
  };
  for (size_t i = 0; i < 18; ++i) {
    std::vector<double> above(18), below(18);
    above[i] = 0.5;
    below[i] = -0.5;
    EXPECT_NEAR(c.table[1 + i], loss(above) - loss(below), 1e-5);
  }
}

TEST(EmbeddingGradientArguments, RefuseNullPointersAndIdsOutsideTheTable) {
  LookUp c(4, 3, 5);
  EmbeddingGradientParams p = c.params();
  p.scratch = nullptr;
  EXPECT_ERROR(embedding_gradient(select_kernels("auto"), p), kInternal, "a null pointer");
  for (const int32_t id : {-1, 5}) {
    c.ids[2] = id;
    EXPECT_ERROR(embedding_gradient(select_kernels("auto"), c.params()), kInternal, "an id outside the table");
  }
  p.tokens = 0;
  EXPECT_NO_THROW(embedding_gradient(select_kernels("auto"), p));
}

}  // namespace
}  // namespace deberta::embedding_gradient_test

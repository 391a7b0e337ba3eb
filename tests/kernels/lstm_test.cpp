// A step of an LSTM against the same in double.
#include "kernels/lstm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/random.h"

namespace deberta::lstm_test {
namespace {

constexpr size_t kRows = 5, kColumns = 7, kCells = kRows * kColumns;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

struct Step {
  std::vector<float> gates = test::normals(1, kRows * 4 * kColumns, 2);
  std::vector<float> cell = test::normals(2, kCells);
  std::vector<float> hidden = std::vector<float>(kCells, 99.0f);

  void run(bool is_first) {
    lstm_step({}, {.gates_N4H = gates.data(),
                   .rows = kRows,
                   .columns = kColumns,
                   .cell_NH = cell.data(),
                   .is_first = is_first,
                   .hidden_NH = hidden.data()});
  }
};

TEST(LstmStep, TakesTheGatesInTheOrderInputForgetCellOutput) {
  for (const bool is_first : {false, true}) {
    Step step;
    const std::vector<float> before = step.cell;
    step.run(is_first);
    for (size_t n = 0; n < kRows; ++n) {
      for (size_t k = 0; k < kColumns; ++k) {
        const auto gate = [&](size_t which) { return double{step.gates[(n * 4 + which) * kColumns + k]}; };
        const size_t at = n * kColumns + k;
        const double kept = is_first ? 0 : sigmoid(gate(1)) * double{before[at]};
        const double cell = kept + sigmoid(gate(0)) * std::tanh(gate(2));
        EXPECT_NEAR(step.cell[at], cell, 1e-6) << n << ", " << k;
        EXPECT_NEAR(step.hidden[at], sigmoid(gate(3)) * std::tanh(cell), 1e-6) << n << ", " << k;
      }
    }
  }
}

TEST(LstmStep, SaturatesAndPassesOnWhatIsNoNumber) {
  Step step;
  step.gates.assign(step.gates.size(), 1e4f);
  step.run(true);
  EXPECT_EQ(step.cell[0], 1.0f);
  EXPECT_FLOAT_EQ(step.hidden[0], std::tanh(1.0f));
  step.gates.assign(step.gates.size(), -1e4f);
  step.run(false);
  EXPECT_EQ(step.cell[0], 0.0f);
  step.gates[0] = std::nanf("");
  step.run(false);
  EXPECT_TRUE(std::isnan(step.cell[0]) && std::isnan(step.hidden[0]));
  EXPECT_FALSE(std::isnan(step.cell[1]) || std::isnan(step.hidden[kColumns])) << "of the same row, of another row";
}

}  // namespace
}  // namespace deberta::lstm_test

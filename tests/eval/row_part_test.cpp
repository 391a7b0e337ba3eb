// Which rows a run holds out.
#include "eval/row_part.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace deberta::row_part_test {
namespace {

std::vector<bool> taken(const RowPart& part, size_t rows) {
  PartPicker picker(part);
  std::vector<bool> taken;
  for (size_t i = 0; i < rows && !picker.is_done(); ++i) taken.push_back(picker.takes());
  return taken;
}

size_t count(const std::vector<bool>& rows) {
  return static_cast<size_t>(std::count(rows.begin(), rows.end(), true));
}

TEST(RowPart, NoPartTakesAll) {
  PartPicker picker(std::nullopt);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(picker.takes());
  EXPECT_FALSE(picker.is_done());
}

TEST(RowPart, ThePartsAreTheRowsAndTheHeldOutOneHasItsShareOfEveryStretch) {
  for (const double share : {.5, .4, .3, .25, .1, .07, .01}) {
    for (const uint64_t seed : {0u, 1u, 1234u}) {
      RowPart part{.share = share, .seed = seed};
      const std::vector<bool> rest = taken(part, 3000);
      part.is_held_out = true;
      const std::vector<bool> held_out = taken(part, 3000);
      for (size_t i = 0; i < rest.size(); ++i) EXPECT_NE(rest[i], held_out[i]);
      EXPECT_NEAR(static_cast<double>(count(held_out)), 3000 * share, 1) << share;
      const auto stretch = static_cast<size_t>(2 / share) + 2;  // holds a whole block
      for (size_t first = 0; first + stretch <= held_out.size(); first += stretch) {
        const auto begin = held_out.begin() + static_cast<std::ptrdiff_t>(first);
        EXPECT_TRUE(std::find(begin, begin + static_cast<std::ptrdiff_t>(stretch), true) !=
                    begin + static_cast<std::ptrdiff_t>(stretch));
      }
    }
  }
}

TEST(RowPart, TheSeedDecides) {
  EXPECT_EQ(taken({.share = .1, .seed = 5}, 500), taken({.share = .1, .seed = 5}, 500));
  EXPECT_NE(taken({.share = .1, .seed = 5}, 500), taken({.share = .1, .seed = 6}, 500));
}

TEST(RowPart, TheFirstRowsAlone) {
  EXPECT_EQ(taken({.share = .1, .most_rows = 40}, 500).size(), 40u);
}

TEST(RowPart, RowsOfAGroupStayTogether) {
  PartPicker picker(RowPart{.share = .25, .seed = 3, .is_held_out = true});
  size_t held_out = 0;
  for (uint64_t group = 0; group < 100; ++group) {
    const bool is_taken = picker.takes({.neighbours = group});
    held_out += is_taken;
    for (uint64_t row = 0; row < group % 4; ++row) EXPECT_EQ(picker.takes({.neighbours = group}), is_taken);
  }
  EXPECT_EQ(held_out, 25u);
}

// Three strata, one of them rare.
TEST(RowPart, FoldsAreTheRowsAndEachHasItsShareOfEveryStratum) {
  for (const size_t folds : {2u, 5u, 10u, 100u}) {
    std::vector<size_t> times(1000, 0);
    for (size_t fold = 0; fold < folds; ++fold) {
      PartPicker picker(RowPart{.seed = 7, .is_held_out = true, .folds = folds, .fold = fold});
      std::map<std::string, size_t> of_stratum;
      for (size_t row = 0; row < times.size(); ++row) {
        const std::string stratum = row % 100 == 3 ? "rare" : row % 3 == 0 ? "a" : "b";
        if (!picker.takes({.stratum = stratum})) continue;
        ++times[row];
        ++of_stratum[stratum];
      }
      for (const auto& [stratum, rows] : std::map<std::string, size_t>{{"rare", 10}, {"a", 330}, {"b", 660}}) {
        EXPECT_GE(of_stratum[stratum], rows / folds) << stratum << folds;
        EXPECT_LE(of_stratum[stratum], (rows + folds - 1) / folds) << stratum << folds;
      }
    }
    for (const size_t count : times) EXPECT_EQ(count, 1u);
  }
}

TEST(RowPart, RowsOfAGroupStayTogetherWhereverTheyStand) {
  for (const RowPart& part : {RowPart{.share = .2, .seed = 3, .is_held_out = true},
                              RowPart{.seed = 3, .is_held_out = true, .folds = 5, .fold = 2}}) {
    PartPicker picker(part);
    std::map<std::string, bool> taken;
    size_t held_out = 0;
    for (size_t row = 0; row < 600; ++row) {
      const std::string group = "g" + std::to_string(row * 7 % 50);
      const bool is_taken = picker.takes({.neighbours = row, .group = group, .stratum = row % 2 == 0 ? "a" : "b"});
      EXPECT_EQ(taken.emplace(group, is_taken).first->second, is_taken);
      held_out += is_taken;
    }
    EXPECT_EQ(taken.size(), 50u);
    EXPECT_NEAR(static_cast<double>(held_out), 120, 24);
  }
}

}  // namespace
}  // namespace deberta::row_part_test

// Rows of the relative table: the values of model.md#relative-positions and those of the original code.
#include "kernels/rel_lut.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::rel_lut_test {
namespace {

RelLut published(int64_t max_length, bool clamps_distance = true) {
  return RelLut({256, 512, clamps_distance, max_length});
}

TEST(RelLut, GoldenRowsOfThePublishedModels) {
  const RelLut lut = published(600);
  EXPECT_EQ(lut.rows(), 512);
  const std::map<int, int> buckets = {{0, 0},     {1, 1},     {127, 127}, {128, 128}, {129, 129}, {130, 130},
                                      {131, 131}, {132, 131}, {140, 137}, {200, 169}, {256, 192}, {300, 207},
                                      {400, 233}, {500, 254}, {505, 254}, {506, 255}, {511, 255}};
  for (const auto& [distance, bucket] : buckets) {
    EXPECT_EQ(lut.row(distance), 256 + bucket) << "distance " << distance;
    EXPECT_EQ(lut.row(-distance), 256 - bucket) << "distance " << -distance;
  }
}

TEST(RelLut, BeyondTheTableTheOriginalKeepsRow1AndHfTakesRow0) {
  const RelLut original = published(2048);
  const RelLut hf = published(2048, false);
  for (const int t : {506, 511, 512, 513, 2047}) {
    EXPECT_EQ(original.row(t), 511);
    EXPECT_EQ(original.row(-t), 1);
    EXPECT_EQ(hf.row(t), 511);
    EXPECT_EQ(hf.row(-t), t <= 511 ? 1 : 0);
  }
  for (int t = -511; t <= 511; ++t) EXPECT_EQ(original.row(t), hf.row(t));
}

// Recorded from make_log_bucket_position of transformers 4.57, which computes logarithms in float; in double 1643 falls
// into 428.
TEST(RelLut, HfTakesLogarithmsInFloat) {
  const RelLut hf({512, 4096, false, 2048});
  const RelLut original({512, 4096, true, 2048});
  const std::map<int, int> buckets = {{600, 335}, {1642, 427}, {1643, 427}, {1644, 428}};
  for (const auto& [distance, bucket] : buckets) {
    EXPECT_EQ(hf.row(distance), 512 + bucket) << distance;
    EXPECT_EQ(hf.row(-distance), 512 - bucket) << -distance;
  }
  EXPECT_EQ(original.row(1643), 512 + 428);
}

TEST(RelLut, ReachableRowsByLength) {
  const RelLut lut = published(600);
  const RelLut hf = published(600, false);
  const std::map<int, size_t> counts = {{16, 31},   {32, 63},   {64, 127},  {128, 255}, {129, 257}, {200, 339},
                                        {256, 385}, {384, 459}, {511, 511}, {512, 511}, {513, 511}, {514, 511}};
  for (const auto& [length, count] : counts) {
    std::set<int32_t> rows, hf_rows;
    for (int t = -(length - 1); t < length; ++t) {
      rows.insert(lut.row(t));
      hf_rows.insert(hf.row(t));
    }
    EXPECT_EQ(rows.size(), count) << "length " << length;
    EXPECT_EQ(hf_rows.size(), length > 512 ? 512 : count) << "length " << length;
  }
}

TEST(RelLut, IsMonotoneWithUnitStepsAndMirrored) {
  const RelLut lut = published(1000);
  EXPECT_TRUE(lut.has_unit_steps());
  for (int64_t t = -1000; t < 1000; ++t) {
    EXPECT_GE(lut.row(t + 1) - lut.row(t), 0);
    EXPECT_LE(lut.row(t + 1) - lut.row(t), 1);
  }
  for (int64_t t = 0; t <= 511; ++t) EXPECT_EQ(lut.row(-t), 512 - lut.row(t));
}

TEST(RelLut, PermsRebuildTheRowsOfNeighbours) {
  const RelLutParams all[] = {{256, 512, true, 600}, {256, 512, false, 600}, {4, 9, true, 40},  {8, 16, true, 40},
                              {32, 64, true, 200},   {-1, 512, true, 600},   {-1, 16, true, 70}};
  for (const RelLutParams& params : all) {
    const RelLut lut(params);
    ASSERT_TRUE(lut.has_unit_steps());
    for (int64_t t = -params.max_length; t <= params.max_length; ++t) {
      for (int64_t l = 0; l < 16; ++l) {
        const auto lane = static_cast<size_t>(l);
        ASSERT_LT(lut.perm_q(t)[lane], 16);
        ASSERT_LT(lut.perm_k(t)[lane], 16);
        ASSERT_EQ(lut.base_q(t) + lut.perm_q(t)[lane], lut.row(t + l));
        ASSERT_EQ(lut.base_k(t) + lut.perm_k(t)[lane], lut.rows() - 1 - lut.row(t - l));
      }
    }
  }
}

TEST(RelLut, LimitsSayWhereRowsAreLinearAndWhereConstant) {
  const RelLut lut = published(1000);
  EXPECT_EQ(lut.linear_limit(), 128);
  EXPECT_EQ(lut.t_hi(), 506);
  EXPECT_EQ(lut.t_lo(), -506);
  EXPECT_EQ(published(1000, false).t_lo(), -512);
  const RelLut v1({-1, 512, true, 1000});
  EXPECT_EQ(v1.linear_limit(), 511);
  EXPECT_EQ(v1.t_hi(), 511);
  EXPECT_EQ(v1.t_lo(), -512);
  for (int64_t t = -128; t <= 128; ++t) EXPECT_EQ(lut.row(t), t + 256);
}

// In the middle of the table every distance has the row it has in the whole one, and none is constant before its end.
TEST(RelLut, RowsThatAreReachedAreTheMiddleOfTheTable) {
  for (const RelLutParams& all : {RelLutParams{256, 512, true, 700},
                                  {256, 512, false, 700},
                                  {32, 64, true, 700},
                                  {-1, 512, true, 700},
                                  {6, 9, true, 700}}) {
    const RelLut whole(all);
    for (const int64_t longest : {0, 1, 2, 14, 15, 31, 32, 127, 128, 129, 255, 300, 511, 512, 700}) {
      RelLutParams params = all;
      params.kept_rows = reached_rows(all, longest);
      const RelLut kept(params);
      EXPECT_TRUE(kept.rows() == whole.rows() || kept.rows() % 32 == 0);
      const bool is_whole = kept.rows() == whole.rows();
      for (int64_t t = -longest + 1; t < longest; ++t) {
        ASSERT_EQ(kept.row(t) - kept.rows() / 2, whole.row(t) - whole.rows() / 2) << longest << ", distance " << t;
        ASSERT_TRUE(is_whole || (kept.t_lo() < t && t < kept.t_hi())) << longest << ", distance " << t;
      }
      for (int64_t t = -kept.linear_limit(); t <= kept.linear_limit(); ++t) ASSERT_EQ(kept.row(t), t + kept.rows() / 2);
      EXPECT_TRUE(kept.has_unit_steps());
    }
  }
  EXPECT_EQ(reached_rows({256, 512, true, 128}, 128), 288);
  EXPECT_EQ(reached_rows({256, 512, true, 128}, 25), 64);
  EXPECT_EQ(reached_rows({256, 512, true, 512}, 512), 512);
}

TEST(RelLut, WithoutBucketsTheRowIsTheClampedDistance) {
  const RelLut lut({-1, 512, true, 2048});
  EXPECT_EQ(lut.rows(), 1024);
  EXPECT_EQ(lut.row(0), 512);
  EXPECT_EQ(lut.row(-511), 1);
  EXPECT_EQ(lut.row(-512), 0);
  EXPECT_EQ(lut.row(-2047), 0);
  EXPECT_EQ(lut.row(511), 1023);
  EXPECT_EQ(lut.row(512), 1023);
}

TEST(RelLut, AlmostAllBucketsInTheHalfMeansNoPerms) {
  EXPECT_FALSE(RelLut({256, 200, true, 300}).has_unit_steps());
}

// Senseless, but this is what transformers computes: the logarithmic buckets run backwards.
TEST(RelLut, FewerPositionsThanHalfOfTheBucketsAsTransformersHasThem) {
  const RelLut lut({256, 1, false, 300});
  EXPECT_EQ(lut.row(128), 256 + 128);
  EXPECT_EQ(lut.row(129), 256 + 128);
  EXPECT_EQ(lut.row(-300), 256 - 128);
  const RelLut hundred({256, 100, false, 300});
  EXPECT_EQ(hundred.row(129), 256 + 125);  // ceil(log(129 / 128) / log(99 / 128) * 127) = -3
  EXPECT_EQ(hundred.row(-200), 256 + 92);  // ceil(log(200 / 128) / log(99 / 128) * 127) = -220
  EXPECT_EQ(hundred.row(-300), 511);
  EXPECT_FALSE(hundred.has_unit_steps());
}

TEST(RelLut, RefusesSettingsWithoutAValue) {
  EXPECT_ERROR(RelLut({1, 512, true, 16}), kUnsupported, "position_buckets: expected at least 2, got 1");
  EXPECT_ERROR(RelLut({256, 129, false, 16}), kUnsupported,
               "expected max_relative_positions other than half of position_buckets and one, got 129");
  EXPECT_ERROR(RelLut({-1, 20000, true, 16}), kUnsupported, "expected at most 32767 rows, got 40000");
  EXPECT_ERROR(RelLut({-1, 0, true, 16}), kUnsupported, "positive");
  for (const int64_t rows : {-2, 31, 66}) {
    EXPECT_ERROR(RelLut({32, 64, true, 16, rows}), kUnsupported, "kept_rows: expected an even number of the 64 rows");
  }
}

TEST(RelLut, AgreesWithTheOriginalCodeForEveryPairOfSettings) {
  const std::string path = test::shared("reference/original-goldens/rows.json");
  if (path.empty()) GTEST_SKIP() << "needs the shared folder";
  const Json document = load_json(path, {.max_bytes = 8 << 20});
  size_t compared = 0;
  for (const Json& entry : document.find("table")->as_array()) {
    const int64_t first = entry.find("first_distance")->as_integer();
    const JsonArray& rows = entry.find("rows")->as_array();
    const RelLut lut({entry.find("position_buckets")->as_integer(), entry.find("max_relative_positions")->as_integer(),
                      true, std::abs(first) + 1});
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t t = first + static_cast<int64_t>(i);
      if (std::abs(t) > lut.extent()) continue;
      ASSERT_EQ(lut.row(t), rows[i].as_integer()) << entry.find("position_buckets")->describe() << " distance " << t;
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000u);
}

}  // namespace
}  // namespace deberta::rel_lut_test

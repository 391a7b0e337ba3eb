// Angles between tables, against loops over their rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "deberta/analysis.h"
#include "deberta/checkpoint.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/tiny_model.h"

namespace deberta::table_angles_test {
namespace {

struct Cosines {
  double mean = 0, largest = 0;
};

// Of the rows from `first_row` of the second table on.
Cosines loop(const Checkpoint& checkpoint, const char* first, const char* second, size_t first_row) {
  const TensorView &a = *checkpoint.find(first), &b = *checkpoint.find(second);
  const std::vector<float> x = to_fp32(a), y = to_fp32(b);
  const size_t columns = static_cast<size_t>(a.shape[1]), rows = x.size() / columns, others = y.size() / columns;
  Cosines cosines;
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = first_row; j < others; ++j) {
      double xy = 0, xx = 0, yy = 0;
      for (size_t k = 0; k < columns; ++k) {
        xy += double{x[i * columns + k]} * double{y[j * columns + k]};
        xx += double{x[i * columns + k]} * double{x[i * columns + k]};
        yy += double{y[j * columns + k]} * double{y[j * columns + k]};
      }
      const double cosine = std::abs(xy) / std::sqrt(xx * yy);
      cosines.mean += cosine / static_cast<double>(rows * (others - first_row));
      cosines.largest = std::max(cosines.largest, cosine);
    }
  }
  return cosines;
}

TEST(TableAngles, AreThoseOfAllPairsOfTrainedRows) {
  const test::TemporaryFolder folder;
  const ModelConfig config = test::tiny_config();
  test::write_tiny_model(folder.path(), config, Head::kMaskedLm);
  const Checkpoint checkpoint = Checkpoint::open(folder.path());
  const std::vector<TableAngles> all = table_angles(checkpoint, config);
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[1].first + " " + all[1].second, "word relative");
  EXPECT_EQ(all[1].first_rows, 50u);
  EXPECT_EQ(all[1].second_rows, 15u) << "no distance has row 0";
  const Cosines relative = loop(checkpoint, "embeddings.word_embeddings.weight", "encoder.rel_embeddings.weight", 1);
  EXPECT_NEAR(all[1].mean_cosine, relative.mean, 1e-5);
  EXPECT_NEAR(all[1].largest_cosine, relative.largest, 1e-5);
  const Cosines absolute =
      loop(checkpoint, "embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight", 0);
  EXPECT_EQ(all[0].second, "absolute");
  EXPECT_NEAR(all[0].mean_cosine, absolute.mean, 1e-5);
  EXPECT_NEAR(all[0].random, std::sqrt(2 / (16 * 3.14159265358979)), 1e-9);
}

TEST(TableAngles, AreOfTablesOfOneWidthAlone) {
  const test::TemporaryFolder folder;
  ModelConfig config = test::tiny_config();
  config.embedding_size = 8;
  test::write_tiny_model(folder.path(), config, Head::kNone);
  const std::vector<TableAngles> all = table_angles(Checkpoint::open(folder.path()), config);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].first + " " + all[0].second, "word absolute") << "the relative table has another width";
}

TEST(TableAngles, NeedATableOfPositions) {
  const test::TemporaryFolder folder;
  ModelConfig config = test::tiny_config();
  config.relative_attention = false;
  const std::vector<float> words(static_cast<size_t>(config.vocab_size * config.embedding_size), 1.0f);
  write_safetensors(folder.path() + "/model.safetensors",
                    std::vector<TensorView>{{"deberta.embeddings.word_embeddings.weight",
                                             DType::kF32,
                                             {config.vocab_size, config.embedding_size},
                                             std::as_bytes(std::span(words))}});
  EXPECT_ERROR(table_angles(Checkpoint::open(folder.path()), config), kInput, "expected vectors of positions");
}

}  // namespace
}  // namespace deberta::table_angles_test

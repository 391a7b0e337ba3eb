// Batches as tensors of a file: what is left out of them, what is to be predicted, and files that have neither.
#include "train/replay/replay_files.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/tensor.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::train {
namespace {

// A file of integers, made anew for each reading.
class ReplayFilesTest : public testing::Test {
 protected:
  void add(const std::string& name, const Shape& shape, std::vector<int64_t> values) {
    const std::vector<int64_t>& kept = values_.emplace_back(std::move(values));
    views_.push_back({"0." + name, DType::kI64, shape, std::as_bytes(std::span(kept))});
  }
  Checkpoint open() {
    write_safetensors(path(), views_);
    return Checkpoint::open_file(path());
  }
  ReplayBatch read() { return read_step(open(), "batches", "0"); }
  std::string path() const { return folder_.path("batches.safetensors"); }

  test::TemporaryFolder folder_;
  std::deque<std::vector<int64_t>> values_;
  std::vector<TensorView> views_;
};

TEST_F(ReplayFilesTest, PaddingAtTheEndsIsLeftOutAndAHoleStaysAsAMaskedToken) {
  add("input_ids", {2, 4}, {5, 6, 0, 0, 7, 8, 9, 0});
  add("attention_mask", {2, 4}, {1, 1, 0, 0, 1, 0, 1, 0});
  add("labels", {2, 4}, {-100, 3, -100, -100, 4, -100, -100, 2});  // the last is of padding
  const ReplayBatch read = this->read();
  EXPECT_EQ(read.batch.ids_T, (std::vector<int32_t>{5, 6, 7, 8, 9}));
  EXPECT_EQ(read.batch.starts, (std::vector<int32_t>{0, 2, 5}));
  EXPECT_EQ(read.batch.mask_T, (std::vector<uint8_t>{1, 1, 1, 0, 1}));
  EXPECT_EQ(read.rows_T, (std::vector<int32_t>{0, 1, 4, 5, 6}));
  EXPECT_EQ(read.batch.rows_P, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(read.batch.labels_P, (std::vector<int32_t>{3, 4}));
}

TEST_F(ReplayFilesTest, ATensorThatIsNotThereIsEmpty) {
  add("input_ids", {1, 2}, {5, 6});
  EXPECT_TRUE(read_integers(open(), "batches", "0", "new_ids").empty());
  EXPECT_ERROR(read(), kInput, "batches: expected a tensor 0.labels, got none");
}

TEST_F(ReplayFilesTest, OtherShapesAndNumbersAreRefused) {
  add("input_ids", {1, 2}, {5, 6});
  add("labels", {2, 1}, {1, 2});
  EXPECT_ERROR(read(), kInput, "batches: 0.labels: expected the shape of input_ids");
  views_.pop_back();
  add("labels", {1, 2}, {1, int64_t{1} << 40});
  EXPECT_ERROR(read(), kInput, "batches: 0.labels: 1099511627776 is out of range");
  views_.clear();
  add("input_ids", {2}, {5, 6});
  EXPECT_ERROR(read(), kInput, "batches: 0.input_ids: expected the shape [B, L]");
}

TEST_F(ReplayFilesTest, ResultsAreKeptUntilTheyAreWritten) {
  ReplayResults results;
  results.add("0.loss", 0.5);
  for (int n = 0; n < 3; ++n) {  // memory that is gone when they are written
    const std::vector<float> values = {1, static_cast<float>(n)};
    results.add(std::to_string(n) + ".grad.a", {1, 2}, values);
  }
  results.write(folder_.path("out.safetensors"));
  const Checkpoint written = Checkpoint::open_file(folder_.path("out.safetensors"));
  EXPECT_EQ(to_fp32(*written.find("0.loss")), (std::vector<float>{0.5f}));
  EXPECT_EQ(written.find("2.grad.a")->shape, (Shape{1, 2}));
  EXPECT_EQ(to_fp32(*written.find("2.grad.a")), (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace deberta::train

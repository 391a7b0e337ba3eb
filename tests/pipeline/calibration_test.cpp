// Calibrated int8 and bf16 against fp32 on a trained model, as it is and with channels made uneven.
#include "pipeline/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "checkpoint/safetensors.h"
#include "data/table.h"
#include "deberta/pipeline.h"
#include "kernels/dispatch.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/random.h"
#include "support/sanitizers.h"
#include "support/tiny_model.h"

namespace deberta::calibration_test {
namespace {

using namespace test;

constexpr auto kUnheard = [](size_t) {};
constexpr size_t kDevRows = kSanitized ? 40 : 872, kTrainRows = kSanitized ? 20 : 128;

Model load(const std::string& folder, Precision precision) {
  return Model::load(Checkpoint::open(folder), load_model_config(folder + "/config.json"),
                     {.precision = precision, .allows_uncalibrated = true});
}

void put_calibration(const std::string& folder, std::span<const Encoding> texts) {
  const Checkpoint checkpoint = Checkpoint::open(folder);
  const Calibration calibration = calibrate(load(folder, Precision::kFp32), checkpoint, texts, 0.5, kUnheard);
  const std::string path = calibration_path(checkpoint);
  write_output_file(path, [&](FileWriter& file) { write_calibration(file, path, calibration); });
}

OutputComparison beside_fp32(const std::string& folder, Precision precision, std::span<const Encoding> texts) {
  return compare_outputs(load(folder, Precision::kFp32), load(folder, precision), texts, kUnheard);
}

// nano-sst2 in a folder of its own, and texts of SST-2; empty without the shared folder.
class TrainedInt8 : public testing::Test {
 protected:
  void SetUp() override {
    const std::string model = shared("reference/models/nano-sst2");
    const std::string data = shared("data/glue/SST-2");
    if (model.empty() || data.empty()) GTEST_SKIP() << "needs the shared folder";
    if (available_levels().size() == 1) GTEST_SKIP() << "the reference kernels alone are too slow for a trained model";
    for (const char* name : {"config.json", "model.safetensors"})
      std::filesystem::copy(model + "/" + name, folder_.path(name));
    const Tokenizer tokenizer = Tokenizer::load(model);
    dev_ = read_texts(tokenizer, data + "/dev.tsv.xz", kDevRows);
    train_ = read_texts(tokenizer, data + "/train.tsv.xz", kTrainRows);
  }

  static std::vector<Encoding> read_texts(const Tokenizer& tokenizer, const std::string& path, size_t most) {
    TableReader reader(LineReader(ByteSource(path)), {});
    std::vector<Encoding> texts;
    for (TableRow row; texts.size() < most && reader.next(row);) texts.push_back(tokenizer.encode(row.cells.at(0), {}));
    return texts;
  }

  // Multiplies rows of the value projections by factors from 1 / most to most, and divides the columns that read them
  // by the same factors: the function stays the same.
  void rescale(double most) const {
    std::map<std::string, std::pair<Shape, std::vector<float>>> tensors;
    {
      const SafetensorsFile file(folder_.path("model.safetensors"));
      for (const TensorView& tensor : file.tensors()) tensors[tensor.name] = {tensor.shape, to_fp32(tensor)};
    }
    std::vector<TensorView> views;
    for (auto& [name, tensor] : tensors) {
      auto& [shape, values] = tensor;
      const size_t columns = shape.size() > 1 ? static_cast<size_t>(shape[1]) : 1;
      const bool makes = name.find("value_proj") != std::string::npos;
      const bool reads = name.ends_with("attention.output.dense.weight");
      for (size_t i = 0; i < values.size(); ++i) {
        const auto factor_of = [&](size_t channel) {
          return static_cast<float>(std::pow(most, 2 * uniform_at(5, channel) - 1));
        };
        if (makes) values[i] *= factor_of(i / columns);
        if (reads) values[i] /= factor_of(i % columns);
      }
      views.push_back({name, DType::kF32, shape, std::as_bytes(std::span(values))});
    }
    write_safetensors(folder_.path("model.safetensors"), views);
  }

  static size_t differing(const OutputComparison& comparison) { return comparison.answers - comparison.equal_answers; }
  static void record(const char* what, const OutputComparison& comparison) {
    RecordProperty(what, std::to_string(comparison.cosine) + ", differing " + std::to_string(differing(comparison)));
  }
  // Calibrated on texts of the training set, evaluated on those of the dev set.
  void expect_int8_answers_as_fp32() {
    put_calibration(folder_.path(), train_);
    const OutputComparison int8 = beside_fp32(folder_.path(), Precision::kInt8, dev_);
    EXPECT_LE(differing(int8), 3u);
    EXPECT_GT(int8.cosine, 0.999);
    record("int8", int8);
  }

  TemporaryFolder folder_;
  std::vector<Encoding> dev_, train_;
};

TEST_F(TrainedInt8, AnswersOfSst2AreThoseOfFp32) {
  ASSERT_EQ(dev_.size(), kDevRows);
  const OutputComparison bf16 = beside_fp32(folder_.path(), Precision::kBf16, dev_);
  EXPECT_EQ(bf16.answers, dev_.size());
  EXPECT_LE(differing(bf16), 1u);
  EXPECT_GT(bf16.cosine, 0.9999);
  record("bf16", bf16);
  expect_int8_answers_as_fp32();
}

TEST_F(TrainedInt8, UnevenChannelsNeedACalibration) {
  const std::span<const Encoding> few = std::span(dev_).first(kDevRows / 20);
  const Model before = load(folder_.path(), Precision::kFp32);
  rescale(40);
  EXPECT_GT(compare_outputs(before, load(folder_.path(), Precision::kFp32), few, kUnheard).cosine, 0.9999999);
  const OutputComparison without = beside_fp32(folder_.path(), Precision::kInt8, std::span(dev_).first(kDevRows / 3));
  EXPECT_TRUE(without.cosine < 0.999 || differing(without) > 3)
      << "cosine " << without.cosine << ", differing " << differing(without);
  record("without", without);
  expect_int8_answers_as_fp32();
}

// ---- tiny models of every head

std::vector<Encoding> some_texts() {
  std::vector<Encoding> texts;
  for (int32_t i = 0; i < 5; ++i) {
    Encoding text;
    for (int32_t k = 0; k < 5 + 2 * i; ++k) text.ids.push_back(1 + (i * 7 + k * 11) % 49);
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(CalibratedHeads, EveryHeadHasOutputsToCompare) {
  for (const Head head : {Head::kNone, Head::kSequence, Head::kToken, Head::kTokenOriginal, Head::kSpan,
                          Head::kMaskedLm, Head::kReplacedToken}) {
    SCOPED_TRACE(to_string(head));
    const TemporaryFolder folder;
    write_tiny_model(folder.path(), tiny_config(), head);
    const std::vector<Encoding> texts = some_texts();
    put_calibration(folder.path(), texts);
    const OutputComparison same = beside_fp32(folder.path(), Precision::kFp32, texts);
    EXPECT_EQ(same.cosine, 1);
    EXPECT_EQ(same.least_cosine, 1);
    EXPECT_EQ(same.equal_answers, same.answers);
    const OutputComparison int8 = beside_fp32(folder.path(), Precision::kInt8, texts);
    EXPECT_LT(int8.cosine, 1);
    EXPECT_GT(int8.cosine, 0.99);
    EXPECT_LE(int8.least_cosine, int8.mean_cosine);
    const bool has_answers =
        head == Head::kSequence || head == Head::kToken || head == Head::kTokenOriginal || head == Head::kMaskedLm;
    EXPECT_EQ(int8.answers > 0, has_answers);
  }
}

TEST(CalibratedHeads, TextsAndTokensAreCountedAndHavingNoneIsAnError) {
  const TemporaryFolder folder;
  write_tiny_model(folder.path(), tiny_config(), Head::kSequence);
  const Checkpoint checkpoint = Checkpoint::open(folder.path());
  const Model model = load(folder.path(), Precision::kFp32);
  size_t heard = 0;
  const Calibration calibration = calibrate(model, checkpoint, some_texts(), 0.5, [&](size_t texts) { heard = texts; });
  EXPECT_EQ(calibration.texts, 5u);
  EXPECT_EQ(calibration.tokens, 45u);
  EXPECT_EQ(heard, 5u);
  EXPECT_ERROR(calibrate(model, checkpoint, {}, 0.5, kUnheard), kInput, "expected texts, got none");
}

// A sequence head reads one row of the last layer; other verbs read all of them.
TEST(CalibratedHeads, TheLastLayerIsCalibratedOnEveryToken) {
  const TemporaryFolder folder, bare;
  write_tiny_model(folder.path(), tiny_config(), Head::kSequence);
  write_tiny_model(bare.path(), tiny_config(), Head::kNone);
  const auto last_of = [](const std::string& path) {
    const Calibration calibration =
        calibrate(load(path, Precision::kFp32), Checkpoint::open(path), some_texts(), 0.5, kUnheard);
    return calibration.of(1, CalibratedInput::kDown).reciprocal_K;
  };
  EXPECT_EQ(last_of(folder.path()), last_of(bare.path()));
}

TEST(CalibratedHeads, MultilingualVocabulariesAreSmoothedMore) {
  ModelConfig config = tiny_config();
  EXPECT_EQ(usual_smoothing(config), 0.5);
  config.vocab_size = 251000;
  EXPECT_EQ(usual_smoothing(config), 0.7);
}

}  // namespace
}  // namespace deberta::calibration_test

// calibration.safetensors: what is written is read back; other weights and every broken file are refused.
#include "checkpoint/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "checkpoint/safetensors.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/tiny_model.h"

namespace deberta::calibration_test {
namespace {

using namespace test;

struct NamedTensor {
  DType dtype = DType::kF32;
  Shape shape;
  std::vector<float> values;
};

// The content of a file, for a test to change in one way.
struct Content {
  std::map<std::string, NamedTensor> tensors;
  std::map<std::string, std::string> metadata;
};

void write_content(const std::string& path, const Content& content) {
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : content.tensors)
    views.push_back({name, tensor.dtype, tensor.shape, std::as_bytes(std::span(tensor.values))});
  write_safetensors(path, views, {content.metadata.begin(), content.metadata.end()});
}

Content read_content(const std::string& path) {
  const SafetensorsFile file(path);
  Content content;
  for (const TensorView& tensor : file.tensors())
    content.tensors[tensor.name] = {tensor.dtype, tensor.shape, to_fp32(tensor)};
  content.metadata = {file.metadata().begin(), file.metadata().end()};
  return content;
}

class CalibrationFile : public testing::Test {
 protected:
  CalibrationFile() { write_tiny_model(folder_.path(), config_, Head::kSequence); }

  Checkpoint open() const { return Checkpoint::open(folder_.path()); }
  std::string path() const { return folder_.path(std::string(kCalibrationName)); }
  Calibration read() const { return read_calibration(path(), open(), config_); }

  Calibration make() const {
    Calibration calibration{.smoothing = 0.7, .texts = 3, .tokens = 17, .weights = identity_of(open()), .layers = {}};
    calibration.layers.resize(2);
    for (size_t n = 0; n < 2; ++n) {
      for (size_t i = 0; i < kCalibratedInputs; ++i) {
        const size_t columns = columns_of(static_cast<CalibratedInput>(i), config_);
        std::vector<float> reciprocal_K(columns, 0.5F + static_cast<float>(n + i));
        if (i > 0) reciprocal_K[2 * i] = reciprocal_K.back() = 0;
        calibration.layers[n][i] = InputCalibration(std::move(reciprocal_K));
      }
    }
    return calibration;
  }
  void write(const Calibration& calibration) const {
    write_output_file(path(), [&](FileWriter& file) { write_calibration(file, path(), calibration); });
  }
  // A valid file with one change.
  void write_changed(const std::function<void(Content&)>& change) const {
    write(make());
    Content content = read_content(path());
    change(content);
    write_content(path(), content);
  }
  // The identity after a change to the weights.
  std::string identity_after(const std::function<void(Content&)>& change) const {
    const TemporaryFolder other;
    Content content = read_content(folder_.path("model.safetensors"));
    change(content);
    write_content(other.path("model.safetensors"), content);
    return identity_of(Checkpoint::open(other.path()));
  }

  ModelConfig config_ = tiny_config();
  TemporaryFolder folder_;
};

TEST_F(CalibrationFile, WhatIsWrittenIsReadAgain) {
  EXPECT_FALSE(has_calibration(open()));
  const Calibration calibration = make();
  write(calibration);
  EXPECT_TRUE(has_calibration(open()));
  const Calibration got = read();
  EXPECT_EQ(got.smoothing, 0.7);
  EXPECT_EQ(got.texts, 3u);
  EXPECT_EQ(got.tokens, 17u);
  ASSERT_EQ(got.layers.size(), 2u);
  for (size_t i = 0; i < kCalibratedInputs; ++i)
    EXPECT_EQ(got.layers[1][i].reciprocal_K, calibration.layers[1][i].reciprocal_K) << i;
  EXPECT_EQ(got.of(0, CalibratedInput::kProjections).outliers_O, std::vector<int32_t>{});
  EXPECT_EQ(got.of(1, CalibratedInput::kDown).outliers_O, (std::vector<int32_t>{6, 23}));
  EXPECT_EQ(got.outliers(), 12u);
  EXPECT_EQ(got.most_outliers(), 2u);
}

constexpr const char* kUp = "encoder.layer.1.intermediate.dense.reciprocal";

TEST_F(CalibrationFile, BrokenFilesAreRefusedWithTheReason) {
  const auto set_up = [](float value) { return [value](Content& c) { c.tensors[kUp].values[5] = value; }; };
  const auto set = [](const char* key, const char* value) {
    return [key, value](Content& c) { c.metadata[key] = value; };
  };
  const struct {
    std::string part;
    std::function<void(Content&)> change;
  } cases[] = {
      {"intermediate.dense.reciprocal: missing", [](Content& c) { c.tensors.erase(kUp); }},
      {"tensor encoder.layer.2.x: unexpected", [](Content& c) { c.tensors["encoder.layer.2.x"] = c.tensors[kUp]; }},
      {"expected F32 [16], got F32 [15]",
       [](Content& c) {
         c.tensors[kUp].values.pop_back();
         c.tensors[kUp].shape = {15};
       }},
      {"expected F32 [16], got F32 [4, 4]",
       [](Content& c) {
         c.tensors[kUp].shape = {4, 4};
       }},
      {"expected F32 [16], got I32 [16]", [](Content& c) { c.tensors[kUp].dtype = DType::kI32; }},
      {"channel 5: expected 0 or a number from 2^-60 to 2^60, got nan", set_up(std::nanf(""))},
      {"channel 5: expected 0 or a number", set_up(std::numeric_limits<float>::infinity())},
      {"channel 5: expected 0 or a number", set_up(-1)},
      {"channel 5: expected 0 or a number", set_up(1e-30F)},
      {"channel 5: expected 0 or a number", set_up(1e30F)},
      {"expected at most 16 channels with 0, got 17",
       [](Content& c) {
         auto& values = c.tensors["encoder.layer.0.output.dense.reciprocal"].values;
         std::fill_n(values.begin(), 16, 0.0F);  // the last one is 0 as well
       }},
      {"metadata: format: expected 1, got \"0\"", set("format", "0")},
      {"metadata: format: expected 1, got \"one\"", set("format", "one")},
      {"metadata: smoothing: expected a number from 0 to 1, got \"1.5\"", set("smoothing", "1.5")},
      {"metadata: smoothing: expected a number from 0 to 1, got \"nan\"", set("smoothing", "nan")},
      {"metadata: texts: expected a number from 1", set("texts", "0")},
      {"metadata: tokens: expected a number from 1", set("tokens", "-4")},
      {"metadata: tokens: missing", [](Content& c) { c.metadata.erase("tokens"); }},
      {"metadata: weights: missing", [](Content& c) { c.metadata.erase("weights"); }},
      {"does not belong to", set("weights", "")},
  };
  for (const auto& test_case : cases) {
    SCOPED_TRACE(test_case.part);
    write_changed(test_case.change);
    EXPECT_ERROR(read(), kCalibration, test_case.part);
  }
}

TEST_F(CalibrationFile, OfANewerFormatIsNotCalledDamaged) {
  write_changed([](Content& c) { c.metadata["format"] = "2"; });
  EXPECT_ERROR(read(), kUnsupported, "format: expected at most 1, got 2; a newer version of deberta wrote it");
}

TEST_F(CalibrationFile, AllWrongTensorsAreNamedAtOnce) {
  write_changed([](Content& c) {
    c.tensors.erase(kUp);
    c.tensors["encoder.layer.0.attention.self.reciprocal"].values[0] = -1;
  });
  EXPECT_ERROR(read(), kCalibration, "encoder.layer.0.attention.self.reciprocal");
  EXPECT_ERROR(read(), kCalibration, kUp);
}

TEST_F(CalibrationFile, AFileCutShortIsRefused) {
  write(make());
  const auto size = std::filesystem::file_size(path());
  std::filesystem::resize_file(path(), size - 1);
  EXPECT_ERROR(read(), kSafetensors, "calibration.safetensors");
}

TEST_F(CalibrationFile, ValuesThatCouldNotBeReadAreNotWritten) {
  Calibration wrong = make();
  wrong.layers[1][2].reciprocal_K[3] = std::nanf("");
  EXPECT_ERROR(write(wrong), kCalibration, "channel 3");
}

TEST_F(CalibrationFile, OtherWeightsAreRefused) {
  write(make());
  write_tiny_model(folder_.path(), config_, Head::kSequence, 3, 2);
  EXPECT_ERROR(read(), kCalibration, "does not belong to");
}

TEST_F(CalibrationFile, TheIdentityFollowsFromEncoderAndEmbeddings) {
  const std::string same = identity_of(open());
  EXPECT_EQ(identity_after([](Content&) {}), same);
  EXPECT_EQ(identity_after([](Content& c) { c.tensors["classifier.bias"].values[0] += 1; }), same);
  EXPECT_NE(
      identity_after([](Content& c) { c.tensors["deberta.encoder.layer.1.output.LayerNorm.weight"].values[15] += 1; }),
      same);
  EXPECT_NE(identity_after([](Content& c) { c.tensors["deberta.embeddings.LayerNorm.bias"].values[0] += 1; }), same);
  // The same bytes in another shape.
  EXPECT_NE(identity_after([](Content& c) {
              c.tensors["deberta.encoder.layer.0.output.dense.weight"].shape = {24, 16};
            }),
            same);
  // Without the prefix they are the same weights.
  EXPECT_EQ(identity_after([](Content& c) {
              std::map<std::string, NamedTensor> bare;
              for (const auto& [name, tensor] : c.tensors)
                bare[name.starts_with("deberta.") ? name.substr(8) : name] = tensor;
              c.tensors = bare;
            }),
            same);
}

TEST_F(CalibrationFile, TheIdentityReachesBothEndsAndTheMiddleOfALargeTensor) {
  constexpr const char* kTable = "deberta.embeddings.word_embeddings.weight";
  const auto with = [&](size_t index) {
    return identity_after([&](Content& c) {
      c.tensors[kTable] = {DType::kF32, {3000, 16}, std::vector<float>(48000, 1.0F)};
      if (index < 48000) c.tensors[kTable].values[index] = 2;
    });
  };
  const std::string same = with(48000);
  EXPECT_NE(with(0), same);
  EXPECT_NE(with(47999), same);
  // In the middle only a sample of the values is read.
  size_t seen = 0;
  for (size_t index = 20000; index < 21600; index += 16) seen += with(index) != same;
  EXPECT_GT(seen, 0u);
  EXPECT_LT(seen, 20u);
}

}  // namespace
}  // namespace deberta::calibration_test

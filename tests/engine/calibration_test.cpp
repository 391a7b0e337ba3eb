// What calibration learns from activations, what follows from it, and int8 with it.
#include "engine/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "deberta/library.h"
#include "engine/engine_case.h"
#include "engine/model_access.h"
#include "support/expect_error.h"
#include "support/implementations.h"
#include "support/test_device.h"

namespace deberta::calibration_test {
namespace {

using namespace test;

constexpr size_t kHidden = 16;

std::vector<float> range_of(const ActivationRanges& ranges, size_t layer, CalibratedInput input) {
  return ranges.layers.at(layer)[static_cast<size_t>(input)];
}

ActivationRanges ranges_of(const Model& model, const std::vector<Batch>& batches) {
  ActivationRanges ranges;
  ForwardOptions options;
  options.layers = {static_cast<int32_t>(model.config().num_hidden_layers)};
  options.wants_logits = model.head() != Head::kNone;
  ForwardResult result;
  for (const Batch& batch : batches) forward_with_ranges(model, batch, options, ranges, result);
  return ranges;
}

std::vector<float> largest_columns(const std::vector<float>& rows, size_t columns) {
  std::vector<float> largest(columns, 0.0F);
  for (size_t i = 0; i < rows.size(); ++i) largest[i % columns] = std::max(largest[i % columns], std::abs(rows[i]));
  return largest;
}

TEST(Ranges, AreTheLargestInputsOfEachLayer) {
  const Model model = load_tiny(tiny_config());
  const Batch batch = make_batch({make_ids(1, 9), make_ids(2, 40)});
  ForwardOptions options;
  options.layers = {0, 1};
  options.wants_logits = false;
  const ForwardResult result = run(model, batch, options);
  const ActivationRanges ranges = ranges_of(model, {batch});
  for (size_t n = 0; n < 2; ++n)
    EXPECT_EQ(range_of(ranges, n, CalibratedInput::kProjections), largest_columns(result.hidden[n].rows_TD, kHidden));
  for (const CalibratedInput input :
       {CalibratedInput::kAttentionOutput, CalibratedInput::kUp, CalibratedInput::kDown}) {
    const std::vector<float> range = range_of(ranges, 1, input);
    EXPECT_EQ(range.size(), input == CalibratedInput::kDown ? 24u : kHidden);
    EXPECT_TRUE(std::all_of(range.begin(), range.end(), [](float x) { return x > 0; }));
  }
}

TEST(Ranges, OfSeveralPassesAreTheWidestAndDoNotDependOnThreads) {
  const std::vector<std::vector<int32_t>> rows = {make_ids(1, 300), make_ids(2, 7), make_ids(3, 150)};
  const Model single_threaded = load_tiny(tiny_config());
  const ActivationRanges apart =
      ranges_of(single_threaded, {make_batch({rows[0]}), make_batch({rows[1]}), make_batch({rows[2]})});
  for (const size_t threads : {1u, 3u}) {
    const Model model = load_tiny(tiny_config(), Head::kNone, {.threads = threads});
    EXPECT_EQ(ranges_of(model, {make_batch(rows)}).layers, apart.layers) << threads << " threads";
  }
}

TEST(Ranges, OfTheMaskDecoderIncludeItsOwnQueries) {
  const Model with = load_tiny(tiny_config(), Head::kMaskedLm);
  ASSERT_TRUE(with.has_mask_decoder());
  const Model without = load_tiny(tiny_config(), Head::kMaskedLm, {.threads = 1, .mask_decoder = MaskDecoder::kOff});
  const Batch batch = make_batch({make_ids(1, 12)});
  const auto wide = range_of(ranges_of(with, {batch}), 1, CalibratedInput::kProjections);
  const auto plain = range_of(ranges_of(without, {batch}), 1, CalibratedInput::kProjections);
  size_t wider = 0;
  for (size_t k = 0; k < kHidden; ++k) {
    EXPECT_GE(wide[k], plain[k]);
    wider += wide[k] > plain[k];
  }
  EXPECT_GT(wider, kHidden / 2);
}

TEST(Ranges, AreOfFp32AndOfWholeTexts) {
  const Batch batch = make_batch({make_ids(1, 9)});
  EXPECT_ERROR(ranges_of(load_tiny(tiny_config(), Head::kNone, {.precision = Precision::kBf16, .threads = 1}), {batch}),
               kInput, "expected a model in fp32, got bf16");
  Batch masked = batch;
  masked.mask_T.assign(masked.tokens(), 1);
  EXPECT_ERROR(ranges_of(load_tiny(tiny_config()), {masked}), kInput, "expected a batch without masks");
}

// ---- from ranges to multipliers

class MadeCalibration : public testing::Test {
 protected:
  MadeCalibration() { write_tiny_model(folder_.path(), config_); }
  Checkpoint open() const { return Checkpoint::open(folder_.path()); }
  ActivationRanges flat(float value) const {
    ActivationRanges ranges;
    ranges.layers.resize(2);
    for (auto& layer : ranges.layers) {
      for (size_t i = 0; i < kCalibratedInputs; ++i)
        layer[i].assign(columns_of(static_cast<CalibratedInput>(i), config_), value);
    }
    return ranges;
  }
  std::vector<float> largest_weights(const std::string& name) const {
    const Checkpoint checkpoint = open();
    const TensorView& tensor = *checkpoint.find(name);
    return largest_columns(to_fp32(tensor), static_cast<size_t>(tensor.shape[1]));
  }

  ModelConfig config_ = tiny_config();
  TemporaryFolder folder_;
};

TEST_F(MadeCalibration, FollowsTheFormula) {
  ActivationRanges ranges = flat(2);
  ranges.layers[1][2][3] = 6;
  const std::vector<float> w_K = largest_weights("encoder.layer.1.intermediate.dense.weight");
  for (const double a : {0.5, 0.7}) {
    const Calibration calibration = make_calibration(open(), config_, ranges, a);
    const std::vector<float>& got = calibration.of(1, CalibratedInput::kUp).reciprocal_K;
    for (size_t k = 0; k < kHidden; ++k) {
      const double x = k == 3 ? 6 : 2;
      EXPECT_NEAR(got[k] * std::pow(x, a) / std::pow(double{w_K[k]}, 1 - a), 1, 1e-5) << "channel " << k << " a " << a;
    }
    EXPECT_EQ(calibration.outliers(), 0u);
    EXPECT_EQ(calibration.weights, identity_of(open()));
  }
}

TEST_F(MadeCalibration, QueryKeyAndValueAreOneInput) {
  std::vector<float> w_K = largest_weights("encoder.layer.0.attention.self.query_proj.weight");
  for (const char* name : {"key", "value"}) {
    const auto more = largest_weights("encoder.layer.0.attention.self." + std::string(name) + "_proj.weight");
    for (size_t k = 0; k < kHidden; ++k) w_K[k] = std::max(w_K[k], more[k]);
  }
  const Calibration calibration = make_calibration(open(), config_, flat(1), 0.5);
  for (size_t k = 0; k < kHidden; ++k)
    EXPECT_NEAR(calibration.of(0, CalibratedInput::kProjections).reciprocal_K[k], std::sqrt(w_K[k]), 1e-5);
}

TEST_F(MadeCalibration, ChannelsThatWereNeverActiveCountAsSmallOnes) {
  ActivationRanges ranges = flat(2);
  ranges.layers[0][3][7] = 0;
  const Calibration calibration = make_calibration(open(), config_, ranges, 0.5);
  const auto& got = calibration.of(0, CalibratedInput::kDown).reciprocal_K;
  const std::vector<float> w_K = largest_weights("encoder.layer.0.output.dense.weight");
  EXPECT_NEAR(got[7] / std::sqrt(w_K[7] * 64 / 2), 1, 1e-5);
  const Calibration nothing = make_calibration(open(), config_, flat(0), 0.5);
  for (const float value : nothing.of(0, CalibratedInput::kDown).reciprocal_K) EXPECT_GT(value, 0);
}

TEST_F(MadeCalibration, OnlyChannelsThatStandOutAreOutliers) {
  ActivationRanges ranges = flat(1);
  ranges.layers[0][3][4] = ranges.layers[0][3][9] = 1000;
  const Calibration calibration = make_calibration(open(), config_, ranges, 0.5);
  EXPECT_EQ(calibration.of(0, CalibratedInput::kDown).outliers_O, (std::vector<int32_t>{4, 9}));
  EXPECT_EQ(calibration.outliers(), 2u);
}

TEST_F(MadeCalibration, OutliersAreAtMostSixteen) {
  config_.intermediate_size = 60;
  write_tiny_model(folder_.path(), config_);
  ActivationRanges ranges = flat(1);
  for (size_t k = 0; k < 20; ++k) ranges.layers[0][3][k] = static_cast<float>(10000 * (k + 1) * (k + 1));
  const Calibration calibration = make_calibration(open(), config_, ranges, 0.5);
  const auto& outliers = calibration.of(0, CalibratedInput::kDown).outliers_O;
  EXPECT_GT(outliers.size(), 12u);  // the sizes are those of activations times weights
  EXPECT_LE(outliers.size(), kMaxOutliers);
}

TEST_F(MadeCalibration, ActivationsThatAreNotFiniteAreRefused) {
  ActivationRanges ranges = flat(1);
  ranges.layers[1][0][2] = INFINITY;
  EXPECT_ERROR(make_calibration(open(), config_, ranges, 0.5), kNotFinite, "layer 2: activations: channel 2");
}

// ---- int8 with a calibration

// Wider than the tiny model, so that one channel is not a large part of a row.
ModelConfig wide_config() {
  ModelConfig config = with_fast_heads();
  config.intermediate_size = 96;
  return config;
}

void put_calibration(const std::string& folder, const Calibration& calibration) {
  const std::string path = folder + "/" + std::string(kCalibrationName);
  write_output_file(path, [&](FileWriter& file) { write_calibration(file, path, calibration); });
}

Model load(const std::string& folder, const ModelOptions& options) {
  return load_model(Checkpoint::open(folder), load_model_config(folder + "/config.json"), options);
}

Calibration calibrate(const std::string& folder, const std::vector<Batch>& batches) {
  const Model model = load(folder, {.threads = 1});
  Calibration calibration = make_calibration(Checkpoint::open(folder), model.config(), ranges_of(model, batches), 0.5);
  calibration.texts = calibration.tokens = 1;
  return calibration;
}

std::vector<Batch> some_batches(uint64_t seed) {
  std::vector<Batch> batches;
  for (uint64_t i = 0; i < 8; ++i) batches.push_back(make_batch({make_ids(seed + i, 12)}));
  return batches;
}

constexpr size_t kLarge[] = {5, 20, 40, 60};

// The same function, with some channels forty times as large between the value and output projections, and between the
// two feed-forward layers (relu).
void write_outlier_model(const std::string& folder) {
  ModelConfig config = wide_config();
  config.hidden_act = Activation::kRelu;
  write_tiny_model(folder, config);
  Tensors tensors = read_tensors(folder + "/model.safetensors");
  for (auto& [name, tensor] : tensors) {
    const bool makes = name.find("value_proj") != std::string::npos || name.find("intermediate") != std::string::npos;
    const bool reads = name.ends_with("output.dense.weight");
    const size_t columns = tensor.shape.size() > 1 ? static_cast<size_t>(tensor.shape[1]) : 1;
    for (size_t i = 0; i < tensor.values.size(); ++i) {
      for (const size_t channel : kLarge) {
        if (makes && i / columns == channel) tensor.values[i] *= 40;
        if (reads && i % columns == channel) tensor.values[i] /= 40;
      }
    }
  }
  write_tensors(folder + "/model.safetensors", tensors);
}

std::vector<float> hidden_of(const std::string& folder, Precision precision) {
  return last_hidden(load(folder, {.precision = precision, .allows_uncalibrated = true, .threads = 1}),
                     make_batch({make_ids(100, 50), make_ids(101, 80)}));
}

TEST(CalibratedInt8, HoldsChannelsFortyTimesAsLargeAndUncalibratedDoesNot) {
  const TemporaryFolder folder;
  write_outlier_model(folder.path());
  const std::vector<float> exact = hidden_of(folder.path(), Precision::kFp32);
  EXPECT_LT(cosine_of(hidden_of(folder.path(), Precision::kInt8), exact), 0.99);
  put_calibration(folder.path(), calibrate(folder.path(), some_batches(1)));
  EXPECT_GT(cosine_of(hidden_of(folder.path(), Precision::kInt8), exact), 0.999);
}

TEST(CalibratedInt8, OutlierColumnsHoldThemWithoutSmoothing) {
  const TemporaryFolder folder;
  write_outlier_model(folder.path());
  Calibration calibration = calibrate(folder.path(), some_batches(1));
  for (LayerCalibration& layer : calibration.layers) {
    for (InputCalibration& input : layer) {
      std::vector<float> ones(input.reciprocal_K.size(), 1.0F);
      for (const size_t channel : kLarge) ones[channel] = 0;
      input = InputCalibration(std::move(ones));
    }
  }
  put_calibration(folder.path(), calibration);
  EXPECT_GT(cosine_of(hidden_of(folder.path(), Precision::kInt8), hidden_of(folder.path(), Precision::kFp32)), 0.999);
}

size_t warnings = 0;

TEST(CalibratedInt8, NeedsNoPermissionAndWarnsOnceWithoutACalibration) {
  const TemporaryFolder folder;
  write_tiny_model(folder.path(), tiny_config());
  set_warning_sink([](void*, std::string_view message) { warnings += message.find("int8") != std::string::npos; },
                   nullptr);
  warnings = 0;
  ModelOptions options{.precision = Precision::kInt8, .threads = 1};
  EXPECT_ERROR(load(folder.path(), options), kUncalibrated,
               "there is none; make one, use bf16, or allow it uncalibrated");
  EXPECT_EQ(warnings, 0u);
  options.allows_uncalibrated = true;
  const Model uncalibrated = load(folder.path(), options);
  last_hidden(uncalibrated, make_batch({make_ids(1, 5)}));
  last_hidden(uncalibrated, make_batch({make_ids(2, 5)}));
  EXPECT_EQ(warnings, 1u);
  put_calibration(folder.path(), calibrate(folder.path(), some_batches(1)));
  warnings = 0;
  options.allows_uncalibrated = false;
  EXPECT_NO_THROW(load(folder.path(), options));
  EXPECT_EQ(warnings, 0u);
  write_tiny_model(folder.path(), tiny_config(), Head::kNone, 3, 9);
  options.allows_uncalibrated = true;
  EXPECT_ERROR(load(folder.path(), options), kCalibration, "does not belong to");
  EXPECT_NO_THROW(load(folder.path(), {.threads = 1}));  // fp32 does not read it
  set_warning_sink(nullptr);
}

// ---- the same bits in any batch, with a different number of outliers in every input

class CalibratedLevels : public testing::TestWithParam<KernelLevel> {};

INSTANTIATE_TEST_SUITE_P(All, CalibratedLevels, testing::ValuesIn(levels_of(Operation::kGemm, Precision::kInt8)),
                         [](const auto& of) { return std::string(to_string(of.param)); });

// Outliers of each input of the two layers: another number everywhere, and fewer before the feed-forward layer than
// before the next layer, so that one's columns would lie among the other's if they shared a place.
constexpr std::array<std::array<size_t, kCalibratedInputs>, 2> kUnevenOutliers = {{{3, 7, 1, 5}, {6, 2, 4, 0}}};

Calibration uneven_calibration(const std::string& folder) {
  Calibration calibration = calibrate(folder, some_batches(1));
  for (size_t n = 0; n < kUnevenOutliers.size(); ++n) {
    for (size_t i = 0; i < kCalibratedInputs; ++i) {
      std::vector<float> reciprocal_K = calibration.layers[n][i].reciprocal_K;
      for (size_t o = 0; o < kUnevenOutliers[n][i]; ++o) reciprocal_K[2 * o] = 0;
      calibration.layers[n][i] = InputCalibration(std::move(reciprocal_K));
    }
  }
  return calibration;
}

TEST_P(CalibratedLevels, PackedEqualsSoloForAnyThreads) {
  const TemporaryFolder folder;
  write_tiny_model(folder.path(), tiny_config());
  const Calibration calibration = uneven_calibration(folder.path());
  ASSERT_NE(calibration.of(0, CalibratedInput::kUp).outliers_O.size(),
            calibration.of(1, CalibratedInput::kProjections).outliers_O.size());
  put_calibration(folder.path(), calibration);
  std::vector<std::vector<int32_t>> rows;
  for (const size_t length : {1u, 2u, 33u, 150u, 300u}) rows.push_back(make_ids(length, length));
  ModelOptions options{.precision = Precision::kInt8, .threads = 1, .kernels = std::string(to_string(GetParam()))};
  const Model solo = load(folder.path(), options);
  std::vector<float> expected;
  for (const auto& row : rows) {
    const std::vector<float> hidden = last_hidden(solo, make_batch({row}));
    expected.insert(expected.end(), hidden.begin(), hidden.end());
  }
  EXPECT_GT(cosine_of(expected, last_hidden(load(folder.path(), {.threads = 1}), make_batch(rows))), 0.999);
  for (const size_t threads : {1u, 2u, 3u}) {
    options.threads = threads;
    EXPECT_EQ(last_hidden(load(folder.path(), options), make_batch(rows)), expected) << threads << " threads";
  }
}

TEST_P(CalibratedLevels, LogitsOfChosenRowsAreThoseOfAllRows) {
  for (const Head head : {Head::kToken, Head::kMaskedLm}) {
    const TemporaryFolder folder;
    write_tiny_model(folder.path(), tiny_config(), head);
    put_calibration(folder.path(), uneven_calibration(folder.path()));
    const Batch batch = make_batch({make_ids(1, 7), make_ids(2, 15), make_ids(3, 12)});
    ForwardOptions chosen;
    chosen.rows = {0, 3, 7, 8, 30};
    for (const size_t threads : {1u, 3u}) {
      const Model model =
          load(folder.path(),
               {.precision = Precision::kInt8, .threads = threads, .kernels = std::string(to_string(GetParam()))});
      const ForwardResult some = run(model, batch, chosen), all = run(model, batch);
      const size_t columns = all.logits_columns;
      for (size_t n = 0; n < chosen.rows.size(); ++n) {
        const auto row = static_cast<size_t>(chosen.rows[n]);
        EXPECT_EQ(slice(some.logits, n * columns, (n + 1) * columns),
                  slice(all.logits, row * columns, (row + 1) * columns))
            << to_string(head) << " row " << row << ", " << threads << " threads";
      }
    }
  }
}

}  // namespace
}  // namespace deberta::calibration_test

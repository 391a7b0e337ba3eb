// calibration.safetensors beside a tiny model: what is accepted follows the rules of docs/reference/weights.md, is
// written and read back the same, quantises to the same bits on every instruction set, and the model answers with it.
#include "checkpoint/calibration.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/arena.h"
#include "base/output_file.h"
#include "calibrated_model.h"
#include "deberta/model.h"
#include "fuzz.h"
#include "kernels/gemm.h"
#include "support/implementations.h"
#include "support/paths.h"
#include "support/random.h"

namespace deberta::fuzz {
namespace {

const std::string& model_folder() {
  test::write_tiny_model(folder(), calibrated_config(), Head::kSequence);
  return folder();
}

struct TinyModel {
  ModelConfig config = calibrated_config();
  Checkpoint checkpoint = Checkpoint::open(model_folder());
  std::string identity = identity_of(checkpoint);
};

void check_input(const InputCalibration& input, size_t columns) {
  FUZZ_REQUIRE(input.reciprocal_K.size() == columns);
  std::vector<int32_t> zeros;
  for (size_t k = 0; k < columns; ++k) {
    const float value = input.reciprocal_K[k];
    if (value == 0) zeros.push_back(static_cast<int32_t>(k));
    FUZZ_REQUIRE(value == 0 || (value >= 0x1p-60F && value <= 0x1p60F));
  }
  FUZZ_REQUIRE(input.outliers_O == zeros && zeros.size() <= kMaxOutliers);
}

void check_written_again(const Calibration& calibration, const TinyModel& model) {
  const std::string path = folder() + "/again.safetensors";
  write_output_file(path, [&](FileWriter& file) { write_calibration(file, path, calibration); });
  const Calibration again = read_calibration(path, model.checkpoint, model.config);
  FUZZ_REQUIRE(again.smoothing == calibration.smoothing && again.weights == calibration.weights);
  FUZZ_REQUIRE(again.texts == calibration.texts && again.tokens == calibration.tokens);
  for (size_t n = 0; n < calibration.layers.size(); ++n) {
    for (size_t i = 0; i < kCalibratedInputs; ++i)
      FUZZ_REQUIRE(again.layers[n][i].reciprocal_K == calibration.layers[n][i].reciprocal_K);
  }
}

// Rows times a weight, both quantised with `input`.
std::vector<float> product_of(const KernelSet& kernels, const InputCalibration& input) {
  constexpr size_t kRows = 3, kOutputs = 20;
  const size_t columns = input.reciprocal_K.size(), outliers = input.outliers_O.size();
  const Quantizer quantizer{input.reciprocal_K.data(), input.outliers_O.data(), outliers};
  const auto x_TK = test::normals(1, kRows * columns), w_NK = test::normals(2, kOutputs * columns);
  std::vector<uint8_t> values_TK(kRows * columns);
  std::vector<float> scales_T(kRows), c_MN(kRows * kOutputs);
  std::vector<Bf16> side_TO(kRows * outliers);
  QuantizeParams q{};
  q.x_TK = x_TK.data();
  q.rows = kRows;
  q.columns = columns;
  q.quantizer = quantizer;
  q.out = {values_TK.data(), columns, scales_T.data(), side_TO.data()};
  quantize(kernels, q);
  const WeightSource source{w_NK.data(), kOutputs, columns, quantizer};
  Arena arena;
  const size_t size_bytes = gemm_packed_bytes(kernels, Precision::kInt8, source);
  arena.reserve(Arena::bytes_for<std::byte>(size_bytes));
  GemmParams p{};
  p.weights = gemm_pack(kernels, Precision::kInt8, source, arena.take<std::byte>(size_bytes));
  p.a_MK = values_TK.data();
  p.a_scales_M = scales_T.data();
  p.a_outliers_MO = side_TO.data();
  p.rows = kRows;
  p.c_MN = c_MN.data();
  gemm(kernels, p);
  return c_MN;
}

void check_products(const LayerCalibration& layer) {
  static const auto all = test::vector_implementations(Operation::kGemm, {Precision::kInt8});
  for (const InputCalibration& input : layer) {
    std::vector<float> expected;
    for (const test::Implementation& one : all) {
      const std::vector<float> got = product_of(one.kernels(), input);
      if (expected.empty()) expected = got;
      FUZZ_REQUIRE(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)) == 0);
    }
  }
}

void answer(const TinyModel& tiny) {
  const Model model = Model::load(tiny.checkpoint, tiny.config, {.precision = Precision::kInt8, .threads = 1});
  Batch batch;
  batch.add(std::vector<int32_t>{1, 2, 3, 4, 5, 6});
  batch.add(std::vector<int32_t>{4});
  ForwardResult result;
  model.forward(batch, {.layers = {1}}, result);
  FUZZ_REQUIRE(result.logits.size() == 6 && result.hidden.size() == 1);
}

}  // namespace

void run(Bytes input) {
  static const TinyModel model;
  const std::string path = calibration_path(model.checkpoint);
  test::write_text(path, calibration_file(to_text(input), model.identity));
  const Calibration calibration = read_calibration(path, model.checkpoint, model.config);
  FUZZ_REQUIRE(calibration.layers.size() == 1);
  for (size_t i = 0; i < kCalibratedInputs; ++i)
    check_input(calibration.layers[0][i], columns_of(static_cast<CalibratedInput>(i), model.config));
  check_written_again(calibration, model);
  check_products(calibration.layers[0]);
  answer(model);
}

}  // namespace deberta::fuzz

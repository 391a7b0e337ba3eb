// The mean of checkpoints: every element in double, rounded once; and which models have none together.
#include "checkpoint/average.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>

#include "base/json.h"
#include "checkpoint/calibration.h"
#include "support/conversion_case.h"
#include "support/expect_error.h"

namespace deberta::average_test {
namespace {

using test::tiny_config;
using test::write_text;

class Averages : public testing::Test {
 protected:
  std::string make(const std::string& name, uint64_t seed, const ModelConfig& config = tiny_config(),
                   int64_t labels = 3) {
    std::filesystem::create_directory(folder_.path(name));
    test::write_tiny_model(folder_.path(name), config, Head::kSequence, labels, seed);
    return folder_.path(name);
  }
  static void edit(const std::string& model, const std::function<void(std::vector<TensorView>&)>& change) {
    const Checkpoint file = Checkpoint::open_file(model + "/model.safetensors", {.reads_whole = true});
    std::vector<TensorView> tensors = file.tensors();
    change(tensors);
    write_safetensors(model + "/model.safetensors", tensors);
  }
  static void set(const std::string& model, const char* key, const Json& value) {
    Json config = load_json(model + "/config.json");
    std::erase_if(config.as_object(), [&](const JsonMember& member) { return member.first == key; });
    config.as_object().emplace_back(key, value);
    write_text(model + "/config.json", config.dump());
  }
  static AveragedModel average(const std::string& base, const std::vector<std::string>& folders) {
    return average_models(Checkpoint::open(base), load_model_config(base + "/config.json"), folders);
  }
  test::TemporaryFolder folder_;
};

TEST_F(Averages, AreTheMeanOfEveryElementRoundedOnce) {
  const std::vector<std::string> folders = {make("a", 1), make("b", 2), make("c", 3)};
  const AveragedModel mean = average(folders[0], {folders[1], folders[2]});
  std::vector<Checkpoint> models;
  for (const std::string& folder : folders) models.push_back(Checkpoint::open(folder));
  size_t once = 0;
  for (const TensorView& tensor : models[0].tensors()) {
    const std::vector<float> a = to_fp32(tensor), b = to_fp32(*models[1].find(tensor.name)),
                             c = to_fp32(*models[2].find(tensor.name)),
                             got = to_fp32(*mean.checkpoint.find(tensor.name));
    ASSERT_EQ(got.size(), a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(got[i], static_cast<float>((double{a[i]} + b[i] + c[i]) / 3)) << tensor.name << " " << i;
      once += got[i] != (a[i] + b[i] + c[i]) / 3;
    }
  }
  EXPECT_GT(once, 0U) << "sums in fp32 give the same numbers: the models show nothing";
  ASSERT_EQ(mean.changes.size(), 1U) << "one line for all of them";
  EXPECT_EQ(mean.changes.front().detail, std::to_string(models[0].tensors().size()) + " tensors of 3 models");
}

TEST_F(Averages, AreOfTensorsOfTheSameNamesAndShapes) {
  const std::string a = make("a", 1), b = make("b", 2);
  edit(b, [](std::vector<TensorView>& tensors) {
    std::erase_if(tensors, [](const TensorView& tensor) { return tensor.name == "pooler.dense.bias"; });
  });
  EXPECT_ERROR(average(a, {b}), kTensors, "b/model.safetensors: tensor pooler.dense.bias: missing");
  EXPECT_ERROR(average(b, {a}), kTensors, "a/model.safetensors: tensor pooler.dense.bias: the first model has none");
  const std::string classes = make("classes", 3, tiny_config(), 4);
  EXPECT_ERROR(average(a, {classes}), kTensors,
               "tensor classifier.bias: expected F32 [3] as in the first model, got F32 [4]");
}

TEST_F(Averages, AreOfFp32) {
  const std::string a = make("a", 1);
  test::convert(a, folder_.path("half"), {.dtype = DType::kBf16, .layout = {}});
  const std::string half = folder_.path("half");
  EXPECT_ERROR(average(half, {half}), kTensors, "tensor classifier.bias: expected F32 to average, got BF16");
}

TEST_F(Averages, AreOfOneConfigurationAsFarAsAnswersGo) {
  const std::string a = make("a", 1), b = make("b", 2);
  set(b, "hidden_dropout_prob", 0.25);
  set(b, "transformers_version", "9.9");
  set(b, "id2label", nullptr);
  EXPECT_NO_THROW(average(a, {b}));
  set(b, "layer_norm_eps", 0.25);
  EXPECT_ERROR(average(a, {b}), kConfig,
               "b/config.json: layer_norm_eps: expected 1e-07 as in the first model, got 0.25");
}

TEST_F(Averages, HaveNoCalibration) {
  const std::string a = make("a", 1), b = make("b", 2);
  write_text(b + "/" + std::string(kCalibrationName), "");
  EXPECT_ERROR(average(a, {b}), kCalibration, "not calibrated for int8");
  EXPECT_ERROR(average(b, {a}), kCalibration, "not calibrated for int8");
}

}  // namespace
}  // namespace deberta::average_test

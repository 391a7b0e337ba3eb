// The engine against tiny models with exact outputs (tools/goldens): every variant, every kernel set of this machine.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "base/json.h"
#include "checkpoint/safetensors.h"
#include "support/goldens.h"
#include "support/paths.h"

namespace deberta::test {
namespace {

// What one folder of tests/golden/model holds.
struct GoldenFolder {
  Golden golden;
  std::unique_ptr<SafetensorsFile> file;
};

const std::set<std::string> kInputs = {"input_ids", "attention_mask", "token_type_ids", "position_ids",
                                       "rows",      "relative_pos",   "entity_indices"};

// Twice the error of the scalar single-precision evaluation, but not below rounding of the largest value.
double bound_of(const Json& tensor) {
  return std::max(2 * tensor.find("fp32_error")->as_number(), 2e-6 * tensor.find("max_abs")->as_number());
}

GoldenFolder load_golden(const std::string& folder) {
  const Json about = load_json(folder + "/golden.json");
  GoldenFolder result;
  result.file = std::make_unique<SafetensorsFile>(folder + "/golden.safetensors");
  Golden& golden = result.golden;
  golden.name = about.find("case")->as_string();
  golden.model_folder = folder;
  golden.distance = about.find("distance")->as_string() == "hf" ? DistanceRule::kHf : DistanceRule::kOriginal;
  for (const TensorView& tensor : result.file->tensors()) {
    if (kInputs.contains(tensor.name)) {
      golden.inputs.emplace(tensor.name, tensor);
    } else if (!tensor.name.starts_with("decoder.")) {  // what lies between hidden states and logits
      golden.outputs.emplace(tensor.name, tensor);
      golden.bounds.emplace(tensor.name, bound_of(*about.find("tensors")->find(tensor.name)));
    }
  }
  return result;
}

std::vector<GoldenFolder> load_all_goldens() {
  std::vector<GoldenFolder> result;
  for (const auto& entry : std::filesystem::directory_iterator(fixture("model"))) {
    result.push_back(load_golden(entry.path().string()));
  }
  std::sort(result.begin(), result.end(),
            [](const GoldenFolder& a, const GoldenFolder& b) { return a.golden.name < b.golden.name; });
  return result;
}

class EngineGolden : public testing::TestWithParam<std::string> {};

TEST_P(EngineGolden, GivesTheExactOutputsToSinglePrecision) {
  size_t ran = 0;
  for (const GoldenFolder& folder : load_all_goldens()) {
    const GoldenReport report = compare_with_engine(folder.golden, GetParam());
    for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
    EXPECT_EQ(report.unsupported, "") << folder.golden.name;
    EXPECT_GT(report.compared, 0u) << folder.golden.name;
    ++ran;
  }
  EXPECT_GE(ran, 58u);
  fmt::print("{} golden models ran with kernels {}\n", ran, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Kernels, EngineGolden, testing::ValuesIn(usable_kernels()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace deberta::test

// The engine against outputs of the original code: a folder of NAME.json + NAME.safetensors with tensors w.*, in.*,
// out.*, named by DEBERTA_GOLDENS or found in the shared folder. Training cases and gradients are not for the engine;
// a case whose kind is in no list fails.
#include <fmt/format.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/json.h"
#include "checkpoint/safetensors.h"
#include "support/goldens.h"
#include "support/paths.h"

namespace deberta::test::original_goldens_test {
namespace {

constexpr double kTolerance = 5e-5;  // from the folder's README, for a single-precision implementation

const std::set<std::string> kInferenceKinds = {
    "encoder", "layer", "sequence_classification", "token_classification", "multiple_choice", "record", "mlm", "rtd"};
const std::set<std::string> kTrainingKinds = {"optimizer", "rtd_joint", "rtd_decoupled",     "sift",
                                              "schedules", "rows",      "masking_statistics"};  // rows: rel_lut_test

// Outputs that belong to training, or that lie between the hidden states and the logits.
bool is_left_out(const std::string& output) {
  const std::string first = output.substr(0, output.find('.'));
  return first == "loss" || first == "loss_per_position" || first == "label_ids" || first == "grad" ||
         first == "decoder";
}

// Weights under their own names; the configuration unchanged: it does not say that projections are fused.
void write_model(const std::string& folder, const Json& about, const SafetensorsFile& file) {
  std::vector<TensorView> weights;
  for (TensorView tensor : file.tensors()) {
    if (!tensor.name.starts_with("w.")) continue;
    tensor.name.erase(0, 2);
    weights.push_back(tensor);
  }
  write_safetensors(folder + "/model.safetensors", weights);
  write_text(folder + "/config.json", about.find("config")->dump(1));
}

Golden make_golden(const std::string& name, const std::string& model_folder, const SafetensorsFile& file) {
  Golden golden;
  golden.name = name;
  golden.model_folder = model_folder;
  for (const TensorView& tensor : file.tensors()) {
    if (tensor.name.starts_with("in.")) golden.inputs.emplace(tensor.name.substr(3), tensor);
    if (!tensor.name.starts_with("out.") || is_left_out(tensor.name.substr(4))) continue;
    golden.outputs.emplace(tensor.name.substr(4), tensor);
    golden.bounds.emplace(tensor.name.substr(4), kTolerance);
  }
  return golden;
}

struct Tally {
  size_t ran = 0, training = 0;
  std::map<std::string_view, std::vector<std::string>> takers;  // case names by the level of their attention
  std::map<std::string, std::vector<std::string>> unsupported;  // case names by reason
};

void run_case(const std::string& folder, const std::string& name, Tally& tally) {
  const Json about = load_json(folder + "/" + name + ".json");
  const std::string kind = about.find("kind")->as_string();
  if (!kInferenceKinds.contains(kind)) {
    EXPECT_TRUE(kTrainingKinds.contains(kind)) << name << ": no test knows cases of the kind " << kind;
    ++tally.training;
    return;
  }
  const SafetensorsFile file(folder + "/" + name + ".safetensors");
  const TemporaryFolder model;
  write_model(model.path(), about, file);
  const Golden golden = make_golden(name, model.path(), file);
  const GoldenReport report = compare_with_engine(golden, "auto");
  for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
  if (report.unsupported.empty()) {
    EXPECT_GT(report.compared, 0u) << name;
    ++tally.ran;
    for (const auto& [level, calls] : report.attention_calls) tally.takers[level].push_back(name);
    return;
  }
  EXPECT_EQ(kind, "layer") << name << " must run: " << report.unsupported;
  tally.unsupported[report.unsupported].push_back(name);
}

std::vector<std::string> case_names(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(OriginalGoldens, OfAKindThatNoTestKnowsFail) {
  const TemporaryFolder folder;
  write_text(folder.path() + "/new.json", R"({"kind": "something new"})");
  Tally tally;
  EXPECT_NONFATAL_FAILURE(run_case(folder.path(), "new", tally), "new: no test knows cases of the kind something new");
}

TEST(OriginalGoldens, AgreeWithTheOriginalCode) {
  const std::string folder = original_goldens();
  if (folder.empty()) GTEST_SKIP() << "no folder of original outputs (DEBERTA_GOLDENS, or the shared folder)";
  Tally tally;
  for (const std::string& name : case_names(folder)) run_case(folder, name, tally);
  EXPECT_GT(tally.ran, 0u) << "no case of " << folder << " ran";
  size_t unsupported = 0;
  for (const auto& [reason, names] : tally.unsupported) {
    fmt::print("unsupported: {}: {}\n", reason, fmt::join(names, ", "));
    unsupported += names.size();
  }
  // All but two have heads of size 8, which only the reference takes.
  const std::string_view level = to_string(select_kernels("auto").level_of(Operation::kAttention));
  if (level != "reference") {
    EXPECT_GE(tally.takers[level].size(), 2u);
    fmt::print("attention by {}: {}; by the reference: {} cases\n", level, fmt::join(tally.takers[level], ", "),
               tally.takers["reference"].size());
  }
  fmt::print("{} cases ran, {} unsupported, {} training cases left out\n", tally.ran, unsupported, tally.training);
}

}  // namespace
}  // namespace deberta::test::original_goldens_test

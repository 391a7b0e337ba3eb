// The trained small checkpoints and the original code's cases agree with the tensor table.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/json.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/tensor_table.h"
#include "config/model_config.h"
#include "support/paths.h"

namespace deberta::published_test {
namespace {

using test::shared;
using test::TemporaryFolder;

std::string join(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) text += problem.where + ": " + problem.message + "\n";
  return text;
}

TEST(PublishedCheckpoints, NanoModelsMatchTheTable) {
  const std::string folder = shared("reference/models");
  if (folder.empty()) GTEST_SKIP() << "needs the shared folder";
  const std::map<std::string, Head> heads = {
      {"nano-conll", Head::kToken}, {"nano-sick", Head::kSequence}, {"nano-sst2", Head::kSequence},
      {"nano-squad", Head::kSpan},  {"nano-mlm", Head::kMaskedLm},  {"nano-emd", Head::kMaskedLm},
  };
  for (const auto& [name, head] : heads) {
    SCOPED_TRACE(name);
    const Checkpoint checkpoint = Checkpoint::open(folder + "/" + name);
    const ModelConfig config = load_model_config(folder + "/" + name + "/config.json");
    EXPECT_EQ(checkpoint.prefix(), "deberta.");
    EXPECT_EQ(detect_head(checkpoint), head);
    EXPECT_EQ(detect_layout(checkpoint), config.layout);
    const TensorReport report = compare_tensors(checkpoint, config, facts_of(head), name);
    EXPECT_EQ(join(report.errors), "");
    EXPECT_EQ(join(report.warnings), "");
  }
}

// The weights of a case in a file of their own, under the names of the original code.
std::vector<TensorView> weights_of(const SafetensorsFile& file) {
  std::vector<TensorView> weights;
  for (TensorView tensor : file.tensors()) {
    if (!tensor.name.starts_with("w.")) continue;
    tensor.name.erase(0, 2);
    weights.push_back(std::move(tensor));
  }
  return weights;
}

Head head_of_kind(const std::string& kind) {
  const std::map<std::string, Head> heads = {
      {"encoder", Head::kNone},
      {"layer", Head::kNone},
      {"mlm", Head::kMaskedLm},
      {"rtd", Head::kReplacedToken},
      {"rtd_discriminator", Head::kReplacedToken},
      {"token_classification", Head::kTokenOriginal},
      {"record", Head::kTokenOriginal},
      {"multiple_choice", Head::kSequence},
      {"sequence_classification", Head::kSequence},
      {"sift", Head::kSequence},
  };
  return heads.contains(kind) ? heads.at(kind) : Head::kNone;
}

TEST(PublishedCheckpoints, CasesOfTheOriginalCodeMatchTheTable) {
  const std::string folder = shared("reference/original-goldens");
  if (folder.empty()) GTEST_SKIP() << "needs the shared folder";
  const TemporaryFolder temporary;
  size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".safetensors") continue;
    const std::string stem =
        entry.path().string().substr(0, entry.path().string().size() - std::string(".safetensors").size());
    const Json document = load_json(stem + ".json", {.max_bytes = size_t{1} << 26});
    const Json* json_config = document.find("config");
    if (document.find("layout") == nullptr || json_config->find("vocab_size") == nullptr) continue;
    const std::string kind = document.find("kind")->as_string();
    if (kind == "layer") continue;  // one layer without embeddings
    SCOPED_TRACE(stem + " " + kind);
    ModelConfig config = parse_model_config(*json_config, stem);
    const SafetensorsFile file(entry.path().string());
    write_safetensors(temporary.path("model.safetensors"), weights_of(file));
    const Checkpoint checkpoint = Checkpoint::open(temporary.path());
    config.layout = detect_layout(checkpoint);
    EXPECT_EQ(config.layout, document.find("layout")->as_string() == "v1" ? Layout::kV1 : Layout::kV2);
    EXPECT_EQ(checkpoint.prefix(), document.find("prefix")->as_string());
    const Head head = detect_head(checkpoint);
    if (kind != "encoder") {
      EXPECT_EQ(to_string(head), to_string(head_of_kind(kind)));
    }
    EXPECT_EQ(join(compare_tensors(checkpoint, config, facts_of(head), stem).errors), "");
    ++compared;
  }
  EXPECT_GE(compared, 50u);
}

}  // namespace
}  // namespace deberta::published_test

// LoRA adapters written by peft against the tensors of its merge_and_unload() (tests/support/
// make_published_fixtures.py); settings that change the weights.
#include "checkpoint/adapter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "checkpoint/adapter_settings.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::adapter_test {
namespace {

using test::fixture;

MergedModel merge(const std::string& base, const std::string& adapter) {
  const std::string folder = fixture("published/" + base);
  return merge_adapter(Checkpoint::open(folder), load_model_config(folder + "/config.json"),
                       fixture("published/" + adapter));
}

void expect_near(const TensorView& got, const TensorView& expected) {
  ASSERT_EQ(got.shape, expected.shape) << got.name;
  const std::vector<float> a = to_fp32(got), b = to_fp32(expected);
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 1e-6 * std::max(1.0F, std::abs(b[i]))) << got.name << " " << i;
}

TEST(Adapter, GivesTheTensorsOfPeft) {
  for (const std::string version : {"18", "21"}) {
    for (const std::string name : {"plain", "patterns", "stabilised", "biases", "classes", "v1", "headless"}) {
      SCOPED_TRACE(version + " " + name);
      const std::string adapter = "adapter" + version + "_" + name;
      const MergedModel merged = merge(name == "v1" ? "v1" : "v3", adapter);
      const Checkpoint expected = Checkpoint::open_file(fixture("published/" + adapter + "/expected.safetensors"));
      ASSERT_FALSE(expected.tensors().empty());
      for (const TensorView& tensor : expected.tensors()) {
        ASSERT_NE(merged.checkpoint.find(tensor.name), nullptr) << tensor.name;
        expect_near(*merged.checkpoint.find(tensor.name), tensor);
      }
    }
  }
}

TEST(Adapter, LeavesAllOtherTensorsWhereTheyAre) {
  const Checkpoint base = Checkpoint::open(fixture("published/v3"));
  const MergedModel merged = merge("v3", "adapter21_plain");
  EXPECT_EQ(merged.checkpoint.tensors().size(), base.tensors().size());
  EXPECT_EQ(merged.checkpoint.paths(), base.paths());
  EXPECT_EQ(merged.checkpoint.size_bytes(), base.size_bytes());
  const std::string name = "encoder.layer.0.attention.self.key_proj.weight";
  EXPECT_EQ(to_fp32(*merged.checkpoint.find(name)), to_fp32(*base.find(name)));
  EXPECT_EQ(merged.checkpoint.stored_name(name), "deberta." + name);
}

TEST(Adapter, ScalesByTheRankOrItsRoot) {
  AdapterSettings settings;
  settings.alpha = 8;
  EXPECT_EQ(settings.scale("encoder.layer.0.query_proj", 4), 2);
  settings.is_rank_stabilised = true;
  EXPECT_EQ(settings.scale("encoder.layer.0.query_proj", 4), 4);
  settings.alpha_pattern = {{"layer.0.query_proj", 2}, {"query_proj", 6}};
  EXPECT_EQ(settings.scale("encoder.layer.0.query_proj", 4), 1);
  EXPECT_EQ(settings.scale("encoder.layer.1.query_proj", 4), 3);
  EXPECT_EQ(settings.scale("encoder.layer.1.my_query_proj", 4), 4);  // a name ends at a dot
}

TEST(Adapter, RefusesWhatIsNotSuchAnAdapter) {
  EXPECT_ERROR(merge("v3", "v1"), kFolder, "expected a peft adapter, got a folder without adapter_config.json");
  EXPECT_ERROR(merge("v3", "adapter21_ia3"), kFolder, "expected a peft LORA adapter, got IA3");
  EXPECT_ERROR(merge("v3", "adapter21_dora"), kUnsupported, "use_dora: DoRA");
  EXPECT_ERROR(merge("v1", "adapter21_plain"), kTensors, "query_proj: the model has no such module");
}

class AdapterFile : public testing::Test {
 protected:
  void write(const std::string& settings) { test::write_text(folder_.path("adapter_config.json"), settings); }
  AdapterSettings load() { return load_adapter_settings(folder_.path()); }
  test::TemporaryFolder folder_;
};

TEST_F(AdapterFile, SaysWhichSettingIsNotComputed) {
  for (const char* value : {"\"pissa\"", "\"olora\"", "\"loftq\"", "\"something\""}) {
    write(std::string(R"({"peft_type": "LORA", "lora_alpha": 1, "init_lora_weights": )") + value + "}");
    EXPECT_ERROR(load(), kUnsupported, "changes the weights of the model itself");
  }
  for (const char* value : {"true", "false", "null", "\"gaussian\""}) {
    write(std::string(R"({"peft_type": "LORA", "lora_alpha": 1, "init_lora_weights": )") + value + "}");
    EXPECT_EQ(load().alpha, 1);
  }
  write(R"({"peft_type": "LORA", "lora_alpha": 1, "use_dora": true, "layer_replication": [[0, 2]]})");
  EXPECT_ERROR(load(), kUnsupported, "layer_replication: layers used more than once");
  write(R"({"peft_type": "LORA", "lora_alpha": 1, "alpha_pattern": {"a|b": 2}})");
  EXPECT_ERROR(load(), kUnsupported, "alpha_pattern: \"a|b\" is a regular expression");
}

TEST_F(AdapterFile, RefusesValuesWithoutSense) {
  for (const char* value : {"\"8\"", "null", "NaN", "Infinity", "[8]"}) {
    write(std::string(R"({"peft_type": "LORA", "lora_alpha": )") + value + "}");
    EXPECT_ERROR(load(), kConfig, "lora_alpha: expected a number, got ");
  }
  write(R"({"peft_type": "LORA", "lora_alpha": 8, "alpha_pattern": {"a": "2"}})");
  EXPECT_ERROR(load(), kConfig, "alpha_pattern: expected an object of numbers");
  write(R"({"peft_type": 3})");
  EXPECT_ERROR(load(), kConfig, "peft_type: expected a string, got 3");
  write("[]");
  EXPECT_ERROR(load(), kConfig, "expected an object");
}

}  // namespace
}  // namespace deberta::adapter_test

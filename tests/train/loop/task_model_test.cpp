// The model that fine-tuning begins with: which weights are the file's, and which are new.
#include "train/loop/task_model.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "train/model/model_case.h"

namespace deberta::train {
namespace {

using namespace deberta::test;

class TaskModelTest : public testing::Test {
 protected:
  TaskModelTest() {
    config_.layout = Layout::kV2;
    write();
    settings_.run.seed = 7;
    settings_.task = &find_task("classification");
    settings_.model_folder = folder_.path();
    settings_.training.max_tokens = 16;
  }

  void write() { write_tiny_model(folder_.path(), config_, Head::kSequence, 3); }
  TaskModel first() {
    samples_ = {.loss = TaskLoss::kClass, .labels = {"a", "b", "c"}};
    return first_task_model(settings_, samples_);
  }

  TemporaryFolder folder_;
  ModelConfig config_ = tiny_config();  // of two layers
  FinetuneSettings settings_;
  TaskSamples samples_;
};

at::Tensor tensor_of(Model& model, const std::string& name) {
  at::Tensor found;
  visit(model, [&](const ParameterSpec& spec, at::Tensor& tensor) {
    if (spec.name == name) found = tensor.detach();
  });
  return found;
}

TEST_F(TaskModelTest, TheLastLayersBeginAsThoseOfANewModelOfTheSeed) {
  TaskModel kept = first();
  settings_.reinit_layers = 1;
  TaskModel found = first();
  EXPECT_EQ(found.new_layers, (std::vector<std::string>{"encoder.layer.1"}));
  Model random = make_model(found.model.form);
  initialise(random, settings_.run.seed);
  visit(found.model, [&](const ParameterSpec& spec, at::Tensor& tensor) {
    const bool is_new = spec.name.starts_with("encoder.layer.1.");
    EXPECT_TRUE(tensor.detach().equal(tensor_of(is_new ? random : kept.model, spec.name))) << spec.name;
  });
  const std::string query = "encoder.layer.1.attention.self.query_proj.weight";
  EXPECT_FALSE(tensor_of(found.model, query).equal(tensor_of(kept.model, query)));
  settings_.reinit_layers = 2;
  EXPECT_EQ(first().new_layers, (std::vector<std::string>{"encoder.layer.0", "encoder.layer.1"}));
}

TEST_F(TaskModelTest, NewLayersThatThereAreNotOrThatAreFrozenAreRefused) {
  settings_.reinit_layers = 3;
  EXPECT_ERROR(first(), kUsage, "reinit_layers: expected at most 2, the layers that there are, got 3");
  settings_.reinit_layers = -1;
  EXPECT_ERROR(first(), kUsage, "reinit_layers: expected at most 2");
  settings_.frozen_layers = 1;
  settings_.reinit_layers = 2;
  EXPECT_ERROR(first(), kUsage, "reinit_layers: expected at most 1, the layers that are not frozen, got 2");
  settings_.reinit_layers = 1;
  EXPECT_EQ(first().new_layers.size(), 1U);
}

}  // namespace
}  // namespace deberta::train

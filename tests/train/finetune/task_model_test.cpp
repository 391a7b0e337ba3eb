// The model that fine-tuning begins with: which weights are the file's, and which are new.
#include "train/finetune/task_model.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "train/model/model_case.h"

namespace deberta::train::task_model_test {
namespace {

using namespace deberta::test;

class TaskModelTest : public testing::Test {
 protected:
  TaskModelTest() {
    config_.layout = Layout::kV2;
    write();
    settings_.run.seed = 7;
    settings_.files.task = &find_task("classification");
    settings_.start.model_folder = folder_.path();
    settings_.files.training.max_tokens = 16;
  }

  void write() { write_tiny_model(folder_.path(), config_, Head::kSequence, 3); }
  TaskModel first() {
    samples_ = {.loss = TaskLoss::kClass, .labels = {"a", "b", "c"}};
    return first_task_model(settings_.start, settings_.files, settings_.run.seed, samples_);
  }

  TemporaryFolder folder_;
  ModelConfig config_ = tiny_config();  // has two layers
  FinetuneSettings settings_;
  TaskSamples samples_;
};

at::Tensor tensor_of(Model& model, const std::string& name) {
  at::Tensor match;
  visit(model, [&](const ParameterSpec& spec, at::Tensor& tensor) {
    if (spec.name == name) match = tensor.detach();
  });
  return match;
}

TEST_F(TaskModelTest, TheLastLayersBeginAsThoseOfANewModelOfTheSeed) {
  TaskModel kept = first();
  settings_.start.reinit_layers = 1;
  TaskModel task_model = first();
  EXPECT_EQ(task_model.new_layers, (std::vector<std::string>{"encoder.layer.1"}));
  Model random = make_model(task_model.model.form);
  initialise(random, settings_.run.seed);
  visit(task_model.model, [&](const ParameterSpec& spec, at::Tensor& tensor) {
    const bool is_new = spec.name.starts_with("encoder.layer.1.");
    EXPECT_TRUE(tensor.detach().equal(tensor_of(is_new ? random : kept.model, spec.name))) << spec.name;
  });
  const std::string query = "encoder.layer.1.attention.self.query_proj.weight";
  EXPECT_FALSE(tensor_of(task_model.model, query).equal(tensor_of(kept.model, query)));
  settings_.start.reinit_layers = 2;
  EXPECT_EQ(first().new_layers, (std::vector<std::string>{"encoder.layer.0", "encoder.layer.1"}));
}

// As LABEL_0 and so on have no meaning, they become the labels of the files in their order.
TEST_F(TaskModelTest, AHeadOfTheSameScoresIsKeptInItsOrder) {
  settings_.files.task = &find_task("regression");
  const auto first_of = [&](ProblemType type, std::vector<std::string> names) {
    config_.labels = std::move(names);
    write();
    std::ifstream file(folder_.path("config.json"));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    write_text(folder_.path("config.json"),
               "{\"problem_type\": \"" + std::string(to_string(type)) + "\"," + text.substr(1));
    samples_ = {.loss = TaskLoss::kScore, .labels = {"a", "b", "c"}, .samples = {{.values = {1, 2, 3}}}};
    return first_task_model(settings_.start, settings_.files, settings_.run.seed, samples_);
  };
  TaskModel kept = first_of(ProblemType::kRegression, {"c", "a", "b"});
  EXPECT_TRUE(kept.new_tensors.empty());
  EXPECT_EQ(samples_.labels, (std::vector<std::string>{"c", "a", "b"}));
  EXPECT_EQ(samples_.samples[0].values, (std::vector<float>{3, 1, 2}));
  EXPECT_EQ(kept.model.form.config.labels, samples_.labels);
  EXPECT_EQ(kept.model.form.config.problem_type, ProblemType::kRegression);
  EXPECT_TRUE(first_of(ProblemType::kRegression, {}).new_tensors.empty());
  for (const auto& other :
       {first_of(ProblemType::kSingleLabel, {"c", "a", "b"}), first_of(ProblemType::kRegression, {"c", "a", "x"})}) {
    EXPECT_EQ(other.new_tensors, (std::vector<std::string>{"classifier.weight", "classifier.bias"}));
    EXPECT_EQ(other.model.form.labels, 3);
  }
}

TEST_F(TaskModelTest, NewLayersThatThereAreNotOrThatAreFrozenAreRefused) {
  settings_.start.reinit_layers = 3;
  EXPECT_ERROR(first(), kUsage, "reinit_layers: expected at most 2, the layers that there are, got 3");
  settings_.start.reinit_layers = -1;
  EXPECT_ERROR(first(), kUsage, "reinit_layers: expected at most 2");
  settings_.start.frozen_layers = 1;
  settings_.start.reinit_layers = 2;
  EXPECT_ERROR(first(), kUsage, "reinit_layers: expected at most 1, the layers that are not frozen, got 2");
  settings_.start.reinit_layers = 1;
  EXPECT_EQ(first().new_layers.size(), 1U);
}

TEST_F(TaskModelTest, AnotherPoolingBeginsWithANewHeadAndTheSameOneKeepsIt) {
  using Names = std::vector<std::string>;
  const Names dense = {"pooler.dense.weight", "pooler.dense.bias", "classifier.weight", "classifier.bias"};
  EXPECT_EQ(first().new_tensors, Names());
  settings_.start.pooling = ClassifierPooling::kMean;
  TaskModel mean = first();
  EXPECT_EQ(mean.new_tensors, dense);
  EXPECT_EQ(mean.model.form.config.classifier_pooling, ClassifierPooling::kMean);
  config_.classifier_pooling = ClassifierPooling::kAttention;
  write();
  settings_.start.pooling.reset();
  TaskModel kept = first();
  EXPECT_EQ(kept.new_tensors, Names());
  EXPECT_EQ(kept.model.form.config.classifier_pooling, ClassifierPooling::kAttention);
  EXPECT_GT(tensor_of(kept.model, "pooler.attention.weight").abs().max().item<float>(), 0);
  settings_.start.pooling = ClassifierPooling::kAttention;
  EXPECT_EQ(first().new_tensors, Names());
  settings_.start.pooling = ClassifierPooling::kFirst;
  EXPECT_EQ(first().new_tensors, dense);
}

TEST_F(TaskModelTest, PoolingIsForHeadsOfSequences) {
  settings_.files.task = &find_task("ner");
  const auto tokens = [&] {
    samples_ = {.loss = TaskLoss::kTokens, .labels = {"O", "B-A", "I-A"}};
    return first_task_model(settings_.start, settings_.files, settings_.run.seed, samples_);
  };
  config_.classifier_pooling = ClassifierPooling::kAttention;
  write();
  EXPECT_EQ(tokens().model.form.config.classifier_pooling, ClassifierPooling::kFirst);
  settings_.start.pooling = ClassifierPooling::kMean;
  EXPECT_ERROR(tokens(), kUsage,
               "pooling: expected a task with a head of sequences, for classes, numbers or choices, got ner");
}

}  // namespace
}  // namespace deberta::train::task_model_test

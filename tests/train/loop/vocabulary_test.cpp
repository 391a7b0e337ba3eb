// Published models have more rows of words than their tokenizers have ids (128100 and 128001): a run reads, keeps and
// writes all of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "support/paths.h"
#include "support/tiny_model.h"
#include "train/loop/first_model.h"
#include "train/loop/model_files.h"
#include "train/loop/task_model.h"
#include "train/model/parameters.h"

namespace deberta::train {
namespace {

class VocabularyTest : public testing::Test {
 protected:
  VocabularyTest() {
    std::filesystem::copy_file(deberta::test::fixture("tokenizer/bytes.model"), folder_.path("spm.model"));
    tokenizer_ = std::make_unique<Tokenizer>(Tokenizer::load(folder_.path()));
    config_ = deberta::test::tiny_config();
    config_.vocab_size = static_cast<int64_t>(tokenizer_->size()) + 99;
    deberta::test::write_tiny_model(folder_.path(), config_, Head::kMaskedLm);
  }

  // Every tensor that both have is the same, bit for bit.
  static void expect_same(const std::string& folder, Model& model) {
    const Checkpoint files = Checkpoint::open(folder);
    size_t compared = 0;
    for (const TensorView& view : to_views(model)) {
      const TensorView* other = files.find(view.name);
      if (other == nullptr) continue;
      EXPECT_EQ(view.shape, other->shape) << view.name;
      EXPECT_TRUE(std::ranges::equal(view.bytes, other->bytes)) << view.name;
      ++compared;
    }
    EXPECT_GT(compared, 30u);
  }

  // As files, and read again.
  void expect_round_trip(Model& model) {
    EXPECT_EQ(model.embeddings.word_VE.size(0), config_.vocab_size);
    expect_same(folder_.path(), model);
    write_model_files_into(folder_.path("written"), model, folder_.path());
    expect_same(folder_.path("written"), model);
    EXPECT_EQ(load_model_config(folder_.path("written/config.json")).vocab_size, config_.vocab_size);
  }

  deberta::test::TemporaryFolder folder_;
  std::unique_ptr<Tokenizer> tokenizer_;
  ModelConfig config_;
};

TEST_F(VocabularyTest, BeyondTheTokenizerStaysInALanguageModel) {
  PretrainSettings settings;
  settings.model_folder = settings.tokenizer_folder = folder_.path();
  settings.max_tokens = 16;
  Model model = first_model(settings, *tokenizer_);
  expect_round_trip(model);
  settings.model_folder = folder_.path("written");
  Model again = first_model(settings, *tokenizer_);
  expect_same(folder_.path(), again);
}

TEST_F(VocabularyTest, BeyondTheTokenizerStaysInFineTuning) {
  FinetuneSettings settings;
  settings.task = &find_task("rte");
  settings.model_folder = folder_.path();
  settings.training.max_tokens = 16;
  TaskSamples samples;
  samples.labels = {"not_entailment", "entailment"};
  Model model = first_task_model(settings, samples).model;
  expect_round_trip(model);
}

}  // namespace
}  // namespace deberta::train

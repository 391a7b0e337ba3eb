// Published models have more rows of words than their tokenizers have ids (128100 and 128001): a run reads, keeps and
// writes all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "support/expect_error.h"
#include "support/paths.h"
#include "support/tiny_model.h"
#include "train/finetune/task_model.h"
#include "train/model/parameters.h"
#include "train/pretrain/first_model.h"
#include "train/step/model_files.h"
#include "train/step/vocabulary.h"

namespace deberta::train::vocabulary_test {
namespace {

const Beginning kBeginning = {.longest = 16, .seed = 1234};

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
  ModelStart start;
  start.model_folder = start.tokenizer_folder = folder_.path();
  Model model = first_model(start, *tokenizer_, kBeginning);
  expect_round_trip(model);
  start.model_folder = folder_.path("written");
  Model again = first_model(start, *tokenizer_, kBeginning);
  expect_same(folder_.path(), again);
}

// ---- other pieces, and more of them

const float* row(const at::Tensor& table_VE, int64_t id) {
  return table_VE.data_ptr<float>() + id * table_VE.size(1);
}
bool is_same_row(const at::Tensor& a_VE, int64_t a, const at::Tensor& b_VE, int64_t b) {
  return std::equal(row(a_VE, a), row(a_VE, a) + a_VE.size(1), row(b_VE, b));
}

class OtherPiecesTest : public VocabularyTest {
 protected:
  OtherPiecesTest() {
    start_.model_folder = start_.tokenizer_folder = folder_.path();
    old_ = std::make_unique<Model>(first_model(start_, *tokenizer_, kBeginning));
    std::filesystem::create_directory(folder_.path("other"));
    std::filesystem::copy_file(test::fixture("tokenizer/unknown.model"), folder_.path("other/spm.model"));
    test::write_text(folder_.path("other/added_tokens.json"), R"({"[MASK]": 600, "<one>": 601, "<two>": 602})");
  }
  Model make() {
    return first_model(start_, start_.tokenizer().load(),
                       {.longest = kBeginning.longest, .seed = kBeginning.seed, .note = [&](const std::string& note) {
                          notes_ += note + "\n";
                        }});
  }

  ModelStart start_;
  std::unique_ptr<Model> old_;  // as its files have it
  std::string notes_;
};

TEST_F(OtherPiecesTest, AreRefusedBesideTrainedWeights) {
  start_.tokenizer_folder = folder_.path("other");
  EXPECT_ERROR(make(), kTokenId, "piece 4: expected ");
  EXPECT_ERROR(make(), kTokenId, "as in the tokenizer beside the weights in " + folder_.path());
}

TEST_F(OtherPiecesTest, AreThoseWithOtherRoles) {
  std::filesystem::remove(folder_.path("other/added_tokens.json"));
  std::filesystem::copy_file(folder_.path("spm.model"), folder_.path("other/spm.model"),
                             std::filesystem::copy_options::overwrite_existing);
  start_.tokenizer_folder = folder_.path("other");
  EXPECT_NO_THROW(make());
  test::write_text(folder_.path("other/tokenizer_config.json"), R"({"cls_token": "[SEP]"})");
  EXPECT_ERROR(make(), kTokenId, "[CLS]: expected id 1 as in the tokenizer beside the weights in ");
}

TEST_F(OtherPiecesTest, WithoutATokenizerBesideTheWeightsAreTakenAndSaid) {
  std::filesystem::remove(folder_.path("other/added_tokens.json"));
  std::filesystem::rename(folder_.path("spm.model"), folder_.path("other/spm.model"));
  start_.tokenizer_folder = folder_.path("other");
  EXPECT_NO_THROW(make());
  EXPECT_NE(notes_.find("since no tokenizer can be read there"), std::string::npos) << notes_;
}

TEST_F(OtherPiecesTest, TakeTheRowsOfPiecesThatBothHave) {
  start_.tokenizer_folder = folder_.path("other");
  start_.has_new_embeddings = true;
  const Tokenizer other = start_.tokenizer().load();
  Model model = make();
  const auto size = static_cast<int64_t>(other.size());
  ASSERT_EQ(model.form.config.vocab_size, size);
  ASSERT_EQ(model.embeddings.word_VE.size(0), size);
  Model fresh = make_model(model.form);
  initialise(fresh, kBeginning.seed);
  const SpecialIds &now = other.special(), &before = tokenizer_->special();
  size_t copied = 0;
  for (int64_t id = 0; id < size; ++id) {
    std::optional<int32_t> source = tokenizer_->id_of(other.piece(static_cast<int32_t>(id)));
    if (id == now.mask) source = before.mask;
    if (id == now.unk) source = before.unk;
    const Model& expected = source ? *old_ : fresh;
    const int64_t from = source ? *source : id;
    EXPECT_TRUE(is_same_row(model.embeddings.word_VE, id, expected.embeddings.word_VE, from)) << id;
    EXPECT_EQ(*row(model.head.bias_V.unsqueeze(1), id), *row(expected.head.bias_V.unsqueeze(1), from)) << id;
    copied += source.has_value();
  }
  EXPECT_EQ(copied, other.size() - 2);
  EXPECT_NE(notes_.find(": " + std::to_string(copied) + " rows are copied from "), std::string::npos) << notes_;
  EXPECT_TRUE(model.encoder.layers[1].feed_forward.output.weight_OI.equal(
      old_->encoder.layers[1].feed_forward.output.weight_OI));
  EXPECT_TRUE(model.head.dense.weight_OI.equal(old_->head.dense.weight_OI));
}

TEST_F(OtherPiecesTest, RowsOfAddedTokensAreMeansOfThoseOfTheirPieces) {
  start_.added_tokens = {"\n", "<bird house>"};
  const Model model = make();
  ASSERT_EQ(model.form.config.vocab_size, config_.vocab_size);  // there were rows to spare
  const auto size = static_cast<int64_t>(tokenizer_->size());
  for (int64_t id = 0; id < config_.vocab_size; ++id) {
    if (id == size || id == size + 1) continue;
    EXPECT_TRUE(is_same_row(model.embeddings.word_VE, id, old_->embeddings.word_VE, id)) << id;
  }
  Model fresh = make_model(model.form);
  initialise(fresh, kBeginning.seed);
  EXPECT_TRUE(is_same_row(model.embeddings.word_VE, size, fresh.embeddings.word_VE, size));  // no piece is white space
  EXPECT_EQ(*row(model.head.bias_V.unsqueeze(1), size), 0);
  const std::vector<int32_t> pieces = tokenizer_->encode("<bird house>", {.add_special_tokens = false}).ids;
  ASSERT_GT(pieces.size(), 2u);
  for (int64_t e = 0; e < model.embeddings.word_VE.size(1); ++e) {
    double sum = 0;
    for (const int32_t piece : pieces) sum += row(old_->embeddings.word_VE, piece)[e];
    EXPECT_FLOAT_EQ(row(model.embeddings.word_VE, size + 1)[e],
                    static_cast<float>(sum / static_cast<double>(pieces.size())));
  }
}

TEST_F(OtherPiecesTest, ATableWithoutRowsToSpareGrows) {
  start_.added_tokens.resize(120);
  for (size_t i = 0; i < 120; ++i) start_.added_tokens[i] = "<token " + std::to_string(i) + ">";
  const Model model = make();
  const auto size = static_cast<int64_t>(tokenizer_->size()) + 120;
  EXPECT_EQ(model.form.config.vocab_size, size);
  EXPECT_EQ(model.embeddings.word_VE.size(0), size);
  EXPECT_EQ(model.head.bias_V.size(0), size);
  EXPECT_TRUE(is_same_row(model.embeddings.word_VE, 900, old_->embeddings.word_VE, 900));
}

TEST_F(VocabularyTest, BeyondTheTokenizerStaysInFineTuning) {
  TaskFiles files;
  files.task = &find_task("rte");
  files.training.max_tokens = 16;
  TaskSamples samples;
  samples.labels = {"not_entailment", "entailment"};
  Model model = first_task_model({.model_folder = folder_.path()}, files, kBeginning.seed, samples).model;
  expect_round_trip(model);
}

}  // namespace
}  // namespace deberta::train::vocabulary_test

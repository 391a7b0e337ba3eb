// The learner of replaced-token detection: how a pair begins, anew or from files, what its files hold, and that it goes
// on from them with the same bits.
#include "train/pretrain/pair_learner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/tensor.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/warnings.h"
#include "train/pretrain/batch_stream.h"
#include "train/pretrain/first_pair.h"
#include "train/state/checkpoint_folder.h"

namespace deberta::train::pair_learner_test {
namespace {

constexpr const char* kWords = "embeddings.word_embeddings.weight";
constexpr const char* kDifference = "embeddings.word_embeddings._weight";

std::vector<float> numbers(const std::string& folder, const char* name) {
  const Checkpoint files = Checkpoint::open(folder);
  const TensorView* view = files.find(name);
  return view == nullptr ? std::vector<float>() : to_fp32(*view);
}

float worst_difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  float worst = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

class PairLearnerTest : public testing::Test {
 protected:
  PairLearnerTest() {
    std::filesystem::create_directory(folder_.path("tokenizer"));
    std::filesystem::copy_file(test::fixture("tokenizer/bytes.model"), folder_.path("tokenizer/spm.model"));
    std::string text;
    for (int line = 0; line < 60; ++line)
      text += "the cat sat on a mat and it rained all day in may " + std::to_string(line) + "\n";
    test::write_text(folder_.path("corpus.txt"), text);
    settings_.corpus.corpora = {{{folder_.path("corpus.txt")}, 1}};
    settings_.corpus.options.holds_out_every = 0;
    settings_.corpus.cache_folder = folder_.path("cache");
    settings_.start.tokenizer_folder = folder_.path("tokenizer");
    settings_.start.new_model.overrides = {"num_hidden_layers=4", "hidden_size=16", "num_attention_heads=2",
                                           "position_buckets=8"};
    settings_.start.objective = Objective::kReplaced;
    settings_.batches.length.steps = 8;
    settings_.batches.max_tokens = 16;
    settings_.batches.sequences_per_step = 4;
    settings_.optimizer.adam.has_bias_correction = true;
    settings_.learning_rate = 1e-2;
    settings_.batches.prefetch = 0;
    tokenizer_ = std::make_unique<Tokenizer>(Tokenizer::load(settings_.start.tokenizer_folder));
  }

  std::unique_ptr<Learner> make() { return make_pair_learner(settings_, *tokenizer_, workplace_, hooks_); }
  FirstPair first() {
    return first_pair(settings_.start, settings_.pair, *tokenizer_,
                      {.longest = settings_.batches.longest(), .seed = settings_.run.seed, .note = hooks_.on_note});
  }

  // Steps of a learner at full rate; the sums of the last.
  static Sums run(Learner& learner, int64_t first, int64_t count, double factor = 1) {
    Sums sums;
    learner.begin(first);
    for (int64_t step = first; step < first + count; ++step) {
      sums.clear();
      learner.step({.step = step, .factor = factor}, sums);
    }
    return sums;
  }
  std::string save(Learner& learner, const std::string& name, int64_t step) {
    TrainerState state;
    state.step = step;
    std::filesystem::create_directory(folder_.path(name));
    return save_checkpoint(folder_.path(name),
                           {.state = state,
                            .optimizer = learner.optimizer_tensors(),
                            .add_models = [&](ManifestWriter& files) { learner.add_models(files); }},
                           {});
  }
  // A pair whose tables have nothing in common, as files; the settings then go on from them.
  void go_on_from_files() {
    settings_.pair.options.sharing = TableSharing::kNone;
    std::unique_ptr<Learner> learner = make();
    run(*learner, 0, 2);
    std::filesystem::create_directory(folder_.path("files"));
    learner->write_models(folder_.path("files"));
    settings_.start.model_folder = folder_.path("files/discriminator");
    settings_.pair.generator_folder = folder_.path("files/generator");
    settings_.pair.options.sharing = TableSharing::kDisentangled;
  }

  test::TemporaryFolder folder_;
  PretrainSettings settings_;
  std::unique_ptr<Tokenizer> tokenizer_;
  Workplace workplace_{{.threads = 1}};
  std::vector<std::string> notes_;
  RunHooks hooks_{.on_note = [this](const std::string& note) { notes_.push_back(note); }};
};

TEST_F(PairLearnerTest, APairGoesOnFromItsFilesWithTheSameBits) {
  for (const int64_t alone : {0, 4}) {
    for (const bool is_joint : {false, true}) {
      SCOPED_TRACE(std::to_string(alone) + (is_joint ? ", joint" : ", decoupled"));
      settings_.pair.steps_of_generator_alone = alone;
      settings_.pair.options.is_joint = is_joint;
      std::unique_ptr<Learner> whole = make(), other = make();
      run(*whole, 0, 3);
      other->load(save(*whole, "run" + std::to_string(2 * alone + is_joint), 3));
      const Sums expected = run(*whole, 3, 3), got = run(*other, 3, 3);
      EXPECT_EQ(got, expected);
      EXPECT_EQ(other->metrics(got), whole->metrics(expected));
    }
  }
}

TEST_F(PairLearnerTest, FilesHoldTheSumAsTheTableAndTheDifferenceBesideIt) {
  std::unique_ptr<Learner> learner = make();
  run(*learner, 0, 3);
  const std::string folder = save(*learner, "run", 3);
  const std::vector<float> base = numbers(folder + "/generator", kWords),
                           sum = numbers(folder + "/discriminator", kWords),
                           difference = numbers(folder + "/discriminator", kDifference);
  ASSERT_EQ(sum.size(), difference.size());
  ASSERT_EQ(sum.size(), base.size());
  EXPECT_GT(*std::ranges::max_element(difference), 1e-3f);
  for (size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum[i], base[i] + difference[i]) << i;
  EXPECT_TRUE(numbers(folder + "/generator", kDifference).empty());
}

TEST_F(PairLearnerTest, ADiscriminatorFromFilesBeginsAsWhatItIs) {
  go_on_from_files();
  std::unique_ptr<Learner> learner = make();
  run(*learner, 0, 1, 0);
  const std::string now = save(*learner, "run", 1) + "/discriminator";
  EXPECT_LE(worst_difference(numbers(now, kWords), numbers(settings_.start.model_folder, kWords)), 1e-7f);
  EXPECT_GT(worst_difference(numbers(now, kWords), numbers(settings_.pair.generator_folder, kWords)), 1e-2f);
  ASSERT_EQ(notes_.size(), 1u);  // as worth something
  EXPECT_NE(notes_.front().find("with its tables"), std::string::npos) << notes_.front();
}

TEST_F(PairLearnerTest, ADiscriminatorWaitsWithItsTablesWhileTheGeneratorIsTrainedAlone) {
  go_on_from_files();
  settings_.pair.steps_of_generator_alone = 3;
  const std::vector<float> before = numbers(settings_.start.model_folder, kWords);
  std::unique_ptr<Learner> learner = make();
  const Sums alone = run(*learner, 0, 3);
  EXPECT_EQ(alone.count("discriminator_loss"), 0u);
  const std::string waiting = save(*learner, "waiting", 3);
  EXPECT_EQ(numbers(waiting + "/discriminator", kWords), before);
  EXPECT_TRUE(numbers(waiting + "/discriminator", kDifference).empty());
  EXPECT_GT(worst_difference(numbers(waiting + "/generator", kWords), numbers(settings_.pair.generator_folder, kWords)),
            1e-2f);
  EXPECT_EQ(run(*learner, 3, 1, 0).count("discriminator_loss"), 1u);
  EXPECT_LE(worst_difference(numbers(save(*learner, "pair", 4) + "/discriminator", kWords), before), 1e-7f);
}

TEST_F(PairLearnerTest, ADiscriminatorThatIsNewReadsTheGeneratorsTablesAsTheyAreByThen) {
  settings_.pair.steps_of_generator_alone = 3;
  std::unique_ptr<Learner> learner = make();
  run(*learner, 0, 4, 1);
  std::unique_ptr<Learner> other = make();
  run(*other, 0, 3);
  const std::string folder = save(*other, "run", 3);
  EXPECT_EQ(numbers(folder + "/discriminator", kWords), numbers(folder + "/generator", kWords));
}

TEST_F(PairLearnerTest, EachOptimiserHasItsOwnRate) {
  settings_.pair.discriminator_rate = 3e-3;
  std::unique_ptr<Learner> learner = make();
  const Sums sums = run(*learner, 0, 1, 0.5);
  EXPECT_EQ(sums.at("generator_learning_rate"), 5e-3);
  EXPECT_EQ(sums.at("discriminator_learning_rate"), 1.5e-3);
}

TEST_F(PairLearnerTest, SinglePiecesAreMaskedAndAllOfThemByTheMaskPiece) {
  settings_.batches.masks.rate = 0.3;
  std::unique_ptr<BatchStream> batches = BatchStream::open(settings_, *tokenizer_, workplace_.compute.parallel, hooks_);
  batches->begin(0);
  size_t count = 0;
  for (int step = 0; step < 8; ++step) {
    for (const TrainBatch& batch : batches->next()) {
      EXPECT_EQ(batch.rows_P.size(), 4u * 5u);  // round(16 * 0.3), pieces: a word would go beyond
      for (const int32_t row : batch.rows_P) {
        EXPECT_EQ(batch.ids_T[static_cast<size_t>(row)], tokenizer_->special().mask);
        ++count;
      }
    }
  }
  EXPECT_EQ(count, 8u * 20u);
}

TEST_F(PairLearnerTest, AGeneratorIsMadeOfEverySecondLayer) {
  go_on_from_files();
  settings_.pair.generator_folder = "";
  settings_.pair.is_generator_copied = true;
  FirstPair pair = first();
  ASSERT_EQ(pair.generator.form.config.num_hidden_layers, 2);
  for (const size_t layer : {0u, 1u}) {
    EXPECT_TRUE(pair.generator.encoder.layers[layer].feed_forward.output.weight_OI.equal(
        pair.discriminator.encoder.layers[2 * layer].feed_forward.output.weight_OI));
  }
  EXPECT_TRUE(pair.generator.embeddings.word_VE.equal(pair.discriminator.embeddings.word_VE));
  EXPECT_EQ(notes_.size(), 1u);  // the note that it is new
}

TEST_F(PairLearnerTest, NewModelsHaveNumbersOfTheirOwn) {
  settings_.pair.generator_layers = 4;
  const FirstPair pair = first();
  EXPECT_FALSE(pair.generator.encoder.layers[0].feed_forward.output.weight_OI.equal(
      pair.discriminator.encoder.layers[0].feed_forward.output.weight_OI));
}

TEST_F(PairLearnerTest, TablesThatAreToBeSharedHaveToBeTheSameInTheFiles) {
  go_on_from_files();
  settings_.pair.options = {.sharing = TableSharing::kSame, .is_joint = true};
  EXPECT_ERROR(
      first(), kUsage,
      "word_embeddings: expected the same numbers in the files of both models, which are to share this table, got "
      "different ones; give the generator of the same run, or share by differences");
}

TEST_F(PairLearnerTest, NewRowsOfSharedTablesAreTheSame) {
  go_on_from_files();
  std::filesystem::create_directory(folder_.path("other"));
  std::filesystem::copy_file(test::fixture("tokenizer/unknown.model"), folder_.path("other/spm.model"));
  test::write_text(folder_.path("other/added_tokens.json"), R"({"[MASK]": 600, "<one>": 601, "<two>": 602})");
  settings_.start.tokenizer_folder = folder_.path("other");
  settings_.start.has_new_embeddings = true;
  tokenizer_ = std::make_unique<Tokenizer>(Tokenizer::load(settings_.start.tokenizer_folder));
  const auto same_rows = [&] {
    const FirstPair pair = first();
    const at::Tensor &d = pair.discriminator.embeddings.word_VE, &g = pair.generator.embeddings.word_VE;
    EXPECT_EQ(d.size(0), 603);
    EXPECT_EQ(g.size(0), 603);
    int64_t same = 0;
    for (int64_t id = 0; id < 603; ++id) same += d[id].equal(g[id]);
    return same;
  };
  EXPECT_EQ(same_rows(), 2);  // the others are those of the files
  settings_.pair.options.sharing = TableSharing::kNone;
  EXPECT_EQ(same_rows(), 0);
}

TEST_F(PairLearnerTest, TheGeneratorIsNotAloneForTheWholeRun) {
  settings_.pair.steps_of_generator_alone = 8;
  EXPECT_ERROR(make(), kUsage, "expected fewer steps that train only the generator than the run has, 8, got 8");
}

}  // namespace
}  // namespace deberta::train::pair_learner_test

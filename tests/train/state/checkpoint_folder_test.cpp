// Checkpoints on the disk: what is in one, which one is found, which ones go.
#include "train/state/checkpoint_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "state_case.h"
#include "support/expect_error.h"
#include "support/warnings.h"

namespace deberta::train::checkpoint_folder_test {
namespace {

using deberta::test::TemporaryFolder;
using deberta::test::Warnings;
using deberta::test::write_text;
using test::contents_of;
using test::save;
using test::SmallRun;
namespace fs = std::filesystem;

std::vector<std::string> names(const TemporaryFolder& output) {
  return names_in(output.path());
}
using Names = std::vector<std::string>;

TEST(CheckpointFolder, HoldsModelsStateOptimizerAndTheirManifest) {
  const TemporaryFolder output;
  SmallRun run(5, {.lookahead_k = 2});
  const std::string folder = save_checkpoint(output.path(), run.contents(), {});
  EXPECT_EQ(folder, output.path("checkpoint-000005"));
  EXPECT_EQ(names(output), (Names{"LATEST", "checkpoint-000005"}));
  EXPECT_EQ(read_file(output.path("LATEST"), 100), "checkpoint-000005\n");
  Names files;
  for (const auto& [name, text] : contents_of(folder)) files.push_back(name);
  EXPECT_EQ(files, (Names{"config.json", "deberta.manifest.json", "generator/", "generator/model.safetensors",
                          "trainer/", "trainer/optim.safetensors", "trainer/state.json"}));
  const auto checkpoint = find_checkpoint(output.path());
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->folder, folder);
  EXPECT_TRUE(checkpoint->state == run.state());
  EXPECT_FALSE(checkpoint->is_degraded);
  SmallRun other(1, {.lookahead_k = 2});
  load_optimizer(SafetensorsFile(folder + "/trainer/optim.safetensors"), "", other.adam());
  const Adam::State &expected = run.adam().state(), &got = other.adam().state();
  EXPECT_EQ(got.steps, 5);
  for (const auto& [a, b] :
       {std::pair(&expected.m, &got.m), std::pair(&expected.v, &got.v), std::pair(&expected.slow, &got.slow)})
    EXPECT_TRUE(std::equal(a->all().begin(), a->all().end(), b->all().begin()));
}

TEST(CheckpointFolder, IsTheNewestOneThatIsThere) {
  const TemporaryFolder output;
  EXPECT_FALSE(find_checkpoint(output.path()));
  EXPECT_FALSE(find_checkpoint(output.path("absent")));
  for (const int64_t step : {999999, 5, 1000000}) save(output.path(), step < 100 ? step : step / 100000);
  EXPECT_EQ(find_checkpoint(output.path())->state.step, 10);
  EXPECT_EQ(checkpoint_name(1234567), "checkpoint-1234567");
  for (const char* name :
       {"checkpoint-12", "checkpoint-0000012", "checkpoint-+00012", "checkpoint-", "checkpoint-000012.tmp-1-00000000"})
    fs::create_directory(output.path(name));
  Warnings warnings;
  EXPECT_EQ(find_checkpoint(output.path())->state.step, 10);
  EXPECT_EQ(warnings.text, "");
}

// Every file of the newest checkpoint in turn, with one bit of its first, middle or last byte changed, without its last
// byte, and gone.
TEST(CheckpointFolder, IsPassedOverWhenOneOfItsFilesIsDamaged) {
  const TemporaryFolder output;
  save(output.path(), 1);
  const std::string newest = save(output.path(), 2);
  fs::remove(output.path("LATEST"));  // it alone would give it away
  size_t damaged = 0;
  for (const auto& [name, text] : contents_of(newest)) {
    const std::string path = newest + "/" + name;
    if (name.ends_with("/")) continue;
    const auto expect_the_other = [&, file = name](const char* how) {
      Warnings warnings;
      const auto checkpoint = find_checkpoint(output.path());
      ASSERT_TRUE(checkpoint);
      EXPECT_EQ(checkpoint->state.step, 1) << file << ' ' << how;
      EXPECT_TRUE(checkpoint->is_degraded);
      EXPECT_NE(warnings.text.find("skipped a damaged checkpoint: " + newest), std::string::npos) << warnings.text;
      ++damaged;
    };
    for (const size_t at : {size_t{0}, text.size() / 2, text.size() - 1}) {
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ 1);
      write_text(path, flipped);
      expect_the_other("flipped");
    }
    write_text(path, text.substr(0, text.size() - 2));
    expect_the_other("cut");
    fs::remove(path);
    expect_the_other("gone");
    write_text(path, text);
  }
  EXPECT_EQ(damaged, 25u);
  EXPECT_EQ(find_checkpoint(output.path())->state.step, 2);
  fs::remove(output.path("checkpoint-000001/config.json"));
  fs::remove(newest + "/config.json");
  EXPECT_FALSE(find_checkpoint(output.path()));
}

TEST(CheckpointFolder, IsDegradedWhenTheLatestIsGone) {
  const TemporaryFolder output;
  save(output.path(), 1);
  fs::remove_all(save(output.path(), 2));
  Warnings warnings;
  EXPECT_TRUE(find_checkpoint(output.path())->is_degraded);
  EXPECT_NE(warnings.text.find("LATEST: the checkpoint that it names is missing"), std::string::npos) << warnings.text;
  for (const char* text : {"", "checkpoint-x\n", "\n\n"}) {
    write_text(output.path("LATEST"), text);
    EXPECT_FALSE(find_checkpoint(output.path())->is_degraded);
  }
}

// Neither skipped for an older one, whose run would then remove it, nor overwritten by a run that comes to its step.
TEST(CheckpointFolder, OfANewerFormatEndsTheSearch) {
  const TemporaryFolder output;
  save(output.path(), 1);
  const std::string manifest = save(output.path(), 2) + "/deberta.manifest.json";
  write_text(manifest, R"({"format": 2})");
  EXPECT_ERROR(find_checkpoint(output.path()), kUnsupported, manifest + ": format: expected at most 1, got 2");
  EXPECT_ERROR(save(output.path(), 2), kUnsupported, "format: expected at most 1, got 2");
  EXPECT_EQ(read_file(manifest, 100), R"({"format": 2})");
}

TEST(CheckpointFolder, BelongsToItsStep) {
  const TemporaryFolder output;
  save(output.path(), 1);
  fs::copy(output.path("checkpoint-000001"), output.path("checkpoint-000007"), fs::copy_options::recursive);
  Warnings warnings;
  EXPECT_EQ(find_checkpoint(output.path())->state.step, 1);
  EXPECT_NE(warnings.text.find("state.json: step: expected 7, got 1"), std::string::npos) << warnings.text;
}

TEST(CheckpointFolder, HasAnOptimizerAndAState) {
  const TemporaryFolder output;
  {
    StagedFolder staged(output.path("checkpoint-000003"));
    ManifestWriter files(staged);
    files.add_text("trainer/state.json", to_json(SmallRun(3).state()).dump());
    files.finish();
    staged.publish();
  }
  EXPECT_FALSE(find_checkpoint(output.path()));
}

TEST(Rotation, KeepsTheLastOnesTheBestAndThoseOfLaterSteps) {
  const TemporaryFolder output;
  save(output.path(), 900);
  for (const int64_t step : {1, 2, 3, 4, 5}) save(output.path(), step, {.keep_last = 2, .best_step = 2});
  EXPECT_EQ(names(output),
            (Names{"LATEST", "checkpoint-000002", "checkpoint-000004", "checkpoint-000005", "checkpoint-000900"}));
  save(output.path(), 6, {.keep_last = 1});
  EXPECT_EQ(names(output), (Names{"LATEST", "checkpoint-000006", "checkpoint-000900"}));
  save(output.path(), 7);
  EXPECT_EQ(names(output).size(), 4u);
}

// A run went back to step 1, because step 3 is damaged: what it saves is the only valid one.
TEST(Rotation, NeverRemovesTheLastValidOne) {
  const TemporaryFolder output;
  save(output.path(), 1);
  write_text(save(output.path(), 3) + "/config.json", "damaged");
  save(output.path(), 2, {.keep_last = 1});
  Warnings warnings;
  EXPECT_EQ(find_checkpoint(output.path())->state.step, 2);
}

TEST(CheckpointFolder, OfTheSameStepIsKeptIfItIsValidAndElseReplaced) {
  const TemporaryFolder output;
  const std::string folder = save(output.path(), 4);
  SmallRun other(4);
  other.state().tokens = 77;
  save_checkpoint(output.path(), other.contents(), {});
  EXPECT_EQ(find_checkpoint(output.path())->state.tokens, 0);
  write_text(folder + "/config.json", "damaged");
  save_checkpoint(output.path(), other.contents(), {});
  EXPECT_EQ(find_checkpoint(output.path())->state.tokens, 77);
  EXPECT_EQ(names(output).size(), 2u);
}

TEST(CheckpointFolder, IsNotBegunWithoutSpace) {
  const TemporaryFolder output;
  const SmallRun run(1);
  CheckpointContents contents = run.contents();
  contents.models_bytes = uint64_t{1} << 62;
  EXPECT_ERROR(save_checkpoint(output.path(), contents, {}), kFileWrite,
               "checkpoint-000001: expected 5534023222112865");
  EXPECT_ERROR(save_checkpoint(output.path(), contents, {}), kFileWrite, "0 bytes of the checkpoint had been written");
  EXPECT_TRUE(names(output).empty());
  EXPECT_ERROR(save(output.path("absent"), 1), kFileWrite, "absent/checkpoint-000001: cannot create: no folder");
}

TEST(CheckpointFolder, IsNotThereWhenAModelCannotBeWritten) {
  const TemporaryFolder output;
  save(output.path(), 1);
  const SmallRun run(2);
  CheckpointContents contents = run.contents();
  contents.add_models = [](ManifestWriter& files) {
    files.add_text("generator/config.json", "{}");
    throw Error(ErrorCode::kFileWrite, files.path(), "no more");
  };
  EXPECT_ERROR(save_checkpoint(output.path(), contents, {}), kFileWrite,
               "no more; 2 bytes of the checkpoint had been written");
  EXPECT_EQ(names(output), (Names{"LATEST", "checkpoint-000001"}));
  EXPECT_FALSE(find_checkpoint(output.path())->is_degraded);
}

TEST(CheckpointFolder, LeftByAKilledRunIsRemoved) {
  const TemporaryFolder output;
  save(output.path(), 1);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  Names left;
  for (const pid_t maker : {child, ::getpid()}) {
    const std::string mark = ".tmp-" + std::to_string(maker) + "-01234567";
    fs::create_directories(output.path("checkpoint-000002" + mark + "/trainer"));
    write_text(output.path("checkpoint-000002" + mark + "/trainer/state.json"), "{");
    write_text(output.path("LATEST" + mark), "che");
    fs::create_directory(output.path("mine" + mark));
    for (const char* name : {"checkpoint-000002", "LATEST"}) left.push_back(output.path(name + mark));
  }
  Names removed = remove_checkpoint_leftovers(output.path());
  std::sort(left.begin(), left.end());
  std::sort(removed.begin(), removed.end());
  EXPECT_EQ(removed, left);
  EXPECT_EQ(names(output).size(), 4u);  // two folders that are no checkpoints included
  EXPECT_TRUE(remove_checkpoint_leftovers(output.path("absent")).empty());
}

}  // namespace
}  // namespace deberta::train::checkpoint_folder_test

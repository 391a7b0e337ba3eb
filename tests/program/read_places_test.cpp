// Outputs that are inputs, by whatever name.
#include "program/read_places.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "checkpoint/manifest.h"
#include "program/output.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::program::read_places_test {
namespace {

namespace fs = std::filesystem;

class KeptInputs : public testing::Test {
 protected:
  KeptInputs() {
    fs::create_directories(scratch_.path("model/part"));
    for (const char* name : {"rows.tsv", "labels.txt", "model/config.json", "model/part/pytorch_model.bin"})
      test::write_text(scratch_.path(name), "{}");
    fs::create_hard_link(scratch_.path("rows.tsv"), scratch_.path("hard.tsv"));
    fs::create_hard_link(scratch_.path("model/part/pytorch_model.bin"), scratch_.path("weights.tsv"));
    fs::create_symlink("rows.tsv", scratch_.path("link.tsv"));
  }
  Options reading(const std::string& output) {
    Options options("zero-shot");
    options.set("model", scratch_.path("model"), "flag");
    options.set("input", scratch_.path("rows.tsv"), "flag");
    options.set("labels-file", scratch_.path("labels.txt"), "flag");
    options.set("output", scratch_.path(output), "flag");
    return options;
  }
  test::TemporaryFolder scratch_;
};

TEST_F(KeptInputs, AreRefusedAsOutputsByAnyOfTheirNames) {
  for (const char* name : {"rows.tsv", "hard.tsv", "link.tsv", "model/../rows.tsv"})
    EXPECT_ERROR(check_outputs(reading(name)), kUsage,
                 "--output: expected a file that is not also an input, got " + scratch_.path(name));
  EXPECT_NO_THROW(check_outputs(reading("new.tsv")));
  test::write_text(scratch_.path("old.tsv"), "{}");
  EXPECT_NO_THROW(check_outputs(reading("old.tsv")));
}

TEST_F(KeptInputs, AreFilesOfTheModelToo) {
  for (const char* name : {"weights.tsv", "model/config.json", "model/tokenizer.json"})
    EXPECT_ERROR(check_outputs(reading(name)), kUsage, "a file of the model " + scratch_.path("model"));
  for (const char* name : {"model/answers.tsv", "model/answers.json"}) EXPECT_NO_THROW(check_outputs(reading(name)));
}

TEST_F(KeptInputs, AreWhatAManifestListsAndWhatTheHubsCacheFindsAModelBy) {
  test::write_text(scratch_.path("model/notes.txt"), "x");
  test::write_text(scratch_.path("model/deberta.manifest.json"),
                   manifest_text({{.name = "notes.txt", .bytes = 1, .sha256 = std::string(64, 'a')}}));
  for (const char* name : {"model/notes.txt", "model/deberta.manifest.json"})
    EXPECT_ERROR(check_outputs(reading(name)), kUsage, "expected a file that is not also an input");
  fs::create_directories(scratch_.path("hub/models--a--b/snapshots/1234"));
  fs::create_directories(scratch_.path("hub/models--a--b/refs"));
  test::write_text(scratch_.path("hub/models--a--b/refs/main"), "1234");
  Options options = reading("hub/models--a--b/refs/main");
  options.set("model", scratch_.path("hub/models--a--b/snapshots/1234"), "flag");
  EXPECT_ERROR(check_outputs(options), kUsage, "expected a file that is not also an input");
}

TEST_F(KeptInputs, AreNotWrittenOverInTheFolderOfARun) {
  const auto training = [&](const std::string& folder) {
    Options options("finetune");
    options.set("model", scratch_.path("model"), "flag");
    options.set("train-file", scratch_.path("rows.tsv"), "flag");
    options.set("output-dir", scratch_.path(folder), "flag");
    return options;
  };
  fs::create_directories(scratch_.path("run"));
  EXPECT_NO_THROW(check_outputs(training("run")));
  fs::create_hard_link(scratch_.path("rows.tsv"), scratch_.path("run/metrics.jsonl"));
  EXPECT_ERROR(check_outputs(training("run")), kUsage, "--output-dir: expected a file that is not also an input");
  fs::create_directories(scratch_.path("other"));
  fs::create_symlink("../model/config.json", scratch_.path("other/events.jsonl"));
  EXPECT_ERROR(check_outputs(training("other")), kUsage, "a file of the model");
  // A run in a folder of the model's writes models itself.
  fs::create_directories(scratch_.path("model/tuned"));
  test::write_text(scratch_.path("model/tuned/model.safetensors"), "x");
  EXPECT_NO_THROW(check_outputs(training("model/tuned")));
}

TEST_F(KeptInputs, TwoOutputsAreTwoFiles) {
  fs::create_symlink("later", scratch_.path("dangling"));
  EXPECT_TRUE(is_same_file(scratch_.path("dangling"), scratch_.path("later")));
  EXPECT_FALSE(is_same_file(scratch_.path("dangling"), scratch_.path("other")));
  EXPECT_TRUE(is_same_file(scratch_.path("rows.tsv"), scratch_.path("hard.tsv")));
  EXPECT_TRUE(is_same_file(scratch_.path("new"), scratch_.path("model/../new")));
  EXPECT_TRUE(is_same_file("-", "-"));
  EXPECT_FALSE(is_same_file(scratch_.path("rows.tsv"), scratch_.path("labels.txt")));
  EXPECT_FALSE(is_same_file("/dev/null", "/dev/null"));
}

}  // namespace
}  // namespace deberta::program::read_places_test

// Outputs that are inputs, by whatever name.
#include "program/read_places.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "program/output.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::cli {
namespace {

namespace fs = std::filesystem;

class KeptInputs : public testing::Test {
 protected:
  KeptInputs() {
    fs::create_directories(place_.path("model/part"));
    for (const char* name : {"rows.tsv", "labels.txt", "model/config.json", "model/part/pytorch_model.bin"})
      test::write_text(place_.path(name), "{}");
    fs::create_hard_link(place_.path("rows.tsv"), place_.path("hard.tsv"));
    fs::create_hard_link(place_.path("model/part/pytorch_model.bin"), place_.path("weights.tsv"));
    fs::create_symlink("rows.tsv", place_.path("link.tsv"));
  }
  Options reading(const std::string& output) {
    Options options("zero-shot");
    options.set("model", place_.path("model"), "flag");
    options.set("input", place_.path("rows.tsv"), "flag");
    options.set("labels-file", place_.path("labels.txt"), "flag");
    options.set("output", place_.path(output), "flag");
    return options;
  }
  test::TemporaryFolder place_;
};

TEST_F(KeptInputs, AreRefusedAsOutputsByAnyOfTheirNames) {
  for (const char* name : {"rows.tsv", "hard.tsv", "link.tsv", "model/../rows.tsv"})
    EXPECT_ERROR(check_outputs(reading(name)), kUsage,
                 "--output: expected a file that is not read, got " + place_.path(name));
  EXPECT_NO_THROW(check_outputs(reading("new.tsv")));
  test::write_text(place_.path("old.tsv"), "{}");
  EXPECT_NO_THROW(check_outputs(reading("old.tsv")));
}

TEST_F(KeptInputs, AreFilesOfTheModelToo) {
  for (const char* name : {"weights.tsv", "model/config.json", "model/tokenizer.json"})
    EXPECT_ERROR(check_outputs(reading(name)), kUsage, "a file of the model " + place_.path("model"));
  for (const char* name : {"model/answers.tsv", "model/answers.json"}) EXPECT_NO_THROW(check_outputs(reading(name)));
}

TEST_F(KeptInputs, TwoOutputsAreTwoFiles) {
  EXPECT_TRUE(is_same_file(place_.path("rows.tsv"), place_.path("hard.tsv")));
  EXPECT_TRUE(is_same_file(place_.path("new"), place_.path("model/../new")));
  EXPECT_TRUE(is_same_file("-", "-"));
  EXPECT_FALSE(is_same_file(place_.path("rows.tsv"), place_.path("labels.txt")));
  EXPECT_FALSE(is_same_file("/dev/null", "/dev/null"));
}

}  // namespace
}  // namespace deberta::cli

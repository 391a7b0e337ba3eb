// Finding labelled files and results in folders.
#include "eval/results.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "eval/example_files.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::results_test {
namespace {

TEST(LabelledFiles, AFolderIsItsFilesByTheNumbersInTheirNames) {
  const test::TemporaryFolder folder;
  for (const char* name : {"b", "a", "a/.hidden"}) std::filesystem::create_directories(folder.path(name));
  for (const char* name : {"b/1.txt", "a/10.txt", "a/2.txt", "a/.x.txt", "a/.hidden/1.txt", "top.tsv"})
    test::write_text(folder.path(name), "");
  EXPECT_EQ(find_labelled_files({folder.path("a"), folder.path("top.tsv"), "-", folder.path("b")}),
            (std::vector<std::string>{folder.path("a/2.txt"), folder.path("a/10.txt"), folder.path("top.tsv"), "-",
                                      folder.path("b/1.txt")}));
  EXPECT_ERROR(find_labelled_files({}), kUsage, "expected a labelled file or a folder of such files");
  EXPECT_ERROR(find_labelled_files({folder.path("none")}), kFileNotFound, "no such file");
}

TEST(Results, AreOfTheTaskOfTheirKeyOrTheirFolder) {
  const test::TemporaryFolder folder;
  for (const char* name : {"rte", "mnli", "other"}) std::filesystem::create_directories(folder.path(name));
  test::write_text(folder.path("all_results.json"), R"({"task": "sst-2", "eval_accuracy": 0.9})");
  test::write_text(folder.path("rte/all_results.json"), R"({"eval_accuracy": 0.5, "eval_loss": 1})");
  test::write_text(folder.path("mnli/all_results.json"), R"({"eval_accuracy": 0.75, "eval_accuracy_mm": 0.25})");
  test::write_text(folder.path("other/all_results.json"), R"({"eval_accuracy": 1})");
  const LoadedResults results = load_results(folder.path());
  EXPECT_EQ(results.tasks.size(), 4u);
  EXPECT_EQ(results.tasks.at("sst-2").at("accuracy"), 90);
  EXPECT_EQ(results.tasks.at("rte").at("accuracy"), 50);
  EXPECT_EQ(results.tasks.at("mnli").at("accuracy"), 75);
  EXPECT_EQ(results.tasks.at("mnli-mm").at("accuracy"), 25);
  EXPECT_EQ(results.nameless, std::vector<std::string>{folder.path("other/all_results.json")});
}

TEST(Results, AFolderWithoutAnyIsRefused) {
  const test::TemporaryFolder folder;
  EXPECT_ERROR(load_results(folder.path()), kInput,
               "expected all_results.json or folders with all_results.json; eval output_dir writes it");
}

}  // namespace
}  // namespace deberta::results_test

// Inputs get outputs of their own, or are refused.
#include "jobs/plan.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::jobs::plan_test {
namespace {

using test::TemporaryFolder;
using test::write_text;
using Names = std::vector<std::string>;
namespace fs = std::filesystem;

Names names_of(const Names& inputs, std::string_view ending = "jsonl") {
  Names names;
  for (const JobFile& file : plan_files(inputs, "nowhere", ending)) names.push_back(file.name);
  return names;
}

TEST(PlanFiles, NamesOutputsByTheirFormat) {
  EXPECT_EQ(names_of({"in/a.csv", "in/b.tsv.gz", "c.TXT.zst", "in/d", "in/part-0.2024", "in/.csv", "e.jsonl.xz"}),
            (Names{"a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl", "part-0.2024.jsonl", ".csv.jsonl", "e.jsonl"}));
  EXPECT_EQ(names_of({"in/a.parquet", "b.Parquet"}, "parquet"), (Names{"a.parquet", "b.parquet"}));
  EXPECT_EQ(names_of({"in/a.csv"}, "tsv"), Names{"a.tsv"});
}

TEST(PlanFiles, KeepsFoldersWhereNamesAreTheSame) {
  EXPECT_EQ(names_of({"in/2023/a.csv", "in/2024/a.csv", "in/2024/x/b.csv"}),
            (Names{"2023/a.jsonl", "2024/a.jsonl", "2024/x/b.jsonl"}));
  EXPECT_EQ(names_of({"in/a.csv", "in/x/../y/a.csv"}), (Names{"a.jsonl", "y/a.jsonl"}));
}

TEST(PlanFiles, TakesAnInputOnce) {
  EXPECT_EQ(names_of({"in/a.csv", "./in/a.csv", "in//a.csv"}), Names{"a.jsonl"});
}

TEST(PlanFiles, RefusesTwoInputsOfOneOutput) {
  EXPECT_ERROR(names_of({"in/a.csv", "in/a.tsv"}), kUsage,
               "in/a.tsv: expected answers in a file of their own, got a.jsonl, where those of in/a.csv go");
  EXPECT_ERROR(names_of({"in/a.csv", "in/a.csv.gz"}), kUsage, "where those of in/a.csv go");
}

TEST(PlanFiles, RefusesNamesThatTheRecordsNeed) {
  EXPECT_ERROR(names_of({"in/.deberta/a.csv", "in/a.csv"}), kUsage, "among the records in .deberta");
  EXPECT_ERROR(names_of({"in/" + std::string(200, 'a')}), kUsage, "at most 180 bytes");
}

TEST(PlanFiles, RefusesAnOutputThatIsAnInput) {
  const TemporaryFolder scratch;
  const std::string folder = scratch.path();
  write_text(folder + "/a.jsonl", "{}");
  EXPECT_ERROR(plan_files({folder + "/a.jsonl"}, folder, "jsonl"), kUsage,
               "/a.jsonl: expected a file that is not also an input");
  fs::create_directory(folder + "/out");
  fs::create_symlink("../a.jsonl", folder + "/out/b.jsonl");
  write_text(folder + "/b.csv", "text\nx\n");
  EXPECT_ERROR(plan_files({folder + "/a.jsonl", folder + "/b.csv"}, folder + "/out", "jsonl"), kUsage, "also an input");
  EXPECT_EQ(plan_files({folder + "/b.csv"}, folder + "/out2", "jsonl").front().bytes, 7u);
}

TEST(FindInputs, ExpandsPatternsThatAreNoFiles) {
  const TemporaryFolder scratch;
  const std::string folder = scratch.path() + "/";
  for (const char* name : {"b.csv", "a.csv", "c.txt", "[x].csv"}) write_text(folder + name, "");
  EXPECT_EQ(find_inputs({folder + "[a-b].csv"}), (Names{folder + "a.csv", folder + "b.csv"}));
  EXPECT_EQ(find_inputs({folder + "[x].csv"}), Names{folder + "[x].csv"});
  EXPECT_EQ(find_inputs({folder + "gone.csv", folder + "c.*"}), (Names{folder + "gone.csv", folder + "c.txt"}));
  EXPECT_ERROR(find_inputs({folder + "*.tsv"}), kUsage, "*.tsv: expected a pattern that names files");
  EXPECT_ERROR(find_inputs({scratch.path()}), kUsage, "expected a file or a pattern, got a folder");
}

}  // namespace
}  // namespace deberta::jobs::plan_test

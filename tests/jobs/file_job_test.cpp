// A job ends with every file answered once, whatever happened to the processes before.
#include "jobs/file_job.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include "base/folder.h"
#include "jobs/claim.h"
#include "jobs/record.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::jobs::file_job_test {
namespace {

using test::TemporaryFolder;
using test::write_text;
namespace fs = std::filesystem;

class FileJobs : public ::testing::Test {
 protected:
  std::string in(const std::string& name) const { return scratch_.path("in/" + name); }
  std::string out(const std::string& name) const { return scratch_.path("out/" + name); }

  void make_inputs(size_t count) {
    fs::create_directory(scratch_.path("in"));
    std::vector<std::string> inputs;
    for (size_t i = 0; i < count; ++i) {
      inputs.push_back(in(std::to_string(i) + ".txt"));
      write_text(inputs.back(), "text " + std::to_string(i));
    }
    files_ = plan_files(inputs, scratch_.path("out"), "tsv");
  }

  // Answers are the text of the input twice.
  FileJobRules rules(const std::string& description = R"({"options": {"top-k": 1}})") {
    FileJobRules rules;
    rules.folder = scratch_.path("out");
    rules.description = parse_json(description, "");
    rules.answer = [this](const JobFile& file, FileWriter& writer) {
      const std::string text = read_file(file.input, 1 << 20);
      writer.write(text + text);
      const std::lock_guard lock(mutex_);
      answered_.push_back(file.name);
      return FileCounts{.rows = 2, .bad_rows = file.input.ends_with("bad.txt") ? 1u : 0u};
    };
    rules.on_failed = [this](const JobFile&, const Error& error, uint64_t) { errors_ += error.what(); };
    return rules;
  }

  JobTotals run() { return run_file_job(files_, rules()); }

  void expect_whole() {
    for (const JobFile& file : files_) {
      const std::string text = read_file(file.input, 1 << 20);
      EXPECT_EQ(read_file(out(file.name), 1 << 20), text + text);
      EXPECT_TRUE(load_done(out(".deberta/" + file.name + ".done")));
    }
    for (const char* folder : {"out", "out/.deberta"}) {
      for (const std::string& name : names_in(scratch_.path(folder))) {
        EXPECT_EQ(name.find(".tmp-"), name.npos) << name;
        EXPECT_FALSE(name.ends_with(".claim")) << name;
      }
    }
  }

  TemporaryFolder scratch_;
  std::vector<JobFile> files_;
  std::mutex mutex_;
  std::vector<std::string> answered_;
  std::string errors_;
};

TEST_F(FileJobs, AnswerEachFileOnce) {
  make_inputs(5);
  JobTotals totals = run();
  EXPECT_EQ(totals.done, 5u);
  EXPECT_EQ(totals.rows, 10u);
  expect_whole();
  totals = run();
  EXPECT_EQ(totals.skipped, 5u);
  EXPECT_EQ(totals.rows, 10u);
  EXPECT_EQ(totals.bytes, 5 * 6u);
  EXPECT_EQ(answered_.size(), 5u);
}

TEST_F(FileJobs, AnswerAgainWhatHasChangedOrIsGone) {
  make_inputs(5);
  run();
  answered_.clear();
  write_text(in("0.txt"), "other");   // of another size
  write_text(in("1.txt"), "text 9");  // of the same size
  fs::remove(out("2.tsv"));
  write_text(in("3.txt"), "text 3");  // written anew, and the same
  write_text(out("4.tsv"), "half");
  const JobTotals totals = run();
  EXPECT_EQ(answered_, (std::vector<std::string>{"0.tsv", "1.tsv", "2.tsv", "4.tsv"}));
  EXPECT_EQ(totals.changed, 2u);
  EXPECT_EQ(totals.skipped, 1u);
  expect_whole();
}

TEST_F(FileJobs, RefuseAFolderWithAnswersOfOthers) {
  make_inputs(1);
  run();
  EXPECT_ERROR(run_file_job(files_, rules(R"({"options": {"top-k": 2}, "model": "x"})")), kUsage,
               "expected the options and the model of the answers that it holds, got others (top-k is 1 there and 2 "
               "here, model is none there and \"x\" here)");
  fs::remove(out(".deberta/job.json"));
  EXPECT_ERROR(run_file_job(files_, rules(R"({"options": {}})")), kUsage,
               "0.tsv: expected answers of the same options");
  fs::create_directory(scratch_.path("more"));
  write_text(scratch_.path("more/0.txt"), "another");
  fs::remove(out(".deberta/job.json"));
  EXPECT_ERROR(run_file_job(plan_files({scratch_.path("more/0.txt")}, scratch_.path("out"), "tsv"), rules()), kUsage,
               "in/0.txt; use another folder");
}

TEST_F(FileJobs, GoOnAfterAFileThatFailsAndTryItAgainLater) {
  make_inputs(3);
  fs::remove(in("1.txt"));
  JobTotals totals = run();
  EXPECT_EQ(totals.done, 2u);
  EXPECT_EQ(totals.failed, 1u);
  EXPECT_NE(errors_.find("in/1.txt: cannot open: No such file"), errors_.npos) << errors_;
  EXPECT_TRUE(fs::exists(out(".deberta/1.tsv.failed")));
  EXPECT_FALSE(fs::exists(out(".deberta/1.tsv.claim")));
  write_text(in("1.txt"), "text 1");
  totals = run();
  EXPECT_EQ(totals.done, 1u);
  EXPECT_EQ(totals.skipped, 2u);
  EXPECT_FALSE(fs::exists(out(".deberta/1.tsv.failed")));
  expect_whole();
}

TEST_F(FileJobs, LeaveNoRecordOfAnswersThatDidNotGetTheirName) {
  make_inputs(1);
  FileJobRules blocked = rules();
  const auto answer = blocked.answer;
  blocked.answer = [&](const JobFile& file, FileWriter& writer) {
    fs::create_directory(out(file.name));  // a folder, which no file replaces
    return answer(file, writer);
  };
  EXPECT_EQ(run_file_job(files_, blocked).failed, 1u);
  EXPECT_FALSE(fs::exists(out(".deberta/0.tsv.done")));
  fs::remove(out("0.tsv"));
  EXPECT_EQ(run().done, 1u);
  expect_whole();
}

TEST_F(FileJobs, RefuseAnInputThatChangesMeanwhile) {
  make_inputs(1);
  FileJobRules changing = rules();
  const auto answer = changing.answer;
  changing.answer = [&](const JobFile& file, FileWriter& writer) {
    const FileCounts counts = answer(file, writer);
    write_text(file.input, "another text");
    return counts;
  };
  EXPECT_EQ(run_file_job(files_, changing).failed, 1u);
  EXPECT_NE(errors_.find("in/0.txt: expected a file that nobody writes to"), errors_.npos) << errors_;
  EXPECT_FALSE(fs::exists(out("0.tsv")));
  EXPECT_EQ(run().done, 1u);
  expect_whole();
}

// The owner slept, another process took the file over, and both have answers.
TEST_F(FileJobs, DropAnswersOnceTheClaimIsLost) {
  make_inputs(1);
  FileJobRules slow = rules();
  const auto answer = slow.answer;
  bool is_first = true;
  slow.answer = [&](const JobFile& file, FileWriter& writer) {
    const FileCounts counts = answer(file, writer);
    if (std::exchange(is_first, false)) {
      const std::string claim = out(".deberta/0.tsv.claim");
      const auto other = take_over(claim, *find_claim(claim), this_process());
      EXPECT_NE(other, nullptr);
      write_text(out("0.tsv"), "of the other");
    }
    return counts;
  };
  std::string seen;
  slow.on_change = [&](const JobTotals&) { seen = read_file(out("0.tsv"), 100); };
  const JobTotals totals = run_file_job(files_, slow);
  EXPECT_EQ(totals.done, 1u);
  EXPECT_EQ(totals.failed, 0u);
  EXPECT_EQ(answered_.size(), 2u) << "the other wrote no record, so the file was answered again";
  EXPECT_EQ(seen, "text 0text 0");
  expect_whole();
}

TEST_F(FileJobs, TakeOverTheFilesOfTheDead) {
  make_inputs(3);
  run();
  Owner dead = this_process();
  dead.start_ticks += 1;
  // Killed: after the record, before the rename, after the claim.
  write_text(out(".deberta/0.tsv.claim"), to_json(dead).dump());
  write_text(out(".deberta/1.tsv.claim"), to_json(dead).dump());
  fs::remove(out(".deberta/1.tsv.done"));
  write_text(out("1.tsv.tmp-1-0123abcd"), "half");
  write_text(out(".deberta/1.tsv.done.tmp-1-0123abcd"), "half");
  write_text(out(".deberta/2.tsv.claim.tmp-1-0123abcd"), to_json(dead).dump());
  fs::remove(out(".deberta/2.tsv.done"));
  answered_.clear();
  const JobTotals totals = run();
  EXPECT_EQ(totals.skipped, 1u);
  EXPECT_EQ(totals.done, 2u);
  expect_whole();
}

TEST_F(FileJobs, KeepTemporariesOfTheLiving) {
  make_inputs(2);
  fs::create_directories(out(".deberta"));
  write_text(out("1.tsv.tmp-1-0123abcd"), "half");
  auto other = Claim::take(out(".deberta/1.tsv.claim"), this_process());
  FileJobRules ending = rules();
  std::atomic<bool> is_seen = false;
  ending.on_change = [&](const JobTotals&) { is_seen = true; };
  ending.is_stopped = [&] { return is_seen.load(); };
  EXPECT_EQ(run_file_job(files_, ending).done, 1u);
  EXPECT_TRUE(fs::exists(out("1.tsv.tmp-1-0123abcd")));
  other.reset();
  EXPECT_EQ(run().done, 1u);
  expect_whole();
}

TEST_F(FileJobs, ShareTheFilesAndWaitForEachOther) {
  make_inputs(60);
  constexpr size_t kProcesses = 6;
  std::vector<JobTotals> totals(kProcesses);
  const FileJobRules shared = rules();
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < kProcesses; ++i) threads.emplace_back([&, i] { totals[i] = run_file_job(files_, shared); });
  }
  size_t done = 0;
  for (const JobTotals& one : totals) {
    done += one.done;
    EXPECT_EQ(one.done + one.by_others + one.skipped, 60u);
    EXPECT_EQ(one.rows, 120u);
  }
  EXPECT_EQ(done, 60u);
  expect_whole();
}

TEST_F(FileJobs, EndWhenOthersHaveFailed) {
  make_inputs(2);
  fs::create_directories(out(".deberta"));
  auto other = Claim::take(out(".deberta/1.tsv.claim"), this_process());
  FileJobRules waiting = rules();
  waiting.on_change = [&](const JobTotals& totals) {
    if (totals.done == 1 && other != nullptr) {
      write_record(out(".deberta/1.tsv.failed"), JsonObject{});
      other.reset();
    }
  };
  const JobTotals totals = run_file_job(files_, waiting);
  EXPECT_EQ(totals.failed, 1u);
  EXPECT_EQ(answered_.size(), 1u);
}

TEST_F(FileJobs, StopWithoutHalfAFile) {
  make_inputs(2);
  bool is_stopped = false;
  FileJobRules stopping = rules();
  const auto answer = stopping.answer;
  stopping.answer = [&](const JobFile& file, FileWriter& writer) {
    is_stopped = true;
    return answer(file, writer);
  };
  stopping.is_stopped = [&] { return is_stopped; };
  const JobTotals totals = run_file_job(files_, stopping);
  EXPECT_EQ(totals.done, 0u);
  EXPECT_FALSE(fs::exists(out("0.tsv")));
  EXPECT_EQ(run().done, 2u);
  expect_whole();
}

TEST_F(FileJobs, CountBadRowsOfAllProcesses) {
  make_inputs(1);
  write_text(in("bad.txt"), "text");
  files_ = plan_files({in("0.txt"), in("bad.txt")}, scratch_.path("out"), "tsv");
  EXPECT_EQ(run().bad_rows, 1u);
  EXPECT_EQ(run().bad_rows, 1u) << "from the record";
}

TEST(DoneRecord, SurvivesItsJsonAndNothingElseIsOne) {
  const TemporaryFolder scratch;
  const std::string path = scratch.path("a.done");
  const DoneRecord record{.input = "in/a",
                          .input_sha256 = "ab",
                          .input_bytes = 3,
                          .input_stamp = FileStamp{3, UINT64_MAX, 5, 6},
                          .job = "cd",
                          .rows = 7,
                          .bad_rows = 1,
                          .seconds = 0.5,
                          .output_bytes = 8,
                          .output_sha256 = "ef",
                          .host = "here"};
  write_record(path, to_json(record));
  const auto read = load_done(path);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->input_stamp, record.input_stamp);
  EXPECT_EQ(read->rows, 7u);
  EXPECT_EQ(read->output_sha256, "ef");
  write_text(path, R"({"input": "in/a", "rows": -1})");
  EXPECT_FALSE(load_done(path));
  write_text(path, "{");
  EXPECT_FALSE(load_done(path));
}

}  // namespace
}  // namespace deberta::jobs::file_job_test

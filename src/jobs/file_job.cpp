// A file goes through: claim, answers under another name, check of the claim, rename, record, end of the claim.
#include "jobs/file_job.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <thread>

#include "base/hashing_writer.h"
#include "base/output_file.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "jobs/claim.h"
#include "jobs/description.h"
#include "jobs/file_clock.h"
#include "jobs/leftovers.h"
#include "jobs/owner.h"
#include "jobs/record.h"

namespace deberta::jobs {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Stopped {};
// Another process has taken over: its answers count.
struct ClaimLost {};

void make_folders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw Error(ErrorCode::kFileWrite, path, "cannot create the folder: " + error.message());
}

std::string folder_of(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

class FileJob {
 public:
  FileJob(const std::vector<JobFile>& files, const FileJobRules& rules)
      : files_(files),
        rules_(rules),
        records_(fmt::format("{}/{}", rules.folder, kRecordsFolder)),
        here_(this_process()),
        job_(sha256_of(to_bytes(rules.description.dump()))) {
    is_open_.resize(files.size(), true);
    has_changed_.resize(files.size());
    std::set<std::string> folders{""};
    for (const JobFile& file : files) folders.insert(folder_of(file.name));
    for (const std::string& folder : folders) make_folders(fmt::format("{}/{}", records_, folder));
    for (const std::string& folder : folders) make_folders(fmt::format("{}/{}", rules.folder, folder));
    check_description(records_ + "/job.json", rules.description, rules.folder);
    clock_.emplace(records_);
    begun_ = clock_->now();
    remove_dead_temporaries(rules.folder, folders, [this](const std::string& name) { return is_claimed(name); });
  }

  JobTotals run() {
    try {
      skip_done();
      rules_.on_begin(totals_);
      for (int waits = 1; answer_open() > 0; ++waits) wait(waits);
    } catch (const Stopped&) {
    }
    return totals_;
  }

 private:
  std::string record(const std::string& name, const char* ending) const {
    return fmt::format("{}/{}.{}", records_, name, ending);
  }
  std::string output(const JobFile& file) const { return fmt::format("{}/{}", rules_.folder, file.name); }

  void check_stopped() const {
    if (rules_.is_stopped()) throw Stopped{};
  }

  bool is_claimed(const std::string& name) const {
    const auto found = find_claim(record(name, "claim"));
    return found && !is_stale(*found, here_, *clock_);
  }

  // ---- files that need no work

  void skip_done() {
    for (size_t i = 0; i < files_.size(); ++i) {
      check_stopped();
      const auto done = find_done(i);
      if (!done) continue;
      drop_stale_claim(files_[i]);
      close(i, totals_.skipped, *done);
    }
  }

  // Its owner died after it had written the record.
  void drop_stale_claim(const JobFile& file) const {
    const std::string path = record(file.name, "claim");
    const auto found = find_claim(path);
    if (found && is_stale(*found, here_, *clock_)) take_over(path, *found, here_);
  }

  // The record of a file whose answers are there and of this input.
  std::optional<DoneRecord> find_done(size_t i) {
    const JobFile& file = files_[i];
    const auto done = load_done(record(file.name, "done"));
    if (!done) return std::nullopt;
    if (done->job != job_)
      throw Error(ErrorCode::kUsage, output(file),
                  "expected answers of the same options and model, got those of others; use another folder");
    const auto stamp = stamp_of(output(file));
    if (!stamp || stamp->bytes != done->output_bytes) return std::nullopt;
    if (has_input_of(*done, file.input, [this] { check_stopped(); })) return done;
    if (done->input != replace_invalid_utf8(file.input))
      throw Error(
          ErrorCode::kUsage, output(file),
          fmt::format("expected the answers of {}, got those of {}; use another folder", file.input, done->input));
    if (!has_changed_[i]) ++totals_.changed;
    has_changed_[i] = true;
    return std::nullopt;
  }

  // Another process has failed with it, since this one began.
  bool has_failed(const JobFile& file) const {
    const auto stamp = stamp_of(record(file.name, "failed"));
    return stamp && stamp->modified > begun_;
  }

  void close(size_t i, uint64_t& count, const DoneRecord& done) {
    totals_.rows += done.rows;
    totals_.bad_rows += done.bad_rows;
    close(i, count);
  }
  void close(size_t i, uint64_t& count) {
    ++count;
    is_open_[i] = false;
    totals_.bytes += files_[i].bytes;
    rules_.on_change(totals_);
  }

  // ---- files that need work

  // Returns how many are left, which others work on.
  size_t answer_open() {
    size_t left = 0;
    for (size_t i = 0; i < files_.size(); ++i) {
      if (!is_open_[i]) continue;
      check_stopped();
      left += !answer(i);
    }
    return left;
  }

  // Others end sooner or later, or die.
  void wait(int waits) const {
    constexpr std::chrono::milliseconds kLeast(200), kMost(5000);
    const auto end = Clock::now() + std::min(kMost, kLeast * waits);
    while (Clock::now() < end) {
      check_stopped();
      std::this_thread::sleep_for(kLeast / 2);
    }
  }

  // False while another process has it.
  bool answer(size_t i) {
    const JobFile& file = files_[i];
    if (is_done_by_others(i)) return true;
    if (has_failed(file)) {
      close(i, totals_.failed);
      return true;
    }
    const std::unique_ptr<Claim> claim = take(file);
    if (claim == nullptr) return false;
    return is_done_by_others(i) || answer(i, *claim);  // meanwhile
  }

  bool is_done_by_others(size_t i) {
    const auto done = find_done(i);
    if (done) close(i, totals_.by_others, *done);
    return done.has_value();
  }

  std::unique_ptr<Claim> take(const JobFile& file) const {
    const std::string path = record(file.name, "claim");
    if (auto claim = Claim::take(path, here_)) return claim;
    const auto found = find_claim(path);
    if (!found || !is_stale(*found, here_, *clock_)) return nullptr;
    auto claim = take_over(path, *found, here_);
    if (claim != nullptr) remove_dead_temporaries_of(file);
    return claim;
  }

  void remove_dead_temporaries_of(const JobFile& file) const {
    for (const std::string& target : {output(file), record(file.name, "done"), record(file.name, "failed")})
      remove_temporaries_of(target);
  }

  bool answer(size_t i, const Claim& claim) {
    const JobFile& file = files_[i];
    ::unlink(record(file.name, "failed").c_str());
    uint64_t written = 0;
    try {
      const DoneRecord done = write_answers(file, claim, written);
      write_record(record(file.name, "done"), to_json(done));
      close(i, totals_.done, done);
      return true;
    } catch (const ClaimLost&) {
      return false;
    } catch (const Error& error) {
      if (!claim.is_held()) return false;
      fail(file, error);
      rules_.on_failed(file, error, written);
      close(i, totals_.failed);
      return true;
    }
  }

  DoneRecord write_answers(const JobFile& file, const Claim& claim, uint64_t& written) const {
    const auto begin = Clock::now();
    DoneRecord done{.input = replace_invalid_utf8(file.input),
                    .input_sha256 = {},
                    .input_stamp = stamp_of(file.input),
                    .job = job_,
                    .output_sha256 = {},
                    .host = here_.host};
    done.input_sha256 = sha256_of_file(file.input, [this] { check_stopped(); });
    write_output_file(output(file), [&](FileWriter& out) {
      HashingWriter hashing(out);
      try {
        const FileCounts counts = rules_.answer(file, hashing);
        done.rows = counts.rows;
        done.bad_rows = counts.bad_rows;
      } catch (...) {
        written = hashing.size();
        throw;
      }
      check_stopped();
      if (stamp_of(file.input) != done.input_stamp)
        throw Error(ErrorCode::kInput, file.input, "expected a file that nobody writes to, got one that has changed");
      if (!claim.is_held()) throw ClaimLost{};
      done.output_bytes = written = hashing.size();
      done.output_sha256 = hashing.finish();
    });
    done.input_bytes = done.input_stamp ? done.input_stamp->bytes : 0;
    if (!is_settled(done.input_stamp)) done.input_stamp.reset();
    done.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return done;
  }

  // Whether a change after now would be seen by its time, which file systems count in steps.
  bool is_settled(const std::optional<FileStamp>& stamp) const {
    constexpr int64_t kStep = 2000000000;
    return stamp && clock_->now() - stamp->changed > kStep;
  }

  // For those who wait. A full disk keeps it from being written; they then try the file themselves.
  void fail(const JobFile& file, const Error& error) const {
    try {
      write_record(record(file.name, "failed"), JsonObject{{"input", replace_invalid_utf8(file.input)},
                                                           {"error", replace_invalid_utf8(error.what())},
                                                           {"host", here_.host},
                                                           {"pid", here_.pid}});
    } catch (const Error&) {
    }
  }

  const std::vector<JobFile>& files_;
  const FileJobRules& rules_;
  std::string records_;
  Owner here_;
  std::string job_;
  std::optional<FileClock> clock_;  // made once its folder is
  int64_t begun_ = 0;
  std::vector<bool> is_open_, has_changed_;
  JobTotals totals_;
};

}  // namespace

JobTotals run_file_job(const std::vector<JobFile>& files, const FileJobRules& rules) {
  return FileJob(files, rules).run();
}

}  // namespace deberta::jobs

// From --files to the files of a job, and what is said while it runs.
#include "program/file_jobs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "data/lines.h"
#include "data/row_form.h"
#include "deberta/error.h"
#include "jobs/file_job.h"
#include "jobs/plan.h"
#include "options/error_options.h"
#include "program/answers.h"
#include "program/interrupt.h"
#include "program/job_description.h"
#include "program/note.h"
#include "program/output.h"
#include "program/read_places.h"

namespace deberta::program {
namespace {

// ---- what the options ask for

// Options that say in another way what is read or written, by what the message calls them.
void refuse_beside(const Options& options) {
  for (const std::string_view name : {"input", "output", "redact-map", "output-dtype"}) {
    const OptionRow* row = find_option(options.verb(), name);
    if (row != nullptr && options.is_given(*row))
      throw Error(
          ErrorCode::kUsage, "--files",
          fmt::format("expected no --{} beside it: its files are read and written one by one (--to DIR)", name));
  }
  if (!options.arguments.empty())
    throw Error(ErrorCode::kUsage, "--files",
                fmt::format("expected no texts beside it, got \"{}\"", options.arguments.front()));
}

// The paths in a list; standard input is one too.
std::vector<std::string> listed_paths(const std::string& list) {
  std::vector<std::string> paths;
  if (list.empty()) return paths;
  LineReader lines{ByteSource(list, [] { return interrupted() != 0; })};
  std::string line;
  for (;;) {
    const LineReader::Status status = lines.next(line);
    if (status == LineReader::Status::kEnd) break;
    if (status == LineReader::Status::kTooLong)
      throw Error(ErrorCode::kTooLarge, lines.where(),
                  fmt::format("expected a path of at most {} bytes", LineReader::kMaxLineBytes));
    if (!line.empty()) paths.push_back(line);
  }
  check_interrupted();
  return paths;
}

std::string_view ending_of_format(Format format) {
  return format == Format::kTable ? "txt" : word_of(format);
}

bool is_model_folder(const Options& options, const std::string& folder) {
  try {
    check_keeps_inputs(options, {{"--to", folder + "/config.json"}});
    return false;
  } catch (const Error&) {
    return true;
  }
}

// There may be many: only those that may be another file under a second name are compared with all that is read.
void check_outputs_of_job(const Options& options, const std::vector<jobs::JobFile>& files, const std::string& folder) {
  const bool are_all_checked = is_model_folder(options, folder);
  std::vector<NamedOutput> outputs;
  for (const jobs::JobFile& file : files) {
    std::string path = fmt::format("{}/{}", folder, file.name);
    struct stat status {};
    const bool is_linked = ::lstat(path.c_str(), &status) == 0 && (S_ISLNK(status.st_mode) || status.st_nlink > 1);
    if (are_all_checked || is_linked) outputs.push_back({"--to", std::move(path)});
  }
  check_keeps_inputs(options, std::move(outputs));
}

void check_folder(const std::string& folder) {
  if (folder == "-" || is_regular_file(folder) || is_stream(folder))
    throw Error(ErrorCode::kUsage, "--to", fmt::format("expected a folder, got {}", folder));
}

std::vector<std::string> input_files(const FileSettings& settings) {
  std::vector<std::string> inputs = jobs::find_inputs(settings.files.value_or(std::vector<std::string>()));
  std::ranges::move(listed_paths(settings.files_from.value_or("")), std::back_inserter(inputs));
  if (inputs.empty()) throw Error(ErrorCode::kUsage, "--files-from", "expected paths of files, got none");
  return inputs;
}

// A format that was asked for says more than the endings.
bool are_parquet(const std::vector<std::string>& inputs, const Options& options) {
  if (RowSettings(options).input_format != "auto") return false;
  const auto other = std::ranges::find_if_not(inputs, has_parquet_ending);
  if (other == inputs.end()) return true;
  if (const auto first = std::ranges::find_if(inputs, has_parquet_ending); first != inputs.end())
    throw Error(ErrorCode::kUsage, "--files",
                fmt::format("expected Parquet alone or none, got {} and {}; answer one of them into another folder",
                            *first, *other));
  return false;
}

// ---- what is said

std::string mebibytes(double bytes) {
  return fmt::format("{:.1f} MiB", bytes / (1 << 20));
}

// A disk that is full: what the file needs, where it is known how much of it was written, and what there is.
std::string what_is_needed(const std::string& folder, uint64_t written, std::optional<double> fraction) {
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (error || written == 0) return "";
  const double part = fraction.value_or(0);
  const std::string needed =
      part > 0 ? fmt::format("its answers need about {}, and ", mebibytes(static_cast<double>(written) / part)) : "";
  return fmt::format("; {}{} are free; the same command does the file when there is room", needed,
                     mebibytes(static_cast<double>(space.available)));
}

using Clock = std::chrono::steady_clock;

void note_totals(const jobs::JobTotals& totals, size_t files, const RowCounts& counts, Clock::time_point begin) {
  const double seconds = std::max(1e-3, std::chrono::duration<double>(Clock::now() - begin).count());
  if (totals.changed > 0)
    note(fmt::format("note: {} changed since the answers were written, and {} answered again",
                     totals.changed == 1 ? "1 input has" : fmt::format("{} inputs have", totals.changed),
                     totals.changed == 1 ? "is" : "are"));
  const size_t ended = totals.done + totals.by_others + totals.skipped + totals.failed;
  note(
      fmt::format("files: {} done, {} done by other processes, {} done before, {} failed{}; rows: {} ok, {} failed, "
                  "{:.1f} rows/s",
                  totals.done, totals.by_others, totals.skipped, totals.failed,
                  ended < files ? fmt::format(", {} left", files - ended) : "", totals.rows - totals.bad_rows,
                  totals.bad_rows, static_cast<double>(counts.rows()) / seconds));
}

// A process of a job, from its options to what it says.
class JobRun {
 public:
  JobRun(const RowVerb& options, const AnswerFile& answer)
      : files_(options.job->files),
        folder_(*options.output.folder),
        answer_(answer),
        progress_(options.progress, true) {
    rules_.folder = folder_;
    rules_.description = options.job->description;
    rules_.answer = [this](const jobs::JobFile& file, FileWriter& out) { return answer_one(file, out); };
    rules_.is_stopped = [] { return interrupted() != 0; };
    rules_.on_failed = [this](const jobs::JobFile&, const Error& error, uint64_t written) { say(error, written); };
    rules_.on_change = [this](const jobs::JobTotals& totals) { totals_ = totals; };
    rules_.on_begin = [this](const jobs::JobTotals& totals) {
      uint64_t bytes = 0;
      for (const jobs::JobFile& file : files_) bytes += file.bytes;
      progress_.begin_job(bytes, totals.bytes);
    };
  }

  int run(const std::function<void(const RowCounts&)>& report) {
    try {
      totals_ = jobs::run_file_job(files_, rules_);
    } catch (const Interrupted&) {
    }
    progress_.clear();
    report(counts_);
    note_totals(totals_, files_.size(), counts_, begin_);
    if (interrupted() != 0) return interrupted();
    return totals_.failed > 0 || totals_.bad_rows > 0 ? 1 : 0;
  }

 private:
  jobs::FileCounts answer_one(const jobs::JobFile& file, FileWriter& out) {
    progress_.begin_file(file.bytes, totals_.bytes, counts_);
    const RowCounts counts = answer_(file.input, out, progress_);
    if (interrupted() != 0) leave_unwritten(fmt::format("{}/{}", folder_, file.name));
    counts_.add(counts);
    return {counts.rows(), counts.failed};
  }

  void say(const Error& error, uint64_t written) {
    progress_.clear();
    const bool is_of_disk = error.code() == ErrorCode::kFileWrite;
    const std::string needed = is_of_disk ? what_is_needed(folder_, written, progress_.fraction_of_file()) : "";
    std::fputs(fmt::format("{}{}\n", with_options(error).what(), needed).c_str(), stderr);
  }

  const std::vector<jobs::JobFile>& files_;
  const std::string& folder_;
  const AnswerFile& answer_;
  RowProgress progress_;
  jobs::FileJobRules rules_;
  jobs::JobTotals totals_;
  RowCounts counts_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

std::optional<PlannedJob> plan_job(const Options& options, const std::string& model) {
  const FileSettings settings(options);
  const OutputSettings output(options);
  const std::string folder = output.folder.value_or("");
  const bool has_files =
      !settings.files.value_or(std::vector<std::string>()).empty() || !settings.files_from.value_or("").empty();
  if (!has_files && folder.empty()) return std::nullopt;
  if (!has_files) throw Error(ErrorCode::kUsage, "--to", "expected --files or --files-from as well");
  refuse_beside(options);
  if (folder.empty()) throw Error(ErrorCode::kUsage, "--files", "expected --to DIR as well, the folder of the answers");
  check_folder(folder);
  const std::vector<std::string> inputs = input_files(settings);
  const bool is_parquet = are_parquet(inputs, options);
  const std::string_view ending = is_parquet ? "parquet" : ending_of_format(format_of(output));
  PlannedJob job{.files = jobs::plan_files(inputs, folder, ending), .description = {}, .is_parquet = is_parquet};
  check_outputs_of_job(options, job.files, folder);
  job.description = job_description(options, model);
  return job;
}

int run_files(const RowVerb& options, const AnswerFile& answer, const std::function<void(const RowCounts&)>& report) {
  return JobRun(options, answer).run(report);
}

}  // namespace deberta::program

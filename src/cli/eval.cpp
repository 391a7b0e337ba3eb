// The verb `eval`: a labelled file and answers, a model's or those of a file, to the official metrics of a task.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/answers.h"
#include "cli/eval_run.h"
#include "cli/interrupt.h"
#include "cli/verbs.h"

namespace deberta::cli {

namespace {

namespace fs = std::filesystem;

// Numbers in names by their value: 2.txt comes before 10.txt.
bool is_before(const std::string& a, const std::string& b) {
  const fs::path x(a), y(b);
  if (x.parent_path() != y.parent_path()) return x.parent_path() < y.parent_path();
  const std::string left = x.filename().string(), right = y.filename().string();
  const auto is_number = [](const std::string& name) { return !name.empty() && name[0] >= '0' && name[0] <= '9'; };
  if (is_number(left) && is_number(right) && left.size() != right.size()) return left.size() < right.size();
  return left < right;
}

// The files in a folder and its folders, hidden ones left out.
std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::none, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    const bool is_hidden = at->path().filename().string().starts_with('.');
    if (is_hidden) at.disable_recursion_pending();
    std::error_code unknown;
    if (!is_hidden && at->is_regular_file(unknown)) files.push_back(at->path().string());
  }
  if (error) throw Error(ErrorCode::kFileNotFound, folder, error.message());
  if (files.empty()) throw Error(ErrorCode::kFileNotFound, folder, "expected labelled files in the folder, got none");
  std::sort(files.begin(), files.end(), is_before);
  return files;
}

// The files to evaluate, folders as the files below them. Throws kUsage when none are named.
std::vector<std::string> labelled_files(const Options& options) {
  if (options.arguments.empty())
    throw Error(ErrorCode::kUsage, "eval",
                "expected a labelled file or a folder of such files (- is standard input), got none");
  std::vector<std::string> files;
  for (const std::string& path : options.arguments) {
    std::error_code unknown;
    if (!fs::is_directory(path, unknown)) {
      files.push_back(path);
      continue;
    }
    for (std::string& file : files_below(path)) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

ByteSource open_labelled(const std::string& path) {
  return ByteSource(path, [] { return interrupted() != 0; });
}

Predictions open_predictions(const Options& options) {
  const std::string& path = options.text("predictions");
  if (path.empty()) throw Error(ErrorCode::kUsage, "--predictions", "expected a file, got none");
  return Predictions(ByteSource(path), Predictions::form_of(path));
}

void report_bad_row(const Options& options, const Error& error) {
  const std::string& mode = options.text("on-bad-row");
  if (mode == "fail") throw error;
  if (mode == "report") note(options, error.what());
}

std::vector<Metric> evaluate_all(const Options& options, const Evaluation& evaluation, EvalResult& result) {
  const bool has_labels = result.failed + result.unlabelled < result.rows;
  if (!has_labels && result.rows > 0 && !options.text("write-predictions").empty()) {
    note(options, "note: no row has a label: there are only predictions");
    return evaluate(evaluation, {.samples = 0});
  }
  if (evaluation.units() == 0)
    throw Error(ErrorCode::kInput, "eval",
                fmt::format("expected rows with a label and an answer, got none of {} ({} failed, {} without a label)",
                            result.rows, result.failed, result.unlabelled));
  ProgressPrinter progress(options, true, {.items = "samples", .tokens = ""});
  result.samples = static_cast<size_t>(options.integer("bootstrap"));
  return evaluate(
      evaluation,
      {.samples = result.samples, .seed = static_cast<uint64_t>(options.integer("seed")), .each = [&](size_t done) {
         check_interrupted();
         progress.update(done, 0, static_cast<double>(done) / static_cast<double>(result.samples));
       }});
}

int finish(const Options& options, const EvalResult& result) {
  print_result(options, result);
  if (!options.text("output-dir").empty()) write_results(options.text("output-dir"), result);
  return result.failed > 0 ? 1 : 0;
}

int run_eval(const Options& options) {
  if (options.flag("list")) {
    print_tasks(options);
    return 0;
  }
  if (!options.text("average").empty()) {
    print_averages(options, options.text("average"));
    return 0;
  }
  if (options.text("task").empty()) throw Error(ErrorCode::kUsage, "--task", "expected the name of a task, got none");
  const TaskRow& task = find_task(options.text("task"));
  Options files = options;
  files.arguments = labelled_files(options);  // before a model is opened
  try {
    if (task.kind == TaskKind::kQuestion) return eval_questions(files, task);
    if (task.kind == TaskKind::kTokens) return eval_tags(files, task);
    if (task.kind == TaskKind::kMasked) return eval_masked(files, task);
    return eval_examples(files, task);
  } catch (const Interrupted&) {
    return interrupted();
  }
}

}  // namespace deberta::cli

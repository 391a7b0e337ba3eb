// The verb `eval`: a labelled file and answers, a model's or those of a file, to the official metrics of a task.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/folder.h"
#include "cli/eval_run.h"
#include "cli/verbs.h"
#include "options/error_options.h"
#include "options/options.h"
#include "program/answers.h"
#include "program/interrupt.h"

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
  std::vector<std::string> files, folders{folder};
  while (!folders.empty()) {
    const std::string here = std::move(folders.back());
    folders.pop_back();
    const auto names = read_names(here);
    if (!names) throw Error(ErrorCode::kFileNotFound, here, system_message());
    for (const std::string& name : *names) {
      const std::string path = fmt::format("{}{}{}", here, here.ends_with('/') ? "" : "/", name);
      if (name.starts_with('.')) continue;
      if (is_regular_file(path)) files.push_back(path);
      if (is_directory(path) && !is_link(path)) folders.push_back(path);
    }
  }
  if (files.empty()) throw Error(ErrorCode::kFileNotFound, folder, "expected labelled files in the folder, got none");
  std::sort(files.begin(), files.end(), is_before);
  return files;
}

// The files to evaluate, folders as the files below them. Throws kUsage when none are named.
std::vector<std::string> labelled_files(const Options& options) {
  std::vector<std::string> given = options.arguments;
  given.insert(given.end(), options.files("input").begin(), options.files("input").end());
  if (given.empty())
    throw Error(ErrorCode::kUsage, "eval",
                "expected a labelled file or a folder of such files (- is standard input), got none");
  std::vector<std::string> files;
  for (const std::string& path : given) {
    std::error_code unknown;
    if (!fs::is_directory(path, unknown)) {
      if (path != "-" && !fs::exists(path, unknown)) throw Error(ErrorCode::kFileNotFound, path, "no such file");
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

void stop_at_bad_row(const Options& options, const Error& error) {
  if (options.text("on-bad-row") != "fail") return;
  std::vector<Problem> problems = error.problems();
  Problem& last = problems.back();
  std::string& end = last.remedies.empty() ? last.message : last.remedies.back().text;
  end += "; --on-bad-row report counts the other rows";
  throw Error(error.code(), std::move(problems));
}

void report_bad_row(const Options& options, const Error& error) {
  stop_at_bad_row(options, error);
  if (options.text("on-bad-row") == "report") note(options, with_options(error).what());
}

std::vector<Metric> evaluate_all(const Options& options, const Evaluation& evaluation, EvalResult& result) {
  const bool has_labels = result.failed + result.unlabelled < result.rows;
  if (!has_labels && result.rows > 0 && !options.text("write-predictions").empty()) {
    note(options, "note: no row has a label: no metrics, only predictions");
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

namespace {

// --predictions goes by the ending: what is called another form would not be read again.
void check_predictions_name(const std::string& path, const TaskRow& task) {
  const bool is_words = task.kind == TaskKind::kTokens;
  const std::string_view form = task.kind == TaskKind::kQuestion ? "json" : is_words ? "conll" : "tsv";
  const std::string ending = ending_of(path);
  for (const std::string_view other : {"json", "jsonl", "ndjson", "tsv", "csv", "conll"}) {
    if (ending == other && other != form)
      throw Error(ErrorCode::kUsage, "--write-predictions",
                  fmt::format("expected a name that ends in .{}, the format of predictions for {}, got {}", form,
                              task.name, path));
  }
}

int eval_task(const Options& options, const TaskRow& task) {
  if (task.kind == TaskKind::kQuestion) return eval_questions(options, task);
  if (task.kind == TaskKind::kTokens) return eval_tags(options, task);
  if (task.kind == TaskKind::kMasked) return eval_masked(options, task);
  return eval_examples(options, task);
}

}  // namespace

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
  if (task.kind != TaskKind::kMasked) check_predictions_name(options.text("write-predictions"), task);
  if (!options.text("output-dir").empty()) check_results(options.text("output-dir"));
  try {
    return eval_task(files, task);
  } catch (const Error& error) {  // what a head says of a model names the head's own verb
    if (error.code() != ErrorCode::kTask || find_verb(error.where()) == nullptr) throw;
    std::vector<Problem> problems = error.problems();
    problems.front().where = "eval";
    throw Error(ErrorCode::kTask, std::move(problems));
  }
}

}  // namespace deberta::cli

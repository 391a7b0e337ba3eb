// The verb `eval`: options to the settings of an evaluation (src/eval), and its result to people and files.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "cli/eval_report.h"
#include "cli/verbs.h"
#include "data/row_form.h"
#include "deberta/error.h"
#include "eval/answered_rows.h"
#include "eval/example_files.h"
#include "eval/examples.h"
#include "eval/masked.h"
#include "eval/questions.h"
#include "eval/tags.h"
#include "options/error_options.h"
#include "options/options.h"
#include "program/answers.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/progress_printer.h"
#include "program/row_loop.h"

namespace deberta::cli {
namespace {

std::vector<std::string> labelled_files(const Options& options) {
  std::vector<std::string> given = options.arguments;
  given.insert(given.end(), options.files("input").begin(), options.files("input").end());
  return find_labelled_files(given);
}

// ---- options to settings

ExampleInput example_input(const Options& options) {
  return {.files = options.arguments,
          .format = parse_row_form(options.text("input-format")),
          .input_fields = options.list("input-field"),
          .label_field = options.text("label-field"),
          .labels_file = options.text("labels-file")};
}

ExampleSettings example_settings(const Options& options) {
  return {.input = example_input(options),
          .predictions = options.text("predictions"),
          .rules = encoding_rules(options),
          .label_map = options.list("label-map")};
}

QuestionSettings question_settings(const Options& options) {
  QuestionSettings settings{
      .files = options.arguments, .predictions = options.text("predictions"), .na_prob = options.text("na-prob")};
  if (!options.is_auto("no-answer-threshold")) settings.no_answer_threshold = options.number("no-answer-threshold");
  settings.question.rules = encoding_rules(options);
  if (options.is_auto("max-tokens")) settings.question.rules.encode.max_tokens = kSquadWindowTokens;
  settings.question.max_answer_tokens = static_cast<size_t>(options.integer("max-answer-len"));
  settings.question.max_question_tokens = static_cast<size_t>(options.integer("max-question-len"));
  settings.question.aligns_to_words = options.text("align") == "words";
  return settings;
}

TagSettings tag_settings(const Options& options) {
  TagSettings settings{
      .files = options.arguments,
      .predictions = options.text("predictions"),
      .rules = encoding_rules(options),
      .word_label = options.text("word-label") == "first" ? WordLabel::kFirst : WordLabel::kMostConfident,
      .merges_sentences = options.flag("merge-sentences"),
      .label_map = options.list("label-map")};
  if (options.is_auto("truncate")) settings.rules.long_text = LongText::kWindow;
  return settings;
}

MaskedSettings masked_settings(const Options& options) {
  return {.input = example_input(options),
          .sample = {encoding_rules(options), options.number("mlm-probability"),
                     static_cast<uint64_t>(options.integer("seed"))}};
}

ScoreSettings score_settings(const Options& options) {
  return {.samples = static_cast<size_t>(options.integer("bootstrap")),
          .seed = static_cast<uint64_t>(options.integer("seed")),
          .needs_labels = options.text("write-predictions").empty()};
}

BadRows bad_rows(const Options& options) {
  const std::string& name = options.text("on-bad-row");
  return name == "fail" ? BadRows::kFail : name == "report" ? BadRows::kReport : BadRows::kSkip;
}

// The printer is made by the first progress that there is.
EvalHooks hooks_of(const Options& options, ProgressUnits units, std::optional<ProgressPrinter>& printer) {
  return {.bad_rows = bad_rows(options),
          .on_bad_row =
              [&](const Error& error) {
                if (printer) printer->clear();
                note(options, with_options(error).what());
              },
          .on_progress =
              [&options, &printer, units](size_t done, size_t tokens, std::optional<double> fraction) {
                if (!printer) printer.emplace(options, true, units);
                printer->update(done, tokens, fraction);
              },
          .is_stopped = [] { return interrupted() != 0; }};
}

// ---- what is refused before anything is read

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

void refuse_predictions(const Options& options) {
  for (const char* name : {"predictions", "write-predictions"}) {
    if (!options.text(name).empty())
      throw Error(ErrorCode::kUsage, fmt::format("--{}", name), "the task mlm has no predictions in files");
  }
}

// ---- the run

AnsweredRows answer_rows(const Options& options, const TaskRow& task, const OpenModel& open_model) {
  const bool has_model = options.text("predictions").empty();
  std::optional<ProgressPrinter> progress;
  const EvalHooks hooks =
      hooks_of(options, has_model ? ProgressUnits{} : ProgressUnits{.items = "rows", .tokens = ""}, progress);
  if (task.kind == TaskKind::kQuestion) return answer_questions(task, question_settings(options), open_model, hooks);
  if (task.kind == TaskKind::kTokens) return answer_tags(task, tag_settings(options), open_model, hooks);
  if (task.kind == TaskKind::kMasked) return answer_masked(task, masked_settings(options), open_model, hooks);
  return answer_examples(task, example_settings(options), open_model, hooks);
}

EvalResult score_rows(const Options& options, const AnsweredRows& rows) {
  std::optional<ProgressPrinter> progress;
  return score(rows, score_settings(options), hooks_of(options, {.items = "samples", .tokens = ""}, progress));
}

int eval_task(const Options& options, const TaskRow& task) {
  std::optional<Pipeline> pipeline;
  const AnsweredRows rows = answer_rows(options, task, [&]() -> const Pipeline& {
    pipeline.emplace(open_model(options));
    if (task.kind == TaskKind::kMasked) warn_of_plain_head(options, *pipeline);
    return *pipeline;
  });
  print_answer_notes(options, rows.result);
  if (pipeline) print_check_report(pipeline->model);
  pipeline.reset();
  if (const std::string& path = options.text("write-predictions"); !path.empty())
    write_output(path, rows.write_predictions);
  const EvalResult result = score_rows(options, rows);
  print_result(options, result);
  if (!options.text("output-dir").empty()) write_results(options.text("output-dir"), result);
  return result.failed > 0 ? 1 : 0;
}

}  // namespace

int run_eval(const Options& given) {
  if (given.flag("list")) {
    print_tasks(given);
    return 0;
  }
  if (!given.text("average").empty()) {
    print_averages(given, given.text("average"));
    return 0;
  }
  if (given.text("task").empty()) throw Error(ErrorCode::kUsage, "--task", "expected the name of a task, got none");
  const TaskRow& task = find_task(given.text("task"));
  Options options = given;
  options.arguments = labelled_files(given);  // before a model is opened
  if (task.kind != TaskKind::kMasked) check_predictions_name(options.text("write-predictions"), task);
  if (!options.text("output-dir").empty()) check_results(options.text("output-dir"));
  if (task.kind == TaskKind::kMasked) refuse_predictions(options);
  try {
    return eval_task(options, task);
  } catch (const EvalStopped&) {
    throw Interrupted{};
  } catch (const Error& error) {  // what a head says of a model names the head's own verb
    if (error.code() != ErrorCode::kTask || find_verb(error.where()) == nullptr) throw;
    std::vector<Problem> problems = error.problems();
    problems.front().where = "eval";
    throw Error(ErrorCode::kTask, std::move(problems));
  }
}

}  // namespace deberta::cli

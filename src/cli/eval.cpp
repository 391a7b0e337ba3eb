// The verb `eval`: options to the settings of an evaluation (src/eval), and its result to people and files.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/eval_report.h"
#include "cli/verbs.h"
#include "config/aggregation.h"
#include "data/row_form.h"
#include "deberta/error.h"
#include "eval/answered_rows.h"
#include "eval/entities.h"
#include "eval/example_files.h"
#include "eval/examples.h"
#include "eval/language_model.h"
#include "eval/questions.h"
#include "eval/tags.h"
#include "metrics/asked_metrics.h"
#include "options/error_options.h"
#include "program/answers.h"
#include "program/builtin_model.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/note.h"
#include "program/progress_printer.h"
#include "program/row_loop.h"

namespace deberta::cli {
namespace {

std::vector<std::string> given_paths(const EvalVerb& options) {
  std::vector<std::string> paths = options.arguments;
  paths.insert(paths.end(), options.input.begin(), options.input.end());
  return paths;
}

std::vector<std::string> labelled_files(const EvalVerb& options) {
  return find_labelled_files(given_paths(options));
}

// ---- options to settings

ExampleInput example_input(const EvalVerb& options) {
  return {.files = options.arguments,
          .format = parse_row_form(options.input_format),
          .input_fields = options.input_field,
          .label_fields = options.label_field,
          .labels_file = options.labels_file,
          .by = options.by};
}

// Equal ones once.
std::vector<double> numbers_of(const std::string& option, const std::vector<std::string>& texts) {
  std::vector<double> numbers;
  for (const std::string& text : texts) {
    const std::optional<double> number = parse_number<double>(text);
    if (!number)
      throw Error(ErrorCode::kUsage, option, fmt::format("expected numbers between commas, got {}", quote_json(text)));
    if (std::ranges::find(numbers, *number) == numbers.end()) numbers.push_back(*number);
  }
  return numbers;
}

AskedMetrics asked_metrics(const EvalVerb& options) {
  return {.names = options.metrics,
          .beta = options.beta.value,
          .positive_label = options.positive_label,
          .label_order = options.label_order,
          .best_threshold = options.best_threshold,
          .recall_at_precision = numbers_of("--recall-at-precision", options.recall_at_precision),
          .precision_at_recall = numbers_of("--precision-at-recall", options.precision_at_recall)};
}

ExampleSettings example_settings(const EvalVerb& options) {
  const EncodingRules rules = program::encoding_rules(options.encoding);
  return {.input = example_input(options),
          .predictions = options.predictions,
          .rules = rules,
          .label_map = options.label_map,
          .window_scores = program::window_scores(options.windows, rules),
          .benign_labels = options.windows.benign_label,
          .false_positive_rates = numbers_of("--false-positive-rate", options.false_positive_rate),
          .asked = asked_metrics(options)};
}

QuestionSettings question_settings(const EvalVerb& options) {
  QuestionSettings settings{.files = options.arguments, .predictions = options.predictions, .na_prob = options.na_prob};
  settings.no_answer_threshold = options.no_answer_threshold.value;
  settings.question.rules = program::encoding_rules(options.encoding);
  if (!options.encoding.max_tokens.value) settings.question.rules.encode.max_tokens = kSquadWindowTokens;
  settings.question.max_answer_tokens = options.max_answer_len;
  settings.question.max_question_tokens = options.max_question_len;
  settings.question.aligns_to_words = options.align == AnswerEnds::kWords;
  return settings;
}

TagSettings tag_settings(const EvalVerb& options) {
  TagSettings settings{.files = options.arguments,
                       .predictions = options.predictions,
                       .rules = program::encoding_rules(options.encoding),
                       .word_label = options.word_label,
                       .aggregation = aggregation_named(options.aggregate),
                       .merges_sentences = options.merge_sentences,
                       .label_map = options.label_map};
  if (options.encoding.truncate->value == TruncateChoice::kAuto) settings.rules.long_text = LongText::kWindow;
  return settings;
}

EntitySettings entity_settings(const EvalVerb& options) {
  EntitySettings settings{.input = {.files = options.arguments,
                                    .format = parse_row_form(options.input_format),
                                    .label_names = program::label_renames(options.label_names)}};
  settings.options.rules = program::encoding_rules(options.encoding);
  if (options.encoding.truncate->value == TruncateChoice::kAuto) settings.options.rules.long_text = LongText::kWindow;
  settings.options.threshold = options.threshold.value;
  settings.options.is_nested = options.nested;
  return settings;
}

LanguageModelSettings language_model_settings(const EvalVerb& options, const TaskRow& task) {
  LanguageModelSettings settings{
      .input = example_input(options),
      .sample = {program::encoding_rules(options.encoding), options.mlm_probability, options.seed}};
  if (options.hold_out_every > 0)
    settings.held_out = HeldOutLines{.corpora = options.arguments, .every = options.hold_out_every};
  const bool reads_all = task.kind == TaskKind::kNextPiece;  // each piece counts once, also of a text in windows
  if (reads_all && options.encoding.truncate->value == TruncateChoice::kAuto)
    settings.sample.rules.long_text = LongText::kWindow;
  return settings;
}

ScoreSettings score_settings(const EvalVerb& options) {
  return {.samples = options.bootstrap, .seed = options.seed, .needs_labels = options.write_predictions.empty()};
}

// The printer is created at the first progress report.
EvalHooks hooks_of(const EvalVerb& options, ProgressUnits units, std::optional<program::ProgressPrinter>& printer) {
  return {.bad_rows = options.on_bad_row,
          .on_bad_row =
              [&](const Error& error) {
                if (printer) printer->clear();
                program::note(with_options(error).what());
              },
          .on_progress =
              [&options, &printer, units](size_t done, size_t tokens, std::optional<double> fraction) {
                if (!printer) printer.emplace(options.progress, true, units);
                printer->update(done, tokens, fraction);
              },
          .is_stopped = [] { return program::interrupted() != 0; }};
}

// ---- what is refused before anything is read

// --predictions goes by the extension: under another format's extension the file could not be read back.
void check_predictions_name(const std::string& path, const TaskRow& task) {
  const bool is_words = task.kind == TaskKind::kTokens;
  const std::string_view form = task.kind == TaskKind::kQuestion ? "json" : is_words ? "conll" : "tsv";
  const std::string ending = program::ending_of(path);
  if (ending.empty() || ending == "txt" || ending == form || is_stream(path)) return;
  throw Error(
      ErrorCode::kUsage, "--write-predictions",
      fmt::format("expected a name that ends in .{}, the format of predictions for {}, got {}", form, task.name, path));
}

void refuse_predictions(const EvalVerb& options, const TaskRow& task) {
  const auto refuse = [&](const std::string& option, const std::string& path) {
    if (!path.empty())
      throw Error(ErrorCode::kUsage, option,
                  fmt::format("expected a task whose predictions a file can hold, got {}", task.name));
  };
  refuse("--predictions", options.predictions);
  refuse("--write-predictions", options.write_predictions);
}

// Tags of words cannot show that an entity begins or ends inside a word.
void check_aggregate(const EvalVerb& options, const TaskRow& task) {
  if (options.aggregate == "auto") return;
  const auto refuse = [](const std::string& what) { throw Error(ErrorCode::kUsage, "--aggregate", what); };
  if (task.kind != TaskKind::kTokens) refuse(fmt::format("expected the task ner, got {}", task.name));
  if (!options.predictions.empty()) refuse("expected a model that answers, got --predictions");
  if (!options.write_predictions.empty())
    refuse("expected auto with --write-predictions, whose file holds the labels of words");
}

// Options of heads with classes; elsewhere they would change nothing.
void check_guard_options(const EvalVerb& options, const TaskRow& task) {
  const auto refuse = [](const std::string& option, const std::string& what) {
    throw Error(ErrorCode::kUsage, option, what);
  };
  const bool has_rates = !options.false_positive_rate.empty(), is_max = options.windows.scores != WindowScores::kMean;
  const bool has_benign = !options.windows.benign_label.empty();
  const bool has_classes = verb_of(task) == "classify" || verb_of(task) == "nli";
  const std::string first = has_rates ? "--false-positive-rate" : is_max ? "--window-scores" : "--benign-label";
  if (!has_rates && !is_max && !has_benign) return;
  if (!has_classes) refuse(first, fmt::format("expected a task of classes, got {}", task.name));
  if (!options.predictions.empty()) refuse(first, "expected a model that answers, got --predictions");
  if (has_benign && !has_rates && !is_max)
    refuse("--benign-label", "expected --window-scores max or --false-positive-rate as well");
}

// Options of the labels that a model reads; elsewhere they would change nothing.
void check_entity_options(const EvalVerb& options, const TaskRow& task) {
  if (task.kind == TaskKind::kExtraction) return;
  const auto refuse = [&](const std::string& option) {
    throw Error(ErrorCode::kUsage, option, fmt::format("expected the task extract, got {}", task.name));
  };
  if (!options.label_names.empty()) refuse("--label-names");
  if (options.threshold.is_given()) refuse("--threshold");
  if (options.nested) refuse("--nested");
}

void check_by(const EvalVerb& options, const TaskRow& task) {
  if (!options.by.empty() && (!has_rows_of_fields(task) || predicts_pieces(task)))
    throw Error(ErrorCode::kUsage, "--by", fmt::format("expected a task whose rows have columns, got {}", task.name));
}

// ---- the run

AnsweredRows answer_rows(const EvalVerb& options, const TaskRow& task, const OpenModel& open_model) {
  const bool has_model = options.predictions.empty();
  std::optional<program::ProgressPrinter> progress;
  const EvalHooks hooks =
      hooks_of(options, has_model ? ProgressUnits{} : ProgressUnits{.items = "rows", .tokens = ""}, progress);
  if (task.kind == TaskKind::kQuestion) return answer_questions(task, question_settings(options), open_model, hooks);
  if (task.kind == TaskKind::kTokens) return answer_tags(task, tag_settings(options), open_model, hooks);
  if (task.kind == TaskKind::kExtraction) return answer_entities(task, entity_settings(options), open_model, hooks);
  if (predicts_pieces(task))
    return answer_language_model(task, language_model_settings(options, task), open_model, hooks);
  return answer_examples(task, example_settings(options), open_model, hooks);
}

EvalResult score_rows(const EvalVerb& options, const AnsweredRows& rows) {
  std::optional<program::ProgressPrinter> progress;
  return score(rows, score_settings(options), hooks_of(options, {.items = "samples", .tokens = ""}, progress));
}

int eval_task(const EvalVerb& options, const TaskRow& task) {
  std::optional<Pipeline> pipeline;
  const AnsweredRows rows = answer_rows(options, task, [&]() -> const Pipeline& {
    pipeline.emplace(program::open_model(options.model));
    if (task.kind == TaskKind::kMasked) program::warn_of_plain_head(options.model, *pipeline);
    return *pipeline;
  });
  print_answer_notes(options.encoding, rows.result);
  if (pipeline) program::print_check_report(pipeline->model);
  pipeline.reset();
  if (const std::string& path = options.write_predictions; !path.empty())
    program::write_output(path, rows.write_predictions);
  const EvalResult result = score_rows(options, rows);
  print_result(options.output, result);
  if (!options.output_dir.empty()) write_results(options.output_dir, result);
  return result.failed > 0 ? 1 : 0;
}

}  // namespace

int run(const EvalVerb& requested) {
  if (requested.list) {
    print_tasks(requested.output);
    return 0;
  }
  if (!requested.average.empty()) {
    print_averages(requested.output, requested.average);
    return 0;
  }
  if (requested.published) {
    print_published(requested.output, requested.task, requested.chart);
    return 0;
  }
  if (!requested.chart.empty()) throw Error(ErrorCode::kUsage, "--chart", "expected --published as well");
  if (requested.task.empty()) throw Error(ErrorCode::kUsage, "--task", "expected the name of a task, got none");
  const TaskRow& task = find_task(requested.task);
  check_field_names(task, requested.input_field, requested.label_field);
  EvalVerb options = requested;
  if (requested.hold_out_every > 0 && !predicts_pieces(task))
    throw Error(ErrorCode::kUsage, "--hold-out-every",
                fmt::format("expected the task mlm or causal, got {}", task.name));
  // Before a model is opened.
  options.arguments = requested.hold_out_every > 0 ? given_paths(requested) : labelled_files(requested);
  if (has_prediction_files(task)) check_predictions_name(options.write_predictions, task);
  check_aggregate(options, task);
  check_guard_options(options, task);
  check_entity_options(options, task);
  check_asked(task, asked_metrics(options), options.predictions.empty());
  check_by(options, task);
  if (!options.output_dir.empty()) check_results(options.output_dir);
  if (!has_prediction_files(task)) refuse_predictions(options, task);
  if (options.predictions.empty()) {
    options.model.name = program::name_or_builtin(options.model.name, options.verb, task.name);
    program::follow_folder_limits(options.encoding, options.model.name);
  }
  try {
    return eval_task(options, task);
  } catch (const EvalStopped&) {
    throw program::Interrupted{};
  } catch (const Error& error) {  // a head's error about a model names the head's own verb
    if (error.code() != ErrorCode::kTask || find_verb(error.where()) == nullptr) throw;
    std::vector<Problem> problems = error.problems();
    problems.front().where = "eval";
    throw Error(ErrorCode::kTask, std::move(problems));
  }
}

}  // namespace deberta::cli

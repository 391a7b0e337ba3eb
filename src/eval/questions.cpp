// Reads SQuAD files, takes answers from a file or from windows over each context, and writes predictions.
#include "eval/questions.h"

#include <fmt/format.h>

#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>

#include "base/json.h"
#include "data/predictions.h"
#include "data/squad.h"
#include "deberta/error.h"
#include "eval/model_rows.h"
#include "metrics/answer_evaluation.h"
#include "rows/row_input.h"

namespace deberta {
namespace {

struct Question {
  const SquadQuestion* question;
  const std::string* context;
  std::optional<std::string> answer;  // predicted; "": no answer
  double no_answer = 0;               // how sure the model is of that
  bool has_failed = false;
};

// A document cut off by a stop is not a parse error.
SquadFile load_squad(const std::string& path, const EvalHooks& hooks) {
  ByteSource source(path, hooks.is_stopped);
  try {
    return read_squad(source);
  } catch (const Error&) {
    check_stopped(hooks);
    throw;
  }
}

// All questions of all files.
class Questions {
 public:
  Questions(const QuestionSettings& settings, const EvalHooks& hooks, EvalResult& result) : picker_(settings.part) {
    for (const std::string& path : settings.files) {
      files_.push_back(load_squad(path, hooks));
      if (files_.back().is_repaired) result.repaired_files.push_back(path);
      for (const Problem& problem : files_.back().skipped)
        report_bad_row(hooks, Error(ErrorCode::kInput, std::vector{problem}));
      result.failed += files_.back().skipped.size();
      add(files_.back(), path, *result.task);
      check_stopped(hooks);
    }
    result.rows = all_.size() + result.failed;
    for (const Question& each : all_) result.unlabelled += !each.question->is_labelled;
  }

  std::vector<Question>& all() { return all_; }

 private:
  void add(const SquadFile& file, const std::string& path, const TaskRow& task) {
    for (const SquadQuestion& question : file.questions) {
      if (picker_.is_done()) return;
      if (!picker_.takes({.neighbours = context_group(files_.size(), question)})) continue;
      if (question.is_impossible && task.name != "squad2")
        throw Error(ErrorCode::kInput, {{.where = path,
                                         .message = fmt::format("question {} has no answer", quote_json(question.id)),
                                         .remedies = {{"use {}", "task", "squad2"}}}});
      all_.push_back({&question, &file.contexts[question.context], std::nullopt, 0, false});
    }
  }

  PartPicker picker_;
  std::deque<SquadFile> files_;
  std::vector<Question> all_;
};

// ---- answers from a file

void read_answers(const std::string& path, std::vector<Question>& questions, EvalResult& result) {
  Predictions predictions(ByteSource(path), Predictions::form_of(path));
  for (size_t i = 0; i < questions.size(); ++i) {
    const FoundPrediction* prediction = predictions.find(i, questions[i].question->id);
    if (prediction != nullptr) questions[i].answer = prediction->text;
    result.unanswered += prediction == nullptr;
  }
}

// Reads the probabilities of "no answer"; returns the order in which their file names the questions.
std::vector<size_t> read_no_answer(const std::string& path, std::vector<Question>& questions) {
  std::unordered_map<std::string_view, size_t> places;
  for (size_t i = 0; i < questions.size(); ++i) places.emplace(questions[i].question->id, i);
  std::vector<size_t> order;
  for (const auto& [id, probability] : read_numbers_by_id(ByteSource(path))) {
    const auto entry = places.find(id);
    if (entry == places.end()) continue;
    questions[entry->second].no_answer = probability;
    order.push_back(entry->second);
  }
  if (order.size() != questions.size())
    throw Error(ErrorCode::kInput, path,
                fmt::format("expected a number for each of {} questions, got {}", questions.size(), order.size()));
  return order;
}

// ---- answers from a model

class QuestionRows final : public RowSource {
 public:
  explicit QuestionRows(const std::vector<Question>& questions) : questions_(questions) {}
  bool next(Row& row) override {
    if (next_ == questions_.size()) return false;
    const Question& question = questions_[next_++];
    row = {};
    row.where = "question " + quote_json(question.question->id);
    row.text = question.question->question;
    row.pair = *question.context;
    return true;
  }
  std::optional<double> fraction_done() const override {
    return static_cast<double>(next_) / static_cast<double>(questions_.size());
  }

 private:
  const std::vector<Question>& questions_;
  size_t next_ = 0;
};

JsonObject settings_of(const QuestionOptions& question) {
  return {{"max-tokens", static_cast<uint64_t>(question.rules.encode.max_tokens)},
          {"doc-stride", static_cast<uint64_t>(question.rules.stride)},
          {"max-question-len", static_cast<uint64_t>(question.max_question_tokens)},
          {"max-answer-len", static_cast<uint64_t>(question.max_answer_tokens)},
          {"align", question.aligns_to_words ? "words" : "tokens"},
          {"n-best", "all spans"}};
}

void run_model(const Pipeline& pipeline, const QuestionOptions& question, std::vector<Question>& questions,
               const EvalHooks& hooks, EvalResult& result) {
  result.settings = settings_of(question);
  qa(pipeline, {}, question);  // refuses a model without the head before any row is read
  const auto answer = [&](std::span<const size_t> numbers, std::span<const Row> rows) {
    const auto results = qa(pipeline, text_inputs(rows), question);
    for (size_t i = 0; i < rows.size(); ++i) {
      Question& each = questions[numbers[i]];
      const bool has_span = !results[i].answers.empty();
      each.answer = has_span ? results[i].answers.front().text : "";
      each.no_answer = has_span ? double{results[i].null_logit} - results[i].answers.front().logit : 0;
      result.cut.rows += results[i].cut_tokens > 0;
    }
  };
  const auto refuse = [&](size_t number, const Error& error) {
    questions[number].has_failed = true;
    ++result.failed;
    report_bad_row(hooks, error);
  };
  run_model_rows([&](const auto&) { return std::make_unique<QuestionRows>(questions); },
                 row_encoder(pipeline.tokenizer, question.sequence_rules()), question.rules.batch_tokens,
                 {.answer = answer, .refuse = refuse}, hooks);
  result.cut.of = questions.size();
  result.cut.max_tokens = question.max_question_tokens;
}

// ---- what is counted

std::unique_ptr<Evaluation> evaluate_plain(const std::vector<Question>& questions, const TaskRow& task) {
  std::vector<AnswerOutcome> outcomes;
  for (const Question& each : questions) {
    if (!each.question->is_labelled || each.has_failed) continue;
    outcomes.push_back({each.answer, {}});
    for (const SquadAnswer& answer : each.question->answers) outcomes.back().golds.push_back(answer.text);
  }
  return make_evaluation(outcomes, split_words(task.metrics));
}

std::unique_ptr<Evaluation> evaluate_nullable(const std::vector<Question>& questions, NullableRules rules) {
  std::vector<NullableOutcome> outcomes;
  std::vector<size_t> outcome_of(questions.size());
  std::vector<bool> is_counted(questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    const Question& each = questions[i];
    if (!each.question->is_labelled || each.has_failed) continue;
    is_counted[i] = true;
    outcome_of[i] = outcomes.size();
    outcomes.push_back({each.answer, {}, each.no_answer});
    for (const SquadAnswer& answer : each.question->answers) outcomes.back().golds.push_back(answer.text);
  }
  std::vector<size_t> order;
  for (const size_t i : rules.order) {
    if (is_counted[i]) order.push_back(outcome_of[i]);
  }
  rules.order = std::move(order);
  return make_evaluation(outcomes, rules);
}

void write_answers(const std::vector<Question>& questions, std::optional<double> threshold, FileWriter& out) {
  JsonObject answers;
  for (const Question& each : questions) {
    if (!each.answer) continue;
    answers.emplace_back(each.question->id, threshold && each.no_answer > *threshold ? "" : *each.answer);
  }
  out.write(Json(std::move(answers)).dump(2) + '\n');
}

}  // namespace

uint64_t context_group(size_t file, const SquadQuestion& question) {
  return uint64_t{file} << 32 | question.context;  // a file has at most kMaxSquadValues contexts
}

QuestionOptions squad_options() {
  QuestionOptions question;
  question.rules.encode.max_tokens = kSquadWindowTokens;
  question.max_answer_tokens = 30;
  question.aligns_to_words = false;
  question.merges_equal = false;
  return question;
}

void check_question_files(const TaskRow& task, const QuestionSettings& settings, const EvalHooks& hooks) {
  EvalResult result;
  result.task = &task;
  const Questions questions(settings, hooks, result);
}

AnsweredRows answer_questions(const TaskRow& task, const QuestionSettings& settings, const OpenModel& open_model,
                              const EvalHooks& hooks) {
  AnsweredRows answered;
  answered.result.task = &task;
  const auto questions = std::make_shared<Questions>(settings, hooks, answered.result);
  const bool has_null = task.name == "squad2", has_model = settings.predictions.empty();
  NullableRules rules;
  rules.threshold = settings.no_answer_threshold.value_or(has_model ? 0 : 1);
  if (has_model) {
    run_model(opened(open_model), settings.question, questions->all(), hooks, answered.result);
  } else {
    read_answers(settings.predictions, questions->all(), answered.result);
    if (!settings.na_prob.empty()) rules.order = read_no_answer(settings.na_prob, questions->all());
  }
  rules.finds_thresholds = has_model || !rules.order.empty();
  const std::optional<double> threshold = has_null ? std::optional(rules.threshold) : std::nullopt;
  answered.write_predictions = [questions, threshold](FileWriter& out) {
    write_answers(questions->all(), threshold, out);
  };
  answered.evaluation =
      has_null ? evaluate_nullable(questions->all(), std::move(rules)) : evaluate_plain(questions->all(), task);
  return answered;
}

}  // namespace deberta

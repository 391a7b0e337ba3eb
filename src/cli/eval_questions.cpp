// SQuAD: questions on contexts, answers by id.
#include <fmt/format.h>

#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "cli/eval_model.h"
#include "cli/eval_run.h"
#include "data/predictions.h"
#include "data/squad.h"
#include "metrics/answer_evaluation.h"
#include "options/options.h"
#include "program/answers.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/row_loop.h"
#include "rows/row_input.h"

namespace deberta::cli {
namespace {

constexpr int64_t kWindowTokens = 384;  // where --max-tokens is not given

struct Question {
  const SquadQuestion* question;
  const std::string* context;
  std::optional<std::string> answer;  // predicted; "": no answer
  double no_answer = 0;               // how sure the model is of that
  bool has_failed = false;
};

// All questions of all files.
class Questions {
 public:
  Questions(const Options& options, EvalResult& result) {
    for (const std::string& path : options.arguments) {
      ByteSource source = open_labelled(path);
      files_.push_back(read_squad(source));
      if (files_.back().is_repaired) note(options, fmt::format("note: {} had invalid UTF-8, replaced by U+FFFD", path));
      for (const Problem& problem : files_.back().skipped)
        report_bad_row(options, Error(ErrorCode::kInput, std::vector{problem}));
      result.failed += files_.back().skipped.size();
      add(files_.back(), path, *result.task);
      check_interrupted();
    }
    result.rows = all_.size() + result.failed;
    for (const Question& each : all_) result.unlabelled += !each.question->is_labelled;
  }

  std::vector<Question>& all() { return all_; }

 private:
  void add(const SquadFile& file, const std::string& path, const TaskRow& task) {
    for (const SquadQuestion& question : file.questions) {
      if (question.is_impossible && task.name != "squad2")
        throw Error(ErrorCode::kInput, path,
                    fmt::format("question {} has no answer; use --task squad2", quote_json(question.id)));
      all_.push_back({&question, &file.contexts[question.context], std::nullopt, 0, false});
    }
  }

  std::deque<SquadFile> files_;
  std::vector<Question> all_;
};

// ---- answers of a file

void read_answers(const Options& options, std::vector<Question>& questions, EvalResult& result) {
  Predictions predictions = open_predictions(options);
  for (size_t i = 0; i < questions.size(); ++i) {
    const FoundPrediction* found = predictions.find(i, questions[i].question->id);
    if (found != nullptr) questions[i].answer = found->text;
    result.unanswered += found == nullptr;
  }
}

// The probabilities of "no answer", and the order in which their file names the questions.
std::vector<size_t> read_no_answer(const std::string& path, std::vector<Question>& questions) {
  std::unordered_map<std::string_view, size_t> places;
  for (size_t i = 0; i < questions.size(); ++i) places.emplace(questions[i].question->id, i);
  std::vector<size_t> order;
  for (const auto& [id, probability] : read_numbers_by_id(ByteSource(path))) {
    const auto place = places.find(id);
    if (place == places.end()) continue;
    questions[place->second].no_answer = probability;
    order.push_back(place->second);
  }
  if (order.size() != questions.size())
    throw Error(ErrorCode::kInput, path,
                fmt::format("expected a number for each of {} questions, got {}", questions.size(), order.size()));
  return order;
}

// ---- answers of a model

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

QuestionOptions question_options(const Options& options) {
  QuestionOptions question;
  question.rules = encoding_rules(options);
  if (!options.is_given("max-tokens")) question.rules.encode.max_tokens = kWindowTokens;
  question.max_answer_tokens = static_cast<size_t>(options.integer("max-answer-len"));
  question.max_question_tokens = static_cast<size_t>(options.integer("max-question-len"));
  question.aligns_to_words = options.text("align") == "words";
  question.merges_equal = false;
  return question;
}

JsonObject settings_of(const QuestionOptions& question) {
  return {{"max-tokens", static_cast<uint64_t>(question.rules.encode.max_tokens)},
          {"doc-stride", static_cast<uint64_t>(question.rules.stride)},
          {"max-question-len", static_cast<uint64_t>(question.max_question_tokens)},
          {"max-answer-len", static_cast<uint64_t>(question.max_answer_tokens)},
          {"align", question.aligns_to_words ? "words" : "tokens"},
          {"n-best", "all spans"}};
}

void run_model(const Options& options, std::vector<Question>& questions, EvalResult& result) {
  const Pipeline pipeline = open_model(options);
  const QuestionOptions question = question_options(options);
  result.settings = settings_of(question);
  qa(pipeline, {}, question);  // refuses a model without the head before any row is read
  size_t cut = 0;
  run_model_rows(options, [&](const auto&) { return std::make_unique<QuestionRows>(questions); },
                 row_encoder(pipeline.tokenizer, question),
                 {[&](std::span<const size_t> numbers, std::span<const Row> rows) {
                    const auto results = qa(pipeline, text_inputs(rows), question);
                    for (size_t i = 0; i < rows.size(); ++i) {
                      Question& each = questions[numbers[i]];
                      const bool has_span = !results[i].answers.empty();
                      each.answer = has_span ? results[i].answers.front().text : "";
                      each.no_answer = has_span ? double{results[i].null_logit} - results[i].answers.front().logit : 0;
                      cut += results[i].cut_tokens > 0;
                    }
                  },
                  [&](size_t number, const Error& error) {
                    questions[number].has_failed = true;
                    ++result.failed;
                    report_bad_row(options, error);
                  }});
  note_cut_rows(options, cut, questions.size(), question.max_question_tokens);
  print_check_report(pipeline.model);
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
  std::vector<size_t> place(questions.size());
  std::vector<bool> is_counted(questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    const Question& each = questions[i];
    if (!each.question->is_labelled || each.has_failed) continue;
    is_counted[i] = true;
    place[i] = outcomes.size();
    outcomes.push_back({each.answer, {}, each.no_answer});
    for (const SquadAnswer& answer : each.question->answers) outcomes.back().golds.push_back(answer.text);
  }
  std::vector<size_t> order;
  for (const size_t i : rules.order) {
    if (is_counted[i]) order.push_back(place[i]);
  }
  rules.order = std::move(order);
  return make_evaluation(outcomes, rules);
}

void write_answers(const std::string& path, const std::vector<Question>& questions, bool has_null, double threshold) {
  JsonObject answers;
  for (const Question& each : questions) {
    if (!each.answer) continue;
    answers.emplace_back(each.question->id, has_null && each.no_answer > threshold ? "" : *each.answer);
  }
  write_output(path, [&](FileWriter& out) { out.write(Json(std::move(answers)).dump(2) + '\n'); });
}

}  // namespace

int eval_questions(const Options& options, const TaskRow& task) {
  EvalResult result;
  result.task = &task;
  Questions questions(options, result);
  const bool has_null = task.name == "squad2", has_model = options.text("predictions").empty();
  NullableRules rules;
  // Of a model: the logit of no answer above that of the best span.
  rules.threshold = has_model && !options.is_given("no-answer-threshold") ? 0 : options.number("no-answer-threshold");
  if (has_model) {
    run_model(options, questions.all(), result);
  } else {
    read_answers(options, questions.all(), result);
    if (!options.text("na-prob").empty()) rules.order = read_no_answer(options.text("na-prob"), questions.all());
  }
  rules.finds_thresholds = has_model || !rules.order.empty();
  if (!options.text("write-predictions").empty())
    write_answers(options.text("write-predictions"), questions.all(), has_null, rules.threshold);
  const std::unique_ptr<Evaluation> evaluation =
      has_null ? evaluate_nullable(questions.all(), rules) : evaluate_plain(questions.all(), task);
  result.metrics = evaluate_all(options, *evaluation, result);
  return finish(options, result);
}

}  // namespace deberta::cli

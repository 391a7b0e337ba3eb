// SQuAD: questions on contexts, answers by id.
#include <fmt/format.h>

#include <optional>
#include <unordered_map>
#include <utility>

#include "cli/answers.h"
#include "cli/eval_run.h"
#include "cli/interrupt.h"
#include "data/predictions.h"
#include "data/squad.h"
#include "tasks/answer_evaluation.h"

namespace deberta::cli {
namespace {

// A question without its context.
struct Gold {
  std::string id;
  bool is_labelled = false;
  std::vector<std::string> answers;
};

std::vector<Gold> read_golds(const Options& options, EvalResult& result) {
  std::vector<Gold> golds;
  for (const std::string& path : labelled_files(options)) {
    ByteSource source = open_labelled(path);
    const SquadFile file = read_squad(source);
    for (const Problem& problem : file.skipped)
      report_bad_row(options, Error(ErrorCode::kInput, problem.where, problem.message));
    result.failed += file.skipped.size();
    for (const SquadQuestion& question : file.questions) {
      Gold gold{question.id, question.is_labelled, {}};
      for (const SquadAnswer& answer : question.answers) gold.answers.push_back(answer.text);
      if (gold.is_labelled && gold.answers.empty() && result.task->name != "squad2")
        throw Error(ErrorCode::kInput, path,
                    fmt::format("question {} has no answer; use --task squad2", quote_json(gold.id)));
      result.unlabelled += !gold.is_labelled;
      golds.push_back(std::move(gold));
    }
    check_interrupted();
  }
  result.rows = golds.size() + result.failed;
  return golds;
}

std::unique_ptr<Evaluation> evaluate_answers(const Options& options, const std::vector<Gold>& golds,
                                             EvalResult& result) {
  Predictions predictions = open_predictions(options);
  std::vector<AnswerOutcome> outcomes;
  for (size_t i = 0; i < golds.size(); ++i) {
    const FoundPrediction* found = predictions.find(i, golds[i].id);
    result.unanswered += found == nullptr;
    if (golds[i].is_labelled) outcomes.push_back({found ? std::optional(found->text) : std::nullopt, golds[i].answers});
  }
  return make_evaluation(outcomes, split_words(result.task->metrics));
}

// The probabilities of "no answer", and the order in which their file names the questions.
void read_no_answer(const Options& options, const std::vector<Gold>& golds, std::vector<NullableOutcome>& outcomes,
                    NullableRules& rules) {
  const std::string& path = options.text("na-prob");
  std::unordered_map<std::string_view, size_t> places;
  for (const Gold& gold : golds) {
    if (gold.is_labelled) places.emplace(gold.id, places.size());
  }
  for (const auto& [id, probability] : read_numbers_by_id(ByteSource(path))) {
    const auto place = places.find(id);
    if (place == places.end()) continue;
    outcomes[place->second].no_answer = probability;
    rules.order.push_back(place->second);
  }
  if (rules.order.size() != places.size())
    throw Error(ErrorCode::kInput, path,
                fmt::format("expected a number for each of {} questions, got {}", places.size(), rules.order.size()));
  rules.finds_thresholds = true;
}

std::unique_ptr<Evaluation> evaluate_nullable(const Options& options, const std::vector<Gold>& golds,
                                              EvalResult& result) {
  Predictions predictions = open_predictions(options);
  std::vector<NullableOutcome> outcomes;
  for (size_t i = 0; i < golds.size(); ++i) {
    const FoundPrediction* found = predictions.find(i, golds[i].id);
    result.unanswered += found == nullptr;
    if (golds[i].is_labelled)
      outcomes.push_back({found ? std::optional(found->text) : std::nullopt, golds[i].answers, 0});
  }
  NullableRules rules;
  rules.threshold = options.number("na-threshold");
  if (!options.text("na-prob").empty()) read_no_answer(options, golds, outcomes, rules);
  return make_evaluation(outcomes, rules);
}

}  // namespace

int eval_questions(const Options& options, const TaskRow& task) {
  EvalResult result;
  result.task = &task;
  const std::vector<Gold> golds = read_golds(options, result);
  const std::unique_ptr<Evaluation> evaluation =
      task.name == "squad2" ? evaluate_nullable(options, golds, result) : evaluate_answers(options, golds, result);
  result.metrics = evaluate_all(options, *evaluation, result);
  return finish(options, result);
}

}  // namespace deberta::cli

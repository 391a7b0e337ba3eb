// SQuAD: questions about contexts, answers by id.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "data/squad.h"
#include "deberta/pipeline.h"
#include "eval/answered_rows.h"
#include "eval/eval_hooks.h"
#include "eval/row_part.h"
#include "metrics/task_table.h"

namespace deberta {

// Per window, as in the papers.
constexpr size_t kSquadWindowTokens = 384;

// As in the papers: windows of 384 tokens, answers of at most 30 tokens, spans scored as they are.
QuestionOptions squad_options();

// A number that the questions of a context share, and no others of the files.
uint64_t context_group(size_t file, const SquadQuestion& question);

struct QuestionSettings {
  std::vector<std::string> files;
  std::optional<RowPart> part = std::nullopt;  // with all questions of a context or none; none: all
  std::string predictions = {};                // a file; empty: a model answers
  std::string na_prob = {};                    // squad2, with predictions: a file of probabilities of "no answer"
  // squad2: the answer is "no answer" when its score is above this. None: 1 for probabilities; 0 for a model, whose
  // score is the logit of no answer minus that of the best span.
  std::optional<double> no_answer_threshold = std::nullopt;
  QuestionOptions question = squad_options();
};

// The model is opened when the files have been read. Throws kInput for a question without an answer in squad, kTask for
// a model without the head.
AnsweredRows answer_questions(const TaskRow& task, const QuestionSettings& settings, const OpenModel& open_model,
                              const EvalHooks& hooks = {});

// The first half of answer_questions(): reads the files, and throws what it throws of them.
void check_question_files(const TaskRow& task, const QuestionSettings& settings, const EvalHooks& hooks = {});

}  // namespace deberta

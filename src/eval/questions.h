// SQuAD: questions on contexts, answers by id.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "deberta/pipeline.h"
#include "eval/answered_rows.h"
#include "eval/eval_hooks.h"
#include "metrics/task_table.h"

namespace deberta {

// Of a window, as in the papers.
constexpr size_t kSquadWindowTokens = 384;

// As in the papers: windows of 384 tokens, answers of at most 30, spans scored as they are.
QuestionOptions squad_options();

struct QuestionSettings {
  std::vector<std::string> files;
  std::string predictions = {};  // a file; empty: a model answers
  std::string na_prob = {};      // of squad2, beside predictions: a file of probabilities of "no answer"
  // Of squad2: a question is answered with nothing when it is surer of that. None: 1 of probabilities; 0 of a model,
  // whose measure is the logit of no answer less that of the best span.
  std::optional<double> no_answer_threshold = std::nullopt;
  QuestionOptions question = squad_options();
};

// The model is opened when the files have been read. Throws kInput for a question without an answer in squad, kTask for
// a model without the head.
AnsweredRows answer_questions(const TaskRow& task, const QuestionSettings& settings, const OpenModel& open_model,
                              const EvalHooks& hooks = {});

}  // namespace deberta

// CoNLL columns: words with tags, predicted in another file of columns.
#include <fmt/format.h>

#include <utility>

#include "cli/answers.h"
#include "cli/eval_run.h"
#include "cli/interrupt.h"
#include "data/conll.h"
#include "tasks/tag_evaluation.h"

namespace deberta::cli {
namespace {

std::vector<std::string> last_column(const ConllSentence& sentence) {
  std::vector<std::string> tags;
  for (size_t token = 0; token < sentence.tokens(); ++token) tags.push_back(sentence.label(token));
  return tags;
}

bool has_same_words(const ConllSentence& a, const ConllSentence& b) {
  if (a.tokens() != b.tokens()) return false;
  for (size_t token = 0; token < a.tokens(); ++token) {
    if (a.word(token) != b.word(token)) return false;
  }
  return true;
}

// Sentence by sentence, the same words in both files.
std::vector<TagOutcome> read_outcomes(const Options& options, EvalResult& result) {
  std::vector<TagOutcome> outcomes;
  const std::string& path = options.text("predictions");
  ConllReader predicted(LineReader{ByteSource(path)});
  ConllSentence gold, answer;
  for (const std::string& file : labelled_files(options)) {
    ConllReader reader(LineReader{open_labelled(file)});
    while (reader.next(gold)) {
      if (!predicted.next(answer))
        throw Error(ErrorCode::kInput, path, "expected the sentence of " + gold.where + ", got the end of the file");
      ++result.rows;
      if (gold.error || answer.error) {
        ++result.failed;
        report_bad_row(options, gold.error ? *gold.error : *answer.error);
      } else if (!has_same_words(gold, answer)) {
        throw Error(ErrorCode::kInput, answer.where, "expected the words of " + gold.where);
      } else {
        outcomes.push_back({last_column(gold), last_column(answer)});
      }
    }
    check_interrupted();
  }
  if (predicted.next(answer)) throw Error(ErrorCode::kInput, answer.where, "expected the end of the file");
  return outcomes;
}

}  // namespace

int eval_tags(const Options& options, const TaskRow& task) {
  EvalResult result;
  result.task = &task;
  const std::vector<TagOutcome> outcomes = read_outcomes(options, result);
  result.metrics = evaluate_all(options, *make_evaluation(outcomes, split_words(task.metrics)), result);
  return finish(options, result);
}

}  // namespace deberta::cli

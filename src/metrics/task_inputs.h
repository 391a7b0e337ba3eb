// From an example to the model's input.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "data/examples.h"
#include "metrics/task_table.h"

namespace deberta {

struct TaskInput {
  std::string text;
  std::optional<std::string> pair;
  std::vector<std::string> choices;
};

// For all tasks except ReCoRD, SQuAD and NER. WiC: its word between * in both sentences. WSC: the noun between *, the
// pronoun between #. COPA: pair is "cause" or "effect". AlphaNLI: both observations are the text. Choices keep their
// order; the head joins them to the rest.
TaskInput input_of(const TaskRow& task, Example example);

// `text` with `mark` before and after each span. Spans do not overlap.
std::string mark_spans(const std::string& text, const std::vector<TextSpan>& spans, const std::vector<char>& marks);

}  // namespace deberta

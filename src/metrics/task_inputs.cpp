// Text forms. Those of WiC and WSC are ours: the original code has no working ones.
#include "metrics/task_inputs.h"

#include <algorithm>
#include <utility>

namespace deberta {

std::string mark_spans(const std::string& text, const std::vector<TextSpan>& spans, const std::vector<char>& marks) {
  std::vector<std::pair<size_t, char>> places;
  for (size_t i = 0; i < spans.size(); ++i) {
    places.emplace_back(spans[i].begin_byte, marks[i]);
    places.emplace_back(spans[i].end_byte, marks[i]);
  }
  std::stable_sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string marked;
  size_t at = 0;
  for (const auto& [position, mark] : places) {
    marked.append(text, at, position - at);
    marked += mark;
    at = position;
  }
  return marked + text.substr(at);
}

TaskInput input_of(const TaskRow& task, Example example) {
  TaskInput input{std::move(example.text), std::move(example.pair), std::move(example.choices)};
  switch (task.form) {
    case ExampleForm::kWic:
      input.text = mark_spans(input.text, example.text_spans, {'*'});
      input.pair = mark_spans(*input.pair, example.pair_spans, {'*'});
      break;
    case ExampleForm::kWsc:
      input.text = mark_spans(input.text, example.text_spans, {'*', '#'});
      break;
    case ExampleForm::kAlphaNli:
      input.text += ' ' + *input.pair;
      input.pair.reset();
      break;
    default:
      break;
  }
  return input;
}

}  // namespace deberta

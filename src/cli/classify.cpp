// The verb `classify`: texts or pairs to labels with scores.
#include <fmt/core.h>

#include <algorithm>

#include "cli/verbs.h"
#include "deberta/pipeline.h"
#include "decode/classification.h"
#include "pipeline/answer_json.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

SequenceOptions sequence_options(const ClassifyVerb& options) {
  SequenceOptions sequence;
  sequence.rules = program::encoding_rules(options.encoding);
  sequence.top_k = options.top_k;
  sequence.function = options.activation.value;
  sequence.window_scores = program::window_scores(options.windows, sequence.rules);
  if (!options.windows.benign_label.empty() && sequence.window_scores != WindowScores::kMax)
    throw Error(ErrorCode::kUsage, "--benign-label", "expected --window-scores max as well");
  sequence.benign_labels = options.windows.benign_label;
  return sequence;
}

// Columns `label score`, repeated for each label that a row gets; before them those of the window, each of which has a
// line of its own.
program::AnswerColumns columns_for(size_t labels, bool has_windows) {
  std::vector<std::string> columns;
  if (has_windows) columns = {"start", "end"};
  for (size_t i = 1; i <= labels; ++i) {
    const std::string suffix = i == 1 ? "" : fmt::format("_{}", i);
    columns.push_back("label" + suffix);
    columns.push_back("score" + suffix);
  }
  return {columns, has_windows};
}

void add_scores(const std::vector<LabelScore>& labels, program::Cells& cells) {
  for (const LabelScore& entry : labels) {
    cells.push_back(entry.label);
    cells.push_back(program::cell(entry.score));
  }
}

program::RowAnswer to_answer(const SequenceAnswer& result) {
  program::RowAnswer answer{{to_json(result), {}}, result.tokens, result.cut_tokens};
  for (const WindowAnswer& window : result.windows) {
    program::Cells& cells = answer.answer.lines.emplace_back();
    cells = {program::cell(static_cast<uint64_t>(window.chars.begin)),
             program::cell(static_cast<uint64_t>(window.chars.end))};
    add_scores(window.labels, cells);
  }
  if (result.windows.empty()) add_scores(result.labels, answer.answer.lines.emplace_back());
  return answer;
}

}  // namespace

int run(const ClassifyVerb& options) {
  const SequenceOptions sequence = sequence_options(options);
  program::RowReading reading = program::reading_of(options);
  if (options.pair) reading.shape = program::pair_shape();
  const Pipeline pipeline = program::open_model(options.model);
  const auto classes = static_cast<size_t>(pipeline.model.labels());
  const size_t shown = shown_labels(pipeline.config, classes, sequence.top_k);
  return program::run_text_verb(
      options, reading, pipeline, columns_for(shown, sequence.window_scores == WindowScores::kEach),
      [&](std::span<const TextInput> inputs) { return classify(pipeline, inputs, sequence); },
      [](const Row&, const SequenceAnswer& result) { return to_answer(result); });
}

}  // namespace deberta::cli

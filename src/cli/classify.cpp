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
  sequence.rules = encoding_rules(options.encoding);
  sequence.top_k = options.top_k;
  sequence.function = chosen_function(options.activation);
  if (options.window_scores == WindowScoresChoice::kMax) {
    if (sequence.rules.long_text != LongText::kWindow)
      throw Error(ErrorCode::kUsage, "--window-scores",
                  "expected --truncate window as well: there are no windows else");
    sequence.window_scores = WindowScores::kMax;
  }
  if (!options.benign_label.empty() && sequence.window_scores != WindowScores::kMax)
    throw Error(ErrorCode::kUsage, "--benign-label", "expected --window-scores max as well");
  sequence.benign_labels = options.benign_label;
  return sequence;
}

// Columns `label score`, repeated for each label that a row gets.
std::vector<std::string> columns_for(size_t labels) {
  std::vector<std::string> columns;
  for (size_t i = 1; i <= labels; ++i) {
    const std::string suffix = i == 1 ? "" : fmt::format("_{}", i);
    columns.push_back("label" + suffix);
    columns.push_back("score" + suffix);
  }
  return columns;
}

RowAnswer to_answer(const SequenceAnswer& result) {
  Cells cells;
  for (const LabelScore& entry : result.labels) {
    cells.push_back(entry.label);
    cells.push_back(cell(entry.score));
  }
  return {{to_json(result), {std::move(cells)}}, result.tokens, result.cut_tokens};
}

}  // namespace

int run(const ClassifyVerb& options) {
  const SequenceOptions sequence = sequence_options(options);
  RowReading reading = reading_of(options);
  if (options.pair) reading.shape = pair_shape();
  const Pipeline pipeline = open_model(options.model);
  const auto classes = static_cast<size_t>(pipeline.model.labels());
  const size_t shown = sequence.top_k > 0                ? std::min(sequence.top_k, classes)
                       : is_multi_label(pipeline.config) ? classes
                                                         : 1;
  return run_text_verb(
      options, reading, pipeline, columns_for(shown),
      [&](std::span<const TextInput> inputs) { return classify(pipeline, inputs, sequence); },
      [](const Row&, const SequenceAnswer& result) { return to_answer(result); });
}

}  // namespace deberta::cli

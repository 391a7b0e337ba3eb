// The verb `classify`: texts or pairs to labels with scores.
#include <fmt/core.h>

#include <algorithm>

#include "cli/verbs.h"
#include "deberta/pipeline.h"
#include "decode/classification.h"
#include "options/options.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

SequenceOptions sequence_options(const Options& options) {
  SequenceOptions sequence;
  sequence.rules = encoding_rules(options);
  sequence.top_k = static_cast<size_t>(options.integer("top-k"));
  sequence.function = chosen_function(options);
  return sequence;
}

// Columns `label score`, repeated for each of the labels that a row gets.
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
  JsonArray labels;
  for (const LabelScore& entry : result.labels) {
    cells.push_back(entry.label);
    cells.push_back(cell(entry.score));
    labels.push_back(JsonObject{{"label", entry.label}, {"score", entry.score}});
  }
  const LabelScore& best = result.labels.front();
  JsonObject object{{"label", best.label}, {"score", best.score}, {"labels", std::move(labels)}};
  return {{std::move(object), {std::move(cells)}}, result.tokens, result.cut_tokens};
}

}  // namespace

int run_classify(const Options& options) {
  const SequenceOptions sequence = sequence_options(options);
  const Pipeline pipeline = open_model(options);
  classify(pipeline, {}, sequence);  // refuses a model without the head before any row is read
  const auto classes = static_cast<size_t>(pipeline.model.labels());
  const size_t shown = sequence.top_k > 0                ? std::min(sequence.top_k, classes)
                       : is_multi_label(pipeline.config) ? classes
                                                         : 1;
  return run_text_verb(
      options, pipeline, columns_for(shown),
      [&](std::span<const TextInput> inputs) { return classify(pipeline, inputs, sequence); },
      [](const Row&, const SequenceAnswer& result) { return to_answer(result); });
}

}  // namespace deberta::cli

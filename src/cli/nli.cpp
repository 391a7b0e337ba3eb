// The verb `nli`: does the first text entail the second; labels by name, not by index.
#include "cli/verbs.h"
#include "deberta/pipeline.h"
#include "decode/entailment.h"
#include "pipeline/answer_json.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

program::RowAnswer to_answer(const EntailmentAnswer& result) {
  program::Cells cells{result.label};
  for (const LabelScore& relation : result.relations) cells.push_back(program::cell(relation.score));
  return {{to_json(result), {std::move(cells)}}, result.tokens, result.cut_tokens};
}

}  // namespace

int run(const NliVerb& options) {
  EntailmentOptions settings;
  settings.rules = program::encoding_rules(options.encoding);
  settings.label_map = options.label_map;
  settings.function = options.activation.value.value_or(ScoreFunction::kSoftmax);
  program::RowReading reading = program::reading_of(options);
  reading.shape = program::pair_shape();
  reading.shape.published_names = {{"premise", "hypothesis"}, {"sentence1", "sentence2"}};
  const Pipeline pipeline = program::open_model(options.model);
  nli(pipeline, {}, settings);  // refuses a model without the head or the labels before its relations are looked up
  std::vector<std::string> columns{"label"};
  for (const Relation& relation :
       find_relations(pipeline.config.labels, static_cast<size_t>(pipeline.model.labels()), settings.label_map)) {
    columns.emplace_back(relation.name);
  }
  return program::run_text_verb(
      options, reading, pipeline, columns,
      [&](std::span<const TextInput> inputs) { return nli(pipeline, inputs, settings); },
      [](const Row&, const EntailmentAnswer& result) { return to_answer(result); });
}

}  // namespace deberta::cli

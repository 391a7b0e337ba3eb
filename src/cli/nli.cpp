// The verb `nli`: does the first text entail the second; labels by name, not by index.
#include "cli/verbs.h"
#include "deberta/pipeline.h"
#include "decode/entailment.h"
#include "options/options.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

RowAnswer to_answer(const EntailmentAnswer& result) {
  Cells cells{result.label};
  JsonObject object{{"label", result.label}};
  for (const LabelScore& relation : result.relations) {
    cells.push_back(cell(relation.score));
    object.emplace_back(relation.label, relation.score);
  }
  return {{std::move(object), {std::move(cells)}}, result.tokens, result.cut_tokens};
}

}  // namespace

int run_nli(const Options& options) {
  EntailmentOptions settings;
  settings.rules = encoding_rules(options);
  settings.label_map = options.list("label-map");
  settings.function = chosen_function(options).value_or(ScoreFunction::kSoftmax);
  const Pipeline pipeline = open_model(options);
  nli(pipeline, {}, settings);  // refuses a model without the head or the labels before any row is read
  std::vector<std::string> columns{"label"};
  for (const Relation& relation :
       find_relations(pipeline.config.labels, static_cast<size_t>(pipeline.model.labels()), settings.label_map)) {
    columns.emplace_back(relation.name);
  }
  return run_text_verb(
      options, pipeline, columns, [&](std::span<const TextInput> inputs) { return nli(pipeline, inputs, settings); },
      [](const Row&, const EntailmentAnswer& result) { return to_answer(result); });
}

}  // namespace deberta::cli

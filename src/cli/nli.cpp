// The verb `nli`: does the first text entail the second; labels by name, not by index.
#include <algorithm>

#include "cli/text_verb.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "tasks/entailment.h"

namespace deberta::cli {
namespace {

// The score of each relation, in the columns' order, absent ones left out.
struct Relation {
  const char* name;
  size_t index;
};
std::vector<Relation> relations_of(const EntailmentLabels& labels) {
  std::vector<Relation> relations{{"entailment", labels.entailment}};
  if (labels.neutral) relations.push_back({"neutral", *labels.neutral});
  if (labels.contradiction)
    relations.push_back({labels.neutral ? "contradiction" : "not_entailment", *labels.contradiction});
  return relations;
}

void check_pairs(std::span<const TextInput> inputs) {
  for (const TextInput& input : inputs) {
    if (!input.has_pair) throw Error(ErrorCode::kInput, "pair", "expected a premise and a hypothesis, got one text");
  }
}

RowAnswer to_answer(const SequenceAnswer& result, const std::vector<Relation>& relations) {
  Cells cells(1);
  JsonObject object{{"label", ""}};
  float best = -1;
  for (const Relation& relation : relations) {
    const float score = result.scores[relation.index];
    cells.push_back(cell(score));
    object.emplace_back(relation.name, score);
    if (score <= best) continue;
    best = score;
    cells[0] = relation.name;
  }
  object[0].second = cells[0];
  return {{std::move(object), {std::move(cells)}}, result.tokens, result.cut_tokens};
}

}  // namespace

int run_nli(const Options& options) {
  SequenceOptions sequence;
  sequence.rules = encoding_rules(options);
  sequence.function = ScoreFunction::kSoftmax;
  const ModelDirectory directory = open_model(options);
  classify(directory, {}, sequence);
  const auto relations = relations_of(find_entailment_labels(
      directory.config.labels, static_cast<size_t>(directory.model.labels()), options.list("label-map")));
  std::vector<std::string> columns{"label"};
  for (const Relation& relation : relations) columns.push_back(relation.name);
  return run_text_verb(
      options, directory, columns,
      [&](std::span<const TextInput> inputs) {
        check_pairs(inputs);
        return classify(directory, inputs, sequence);
      },
      [&](const Row&, const SequenceAnswer& result) { return to_answer(result, relations); });
}

}  // namespace deberta::cli

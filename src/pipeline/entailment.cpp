// The sequence head of an entailment model, its labels by name.
#include <algorithm>

#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "decode/entailment.h"
#include "pipeline/plan.h"
#include "pipeline/requirements.h"

namespace deberta {

namespace {

std::vector<EntailmentAnswer> answers_of(const std::vector<SequenceAnswer>& results,
                                         const std::vector<Relation>& relations) {
  std::vector<EntailmentAnswer> answers;
  for (const SequenceAnswer& result : results) {
    EntailmentAnswer answer{{}, {}, result.tokens, result.cut_tokens};
    for (const Relation& relation : relations)
      answer.relations.push_back({relation.name, result.scores[relation.index]});
    answer.label = std::max_element(answer.relations.begin(), answer.relations.end(),
                                    [](const LabelScore& a, const LabelScore& b) { return a.score < b.score; })
                       ->label;
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace

Planned<EntailmentAnswer> plan_nli(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                   const EntailmentOptions& options) {
  for_each_input(inputs.size(), [&](size_t i) {
    if (!inputs[i].pair) throw Error(ErrorCode::kInput, "pair", "expected a premise and a hypothesis, got one text");
  });
  check_sequence_head("nli", pipeline.model);
  SequenceOptions sequence;
  sequence.rules = options.rules;
  sequence.function = options.function;
  Planned<SequenceAnswer> classes = plan_classify(pipeline, inputs, sequence);
  std::vector<Relation> relations =
      find_relations(pipeline.config.labels, static_cast<size_t>(pipeline.model.labels()), options.label_map);
  return {std::move(classes.plan), [finish = std::move(classes.finish), relations = std::move(relations)] {
            return answers_of(finish(), relations);
          }};
}

std::vector<EntailmentAnswer> nli(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                  const EntailmentOptions& options) {
  return run_planned(pipeline, plan_nli(pipeline, inputs, options), options.rules);
}

}  // namespace deberta

// Each candidate label becomes a hypothesis, each hypothesis a pair with the text.
#include "deberta/pipeline.h"

#include <algorithm>
#include <numeric>

#include "deberta/error.h"
#include "decode/classification.h"
#include "decode/entailment.h"
#include "pipeline/plan.h"
#include "pipeline/requirements.h"

namespace deberta {
namespace {

constexpr std::string_view kSlot = "{}";

void check_options(const ZeroShotOptions& options) {
  if (options.labels.empty())
    throw Error(ErrorCode::kUsage, {{.message = "expected candidate labels, got none",
                                     .argument = "labels",
                                     .remedies = {{"write {}", "labels", "sports,politics"}}}});
  if (options.hypothesis_template.find(kSlot) == std::string::npos) {
    throw Error(ErrorCode::kUsage,
                {{.message = "expected {} where the label goes, got \"" + options.hypothesis_template + "\"",
                  .argument = "hypothesis_template"}});
  }
}

std::string hypothesis_of(const ZeroShotOptions& options, const std::string& label) {
  std::string hypothesis = options.hypothesis_template;
  return hypothesis.replace(hypothesis.find(kSlot), kSlot.size(), label);
}

// The class weighed against entailment, for a label by itself.
size_t opposite_of(const EntailmentLabels& labels, size_t classes) {
  if (labels.contradiction) return *labels.contradiction;
  return labels.entailment == 0 ? classes - 1 : 0;
}

// logits_NC of N candidates.
std::vector<float> scores_of(std::span<const float> logits_NC, size_t classes, const EntailmentLabels& labels,
                             bool is_multi_label) {
  std::vector<float> entailment_N;
  for (size_t at = 0; at < logits_NC.size(); at += classes) entailment_N.push_back(logits_NC[at + labels.entailment]);
  if (!is_multi_label) return scores_of_logits(entailment_N, ScoreFunction::kSoftmax);
  std::vector<float> scores_N;
  for (size_t n = 0; n < entailment_N.size(); ++n) {
    const float two[] = {logits_NC[n * classes + opposite_of(labels, classes)], entailment_N[n]};
    scores_N.push_back(scores_of_logits(two, ScoreFunction::kSoftmax)[1]);
  }
  return scores_N;
}

struct Candidates {
  size_t classes;
  EntailmentLabels labels;
  ZeroShotOptions options;
};

std::vector<ZeroShotAnswer> answers_of(const SequenceLogits& found, const Candidates& c) {
  const size_t candidates = c.options.labels.size(), row = candidates * c.classes;
  const Sequences& sequences = found.sequences;
  std::vector<ZeroShotAnswer> answers;
  for (size_t i = 0; i < sequences.inputs(); ++i) {
    const std::span<const float> own_NC = std::span(found.logits_BC).subspan(i * row, row);
    std::vector<float> scores_N = scores_of(own_NC, c.classes, c.labels, c.options.is_multi_label || candidates == 1);
    std::vector<LabelScore> ranked = rank_labels(scores_N, c.options.labels, 0);
    answers.push_back({std::move(ranked), std::move(scores_N), sequences.tokens_of(i), sequences.cut_tokens_of(i)});
  }
  return answers;
}

}  // namespace

std::vector<Encoding> encode_input(const Tokenizer& tokenizer, const TextInput& input, const ZeroShotOptions& options) {
  EncodingRules rules = options.rules;
  rules.encode.pair_cut = PairCut::kFirst;
  std::vector<Encoding> encodings;
  for (const std::string& label : options.labels)
    encodings.push_back(encode_input(tokenizer, {input.text, hypothesis_of(options, label)}, rules));
  return encodings;
}

Planned<ZeroShotAnswer> plan_zero_shot(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                       const ZeroShotOptions& options) {
  check_options(options);
  if (pipeline.model.head() != Head::kSequence) refuse_head("zero-shot", "sequence classification", pipeline.model);
  const auto classes = static_cast<size_t>(pipeline.model.labels());
  const EntailmentLabels labels =
      find_entailment_labels(pipeline.config.labels, classes, options.label_map, "zero-shot");
  LogitsPlan logits = plan_logits(pipeline.model, gather_sequences(inputs, [&](const TextInput& input) {
                                    return encode_input(pipeline.tokenizer, input, options);
                                  }));
  return {std::move(logits.plan), [found = std::move(logits.found), candidates = Candidates{classes, labels, options}] {
            return answers_of(*found, candidates);
          }};
}

std::vector<ZeroShotAnswer> zero_shot(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                      const ZeroShotOptions& options) {
  return run_planned(pipeline, plan_zero_shot(pipeline, inputs, options), options.rules);
}

}  // namespace deberta

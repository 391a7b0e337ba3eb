// Each candidate label becomes a hypothesis, each hypothesis a pair with the text.
#include "deberta/pipeline.h"

#include <algorithm>
#include <numeric>

#include "deberta/error.h"
#include "decode/classification.h"
#include "decode/entailment.h"
#include "pipeline/plan.h"
#include "pipeline/requirements.h"
#include "pipeline/sequence_forms.h"

namespace deberta {
namespace {

constexpr std::string_view kSlot = "{}";

// One slot, and no brace besides: those who know Python's format() mean something else by {{ and by a second {}.
void check_template(const std::string& text) {
  const size_t slot = text.find(kSlot);
  const auto refuse = [&](const std::string& expected) {
    throw Error(ErrorCode::kUsage,
                {{.message = "expected " + expected + ", got \"" + text + "\"", .argument = "hypothesis_template"}});
  };
  if (slot == std::string::npos) refuse("{} where the label goes");
  if (text.find(kSlot, slot + kSlot.size()) != std::string::npos) refuse("{} once, where the label goes");
  if (text.find("{{") != std::string::npos || text.find("}}") != std::string::npos)
    refuse("{} and no doubled braces, which stand in the hypothesis as they are");
}

void check_options(const ZeroShotOptions& options) {
  if (options.labels.empty())
    throw Error(ErrorCode::kUsage, {{.message = "expected candidate labels, got none",
                                     .argument = "labels",
                                     .remedies = {{"write {}", "labels", "sports,politics"}}}});
  check_template(options.hypothesis_template);
}

std::string hypothesis_of(const ZeroShotOptions& options, const std::string& label) {
  std::string hypothesis = options.hypothesis_template;
  return hypothesis.replace(hypothesis.find(kSlot), kSlot.size(), label);
}

// The class weighed against entailment for a single label; with two classes the other one. Throws kTask.
size_t opposite_of(const EntailmentLabels& labels, size_t classes) {
  if (labels.contradiction) return *labels.contradiction;
  if (classes == 2) return 1 - labels.entailment;
  throw Error(ErrorCode::kTask, {{.where = "zero-shot",
                                  .message = "expected a class for contradiction, which each label by itself is "
                                             "weighed against, got none",
                                  .argument = "label_map",
                                  .remedies = {{"name it with {}, or give several labels that exclude one another",
                                                "label_map", "contradiction,neutral,entailment"}}}});
}

// logits_NC of N candidates.
std::vector<float> scores_of(std::span<const float> logits_NC, size_t classes, size_t entailment,
                             std::optional<size_t> opposite) {
  std::vector<float> entailment_N;
  for (size_t at = 0; at < logits_NC.size(); at += classes) entailment_N.push_back(logits_NC[at + entailment]);
  if (!opposite) return scores_of_logits(entailment_N, ScoreFunction::kSoftmax);
  std::vector<float> scores_N;
  for (size_t n = 0; n < entailment_N.size(); ++n) {
    const float two[] = {logits_NC[n * classes + *opposite], entailment_N[n]};
    scores_N.push_back(scores_of_logits(two, ScoreFunction::kSoftmax)[1]);
  }
  return scores_N;
}

struct Candidates {
  size_t classes;
  size_t entailment;
  std::optional<size_t> opposite;  // each label by itself is weighed against this class; none: all against one another
  std::vector<std::string> labels;
};

std::vector<ZeroShotAnswer> answers_of(const SequenceLogits& results, const Candidates& c) {
  const size_t candidates = c.labels.size(), row = candidates * c.classes;
  const Sequences& sequences = results.sequences;
  std::vector<ZeroShotAnswer> answers;
  for (size_t i = 0; i < sequences.inputs(); ++i) {
    const std::span<const float> own_NC = std::span(results.logits_BC).subspan(i * row, row);
    std::vector<float> scores_N = scores_of(own_NC, c.classes, c.entailment, c.opposite);
    std::vector<LabelScore> ranked = rank_labels(scores_N, c.labels, 0);
    answers.push_back({std::move(ranked), std::move(scores_N), sequences.tokens_of(i), sequences.cut_tokens_of(i)});
  }
  return answers;
}

}  // namespace

SequenceRules ZeroShotOptions::sequence_rules() const {
  check_options(*this);
  SequenceRules sequences{.encoding = rules, .form = SequenceForm::kHypotheses};
  for (const std::string& label : labels) sequences.hypotheses.push_back(hypothesis_of(*this, label));
  return sequences;
}

std::vector<Encoding> encode_hypotheses(const Tokenizer& tokenizer, const TextInput& input,
                                        const SequenceRules& rules) {
  EncodingRules encoding = rules.encoding;
  encoding.encode.pair_cut = PairCut::kFirst;
  std::vector<Encoding> encodings;
  for (const std::string& hypothesis : rules.hypotheses)
    encodings.push_back(encode_one(tokenizer, {input.text, hypothesis}, encoding));
  return encodings;
}

Planned<ZeroShotAnswer> plan_zero_shot(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                       const ZeroShotOptions& options) {
  const SequenceRules rules = options.sequence_rules();
  check_sequence_head("zero-shot", pipeline.model);
  const auto classes = static_cast<size_t>(pipeline.model.labels());
  const EntailmentLabels labels =
      find_entailment_labels(pipeline.config.labels, classes, options.label_map, "zero-shot");
  Candidates candidates{classes, labels.entailment, std::nullopt, options.labels};
  if (options.is_multi_label || options.labels.size() == 1) candidates.opposite = opposite_of(labels, classes);
  LogitsPlan logits = plan_logits(pipeline.model, gather_sequences(pipeline.tokenizer, inputs, rules));
  return {std::move(logits.plan), [results = std::move(logits.results), candidates = std::move(candidates)] {
            return answers_of(*results, candidates);
          }};
}

std::vector<ZeroShotAnswer> zero_shot(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                      const ZeroShotOptions& options) {
  return run_planned(pipeline, plan_zero_shot(pipeline, inputs, options), options.rules);
}

}  // namespace deberta

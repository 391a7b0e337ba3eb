// Encode, pack, forward with a logit for each row.
#include "deberta/pipeline.h"

#include <memory>

#include "decode/classification.h"
#include "heads/head_facts.h"
#include "pipeline/plan.h"
#include "pipeline/requirements.h"

namespace deberta {

namespace {

struct Replaced {
  std::vector<Encoding> texts;
  std::vector<ReplacedAnswer> answers;
};

ReplacedAnswer answer_of(const Tokenizer& tokenizer, const Encoding& text, std::span<const float> logits_L) {
  const std::vector<float> scores = scores_of_logits(logits_L, ScoreFunction::kSigmoid);
  ReplacedAnswer answer;
  answer.tokens = text.size();
  answer.cut_tokens = text.cut_tokens;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.is_special[i] != 0) continue;
    answer.pieces.push_back(
        {text.ids[i], std::string(tokenizer.piece(text.ids[i])), text.chars[i], text.bytes[i], logits_L[i], scores[i]});
  }
  return answer;
}

}  // namespace

Planned<ReplacedAnswer> plan_detect(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                    const EncodingRules& rules) {
  if (facts_of(pipeline.model.head()).answers != HeadAnswers::kReplaced)
    refuse_head("detect", "replaced-token", pipeline.model);
  const auto replaced = std::make_shared<Replaced>();
  replaced->texts = encode_inputs(pipeline.tokenizer, inputs, rules);
  replaced->answers.resize(inputs.size());
  SequencePlan plan;
  plan.sequences = SequenceSource(replaced->texts);
  plan.take = [replaced, &pipeline](size_t text, std::span<const float> logits_L) {
    replaced->answers[text] = answer_of(pipeline.tokenizer, replaced->texts[text], logits_L);
  };
  return {std::move(plan), [replaced] { return std::move(replaced->answers); }};
}

std::vector<ReplacedAnswer> detect(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                   const EncodingRules& rules) {
  return run_planned(pipeline, plan_detect(pipeline, inputs, rules), rules);
}

}  // namespace deberta

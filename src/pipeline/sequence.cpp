// Encode, pack, forward, rank. Windows of one text: the mean of their logits.
#include "deberta/pipeline.h"

#include <utility>

#include "decode/classification.h"
#include "pipeline/plan.h"
#include "pipeline/requirements.h"

namespace deberta {
namespace {

// Of the rows [first, last) of logits_BC.
std::vector<float> mean_row(std::span<const float> logits_BC, size_t classes, size_t first, size_t last) {
  std::vector<float> mean_C(classes);
  for (size_t c = 0; c < classes; ++c) {
    double sum = 0;
    for (size_t row = first; row < last; ++row) sum += logits_BC[row * classes + c];
    mean_C[c] = static_cast<float>(sum / static_cast<double>(last - first));
  }
  return mean_C;
}

std::vector<SequenceAnswer> answers_of(const Pipeline& pipeline, const SequenceLogits& found,
                                       const SequenceOptions& options) {
  const ModelConfig& config = pipeline.config;
  const Sequences& sequences = found.sequences;
  const size_t classes = static_cast<size_t>(pipeline.model.labels());
  const ScoreFunction function = options.function ? *options.function : score_function_of(config, classes);
  const size_t top_k = options.top_k > 0 ? options.top_k : is_multi_label(config) ? classes : 1;
  std::vector<SequenceAnswer> answers;
  for (size_t i = 0; i < sequences.inputs(); ++i) {
    const std::vector<float> logits_C =
        mean_row(found.logits_BC, classes, sequences.starts[i], sequences.starts[i + 1]);
    std::vector<float> scores_C = scores_of_logits(logits_C, function);
    std::vector<LabelScore> labels = rank_labels(scores_C, config.labels, top_k);
    answers.push_back({std::move(labels), std::move(scores_C), sequences.tokens_of(i), sequences.cut_tokens_of(i)});
  }
  return answers;
}

}  // namespace

Planned<SequenceAnswer> plan_classify(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                      const SequenceOptions& options) {
  if (pipeline.model.head() != Head::kSequence) {
    refuse_head("classify", "sequence classification", pipeline.model);
  }
  LogitsPlan logits = plan_logits(pipeline.model, window_inputs(pipeline.tokenizer, inputs, options.rules).sequences);
  return {std::move(logits.plan),
          [&pipeline, found = std::move(logits.found), options] { return answers_of(pipeline, *found, options); }};
}

std::vector<SequenceAnswer> classify(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                     const SequenceOptions& options) {
  return run_planned(pipeline, plan_classify(pipeline, inputs, options), options.rules);
}

}  // namespace deberta

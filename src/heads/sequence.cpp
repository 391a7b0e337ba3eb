// Encode, pack, forward, rank.
#include "deberta/pipeline.h"

#include <utility>

#include "heads/batches.h"
#include "heads/model_directory.h"
#include "tasks/classification.h"

namespace deberta {

std::vector<SequenceAnswer> classify(const ModelDirectory& directory, std::span<const TextInput> inputs,
                                     const SequenceOptions& options) {
  const ModelConfig& config = directory.config;
  if (directory.model.head() != Head::kSequence) {
    refuse_head("classify", "sequence classification", directory.model.head());
  }
  const std::vector<Encoding> encodings = encode_inputs(directory.tokenizer, inputs, options.rules);

  const size_t classes = static_cast<size_t>(directory.model.labels());
  const ScoreFunction function = options.function.value_or(score_function_of(config, classes));
  const size_t top_k = options.top_k > 0 ? options.top_k : is_multi_label(config) ? classes : 1;
  std::vector<SequenceAnswer> answers(inputs.size());
  ForwardResult result;
  for_each_batch(encodings, options.rules.batch_tokens, [&](size_t first, const Batch& batch) {
    directory.model.forward(batch, {}, result);
    for (size_t b = 0; b < batch.sequences(); ++b) {
      const std::span<const float> logits_C(result.logits.data() + b * classes, classes);
      const Encoding& encoding = encodings[first + b];
      std::vector<float> scores_C = scores_of_logits(logits_C, function);
      std::vector<LabelScore> labels = rank_labels(scores_C, config.labels, top_k);
      answers[first + b] = {std::move(labels), std::move(scores_C), encoding.size(), encoding.cut_tokens};
    }
  });
  return answers;
}

}  // namespace deberta

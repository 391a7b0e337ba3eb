// Encode, pack, forward with logits of all rows, group.
#include "deberta/pipeline.h"

#include <fmt/core.h>

#include "heads/batches.h"
#include "heads/model_directory.h"
#include "tasks/entities.h"

namespace deberta {

std::vector<TokenAnswer> ner(const ModelDirectory& directory, std::span<const TextInput> inputs,
                             const TokenOptions& options) {
  const Head head = directory.model.head();
  if (head != Head::kToken && head != Head::kTokenOriginal) {
    refuse_head("ner", "token classification", head);
  }
  const auto classes = static_cast<size_t>(directory.model.labels());
  std::vector<std::string> labels = directory.config.labels;
  for (size_t c = labels.size(); c < classes; ++c) labels.push_back(fmt::format("LABEL_{}", c));

  const std::vector<Encoding> encodings = encode_inputs(directory.tokenizer, inputs, options.rules);
  std::vector<TokenAnswer> answers(inputs.size());
  ForwardResult result;
  for_each_batch(encodings, options.rules.batch_tokens, [&](size_t first, const Batch& batch) {
    directory.model.forward(batch, {}, result);
    for (size_t b = 0; b < batch.sequences(); ++b) {
      const Encoding& encoding = encodings[first + b];
      const std::span<const float> logits_TC(result.logits.data() + static_cast<size_t>(batch.starts[b]) * classes,
                                             encoding.size() * classes);
      answers[first + b] = {find_entities(logits_TC, labels, encoding, options.entities), encoding.size(),
                            encoding.cut_tokens};
    }
  });
  return answers;
}

}  // namespace deberta

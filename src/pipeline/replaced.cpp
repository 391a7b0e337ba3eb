// Encode, pack, forward with a logit for each row.
#include "deberta/pipeline.h"

#include "decode/classification.h"
#include "pipeline/batches.h"
#include "pipeline/requirements.h"

namespace deberta {

std::vector<ReplacedAnswer> detect(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                   const EncodingRules& rules) {
  if (pipeline.model.head() != Head::kReplacedToken) {
    refuse_head("detect", "replaced-token", pipeline.model);
  }
  const std::vector<Encoding> encodings = encode_inputs(pipeline.tokenizer, inputs, rules);
  std::vector<ReplacedAnswer> answers(inputs.size());
  ForwardResult result;
  for_each_batch(encodings, rules.batch_tokens, [&](size_t first, const Batch& batch) {
    pipeline.model.forward(batch, {}, result);
    const std::vector<float> scores = scores_of_logits(result.logits, ScoreFunction::kSigmoid);
    for (size_t b = 0; b < batch.sequences(); ++b) {
      const Encoding& encoding = encodings[first + b];
      ReplacedAnswer& answer = answers[first + b];
      answer.tokens = encoding.size();
      answer.cut_tokens = encoding.cut_tokens;
      for (size_t i = 0; i < encoding.size(); ++i) {
        if (encoding.is_special[i] != 0) continue;
        const size_t row = static_cast<size_t>(batch.starts[b]) + i;
        answer.pieces.push_back({encoding.ids[i], std::string(pipeline.tokenizer.piece(encoding.ids[i])),
                                 encoding.chars[i], encoding.bytes[i], result.logits[row], scores[row]});
      }
    }
  });
  return answers;
}

}  // namespace deberta

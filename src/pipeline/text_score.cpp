// A copy of the text for each of its tokens, that token masked; logits of the masked rows alone.
#include "decode/text_score.h"

#include <algorithm>
#include <vector>

#include "deberta/pipeline.h"
#include "pipeline/batches.h"

namespace deberta {
namespace {

// Copies of one text in packs.
class Masker {
 public:
  Masker(const Pipeline& pipeline, const Encoding& text, size_t batch_tokens)
      : pipeline_(pipeline), text_(text), batch_tokens_(std::min(batch_tokens, kMaskedPackTokens)) {}

  TextScoreAnswer run() {
    for (size_t position = 0; position < text_.size(); ++position) {
      if (text_.is_special[position] == 0) add(position);
    }
    flush();
    answer_.tokens = text_.size();
    answer_.cut_tokens = text_.cut_tokens;
    sum_up(answer_, count_words());
    return std::move(answer_);
  }

 private:
  size_t count_words() const {
    size_t words = 0;
    for (size_t i = 1; i < text_.size(); ++i) {
      const bool begins = text_.words[i] != text_.words[i - 1] || text_.type_ids[i] != text_.type_ids[i - 1];
      words += text_.is_special[i] == 0 && begins;
    }
    return words;
  }

  void add(size_t position) {
    if (!batch_.ids_T.empty() && batch_.tokens() + text_.size() > batch_tokens_) flush();
    options_.rows.push_back(static_cast<int32_t>(batch_.tokens() + position));
    batch_.add(text_.ids, text_.type_ids);
    batch_.ids_T[batch_.ids_T.size() - text_.size() + position] = pipeline_.tokenizer.special().mask;
    positions_.push_back(position);
  }

  void flush() {
    if (positions_.empty()) return;
    pipeline_.model.forward(batch_, options_, result_);
    for (size_t i = 0; i < positions_.size(); ++i) {
      const size_t at = positions_[i];
      const std::span<const float> logits_V =
          std::span<const float>(result_.logits).subspan(i * result_.logits_columns, result_.logits_columns);
      answer_.pieces.push_back({text_.ids[at], text_.chars[at], text_.bytes[at],
                                static_cast<float>(log_probability(logits_V, text_.ids[at]))});
    }
    batch_ = {};
    options_.rows.clear();
    positions_.clear();
  }

  const Pipeline& pipeline_;
  const Encoding& text_;
  size_t batch_tokens_;
  Batch batch_;
  ForwardOptions options_;
  ForwardResult result_;
  std::vector<size_t> positions_;
  TextScoreAnswer answer_;
};

}  // namespace

std::vector<TextScoreAnswer> score_text(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                        const EncodingRules& rules) {
  check_masked_lm("score", pipeline);
  std::vector<TextScoreAnswer> answers;
  for (const Encoding& text : encode_inputs(pipeline.tokenizer, inputs, rules))
    answers.push_back(Masker(pipeline, text, rules.batch_tokens).run());
  return answers;
}

}  // namespace deberta

// A copy of the text for each of its tokens, that token masked; logits of the masked rows alone. A text of n tokens has
// n copies, each of which is made when its pack is.
#include "decode/text_score.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "deberta/pipeline.h"
#include "pipeline/packer.h"
#include "pipeline/plan.h"

namespace deberta {
namespace {

class ScoredTexts {
 public:
  ScoredTexts(std::vector<Encoding> texts, int32_t mask) : texts_(std::move(texts)), mask_(mask) {
    for (const Encoding& text : texts_) {
      for (size_t position = 0; position < text.size(); ++position) {
        if (text.is_special[position] == 0) masked_.push_back(position);
      }
      TextScoreAnswer& answer = answers_.emplace_back();
      answer.pieces.resize(masked_.size() - starts_.back());
      answer.tokens = text.size();
      answer.cut_tokens = text.cut_tokens;
      starts_.push_back(masked_.size());
    }
  }

  std::span<const Encoding> texts() const { return texts_; }
  // Tokens of each copy.
  std::vector<size_t> tokens() const {
    std::vector<size_t> tokens;
    tokens.reserve(masked_.size());
    for (size_t text = 0; text < texts_.size(); ++text) tokens.resize(starts_[text + 1], texts_[text].size());
    return tokens;
  }
  std::span<const size_t> masked_of(size_t copy) const { return std::span(masked_).subspan(copy, 1); }

  void add(size_t copy, Batch& pack) const {
    const Encoding& text = texts_[text_of(copy)];
    const size_t begin = pack.tokens();
    pack.add(text.ids, text.type_ids);
    pack.ids_T[begin + masked_[copy]] = mask_;
  }

  void take(size_t copy, std::span<const float> logits_V) {
    const size_t number = text_of(copy), at = masked_[copy];
    const Encoding& text = texts_[number];
    answers_[number].pieces[copy - starts_[number]] = {text.ids[at], text.chars[at], text.bytes[at],
                                                       static_cast<float>(log_probability(logits_V, text.ids[at]))};
  }

  std::vector<TextScoreAnswer> finish() {
    for (size_t i = 0; i < texts_.size(); ++i) sum_up(answers_[i], words_of(texts_[i]));
    return std::move(answers_);
  }

 private:
  size_t text_of(size_t copy) const {
    return static_cast<size_t>(std::ranges::upper_bound(starts_, copy) - starts_.begin()) - 1;
  }

  static size_t words_of(const Encoding& text) {
    size_t words = 0;
    for (size_t i = 1; i < text.size(); ++i) {
      const bool begins = text.words[i] != text.words[i - 1] || text.type_ids[i] != text.type_ids[i - 1];
      words += text.is_special[i] == 0 && begins;
    }
    return words;
  }

  std::vector<Encoding> texts_;
  int32_t mask_;
  std::vector<size_t> starts_{0};  // text i has the copies starts_[i] .. starts_[i + 1] - 1
  std::vector<size_t> masked_;     // the token of each copy that is masked
  std::vector<TextScoreAnswer> answers_;
};

}  // namespace

Planned<TextScoreAnswer> plan_score(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                    const EncodingRules& rules) {
  check_masked_lm("score", pipeline);
  const auto scored = std::make_shared<ScoredTexts>(encode_inputs(pipeline.tokenizer, inputs, rules),
                                                    pipeline.tokenizer.special().mask);
  SequencePlan plan;
  plan.sequences = SequenceSource(scored->texts(), scored->tokens(),
                                  [scored](size_t copy, Batch& pack) { scored->add(copy, pack); });
  plan.rows = [scored](size_t copy) { return scored->masked_of(copy); };
  plan.most_in_pack = most_logit_rows(pipeline.config.vocab_size);  // a row each
  plan.take = [scored](size_t copy, std::span<const float> logits_V) { scored->take(copy, logits_V); };
  return {std::move(plan), [scored] { return scored->finish(); }};
}

std::vector<TextScoreAnswer> score_text(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                        const EncodingRules& rules) {
  return run_planned(pipeline, plan_score(pipeline, inputs, rules), rules);
}

}  // namespace deberta

// From spans of tokens to the answers that a user reads. Pure functions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "deberta/answer.h"
#include "deberta/tokenizer.h"
#include "decode/spans.h"

namespace deberta {

// The first token of the second text in `[CLS] first [SEP] second [SEP]`.
size_t second_text_begin(const Encoding& pair);

struct SpanAnswerRules {
  size_t count = 1;
  bool aligns_to_words = true;   // begin and end with white-space-separated words
  bool merges_equal = true;      // spans of the same words in any case are one answer, their scores added
  bool as_transformers = false;  // merged only if the white space before is the same too; a word cut by a
                                 // window's edge stays cut
  std::function<bool(int32_t)> takes_space = {};  // as transformers: whether a piece includes the space before it
  bool allows_none = false;                       // "no answer" is a candidate
  std::optional<float> null_threshold;  // the answer exactly when its logit exceeds the best span's by more than this
};

// The best answers, by score. `windows` are the encodings of question and context that `candidates` come from. A merged
// answer has the position of its likeliest span; as transformers merges, of its span in the first window that has one.
std::vector<SpanAnswer> span_answers(std::string_view context, std::span<const Encoding> windows,
                                     const SpanCandidates& candidates, const SpanAnswerRules& rules);

}  // namespace deberta

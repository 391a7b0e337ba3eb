// From the start and end logits of a span head to answers. Pure functions on token indices; the caller has the texts.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace deberta {

// One window of a context: logits of its tokens, and of [CLS], which stands for "no answer".
struct SpanLogits {
  std::vector<float> start_L, end_L;
  float null_start = 0, null_end = 0;
};

struct SpanRules {
  size_t count = 12;  // per window, at most
  size_t max_answer_tokens = 15;
  bool normalizes_windows = false;  // each window's probabilities sum to 1, as in transformers
};

// Tokens first .. last of a window's part of the context, with the probability and the sum of logits.
struct TokenSpan {
  size_t window = 0;
  size_t first_token = 0;
  size_t last_token = 0;
  double score = 0;
  double logit = 0;
};

struct SpanCandidates {
  std::vector<TokenSpan> spans;  // the best of each window, best first
  double null_score = 0;
  double null_logit = 0;  // the smallest of the windows: there is no answer only if no window has one
};

// The probability of a span is that of its start times that of its end; start and end probabilities are each a softmax
// over all tokens of all windows and their [CLS], so windows are comparable. Throws kNotFinite, and kInput without
// windows.
SpanCandidates find_spans(std::span<const SpanLogits> windows, const SpanRules& rules);

}  // namespace deberta

// Two softmaxes, and the best pairs of a start and an end.
#include "decode/spans.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "deberta/error.h"
#include "decode/logits.h"

namespace deberta {
namespace {

// Log-sum-exp over the windows' tokens and [CLS].
double log_sum(std::span<const SpanLogits> windows, std::vector<float> SpanLogits::*logits, float SpanLogits::*null) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const SpanLogits& window : windows) {
    largest = std::max(largest, double{window.*null});
    for (const float x : window.*logits) largest = std::max(largest, double{x});
  }
  double sum = 0;
  for (const SpanLogits& window : windows) {
    sum += std::exp(window.*null - largest);
    for (const float x : window.*logits) sum += std::exp(x - largest);
  }
  return largest + std::log(sum);
}

void check_window(const SpanLogits& window) {
  const float null[] = {window.null_start, window.null_end};
  for (const std::span<const float> logits :
       {std::span<const float>(window.start_L), std::span<const float>(window.end_L), std::span<const float>(null)})
    check_finite(logits);
}

// The best pairs of one window, best first; ties by position.
std::vector<TokenSpan> best_of(const SpanLogits& window, size_t w, const SpanRules& rules, double log_sums) {
  std::vector<TokenSpan> spans;
  const auto is_better = [](const TokenSpan& a, const TokenSpan& b) {
    if (a.logit != b.logit) return a.logit > b.logit;
    return a.first_token != b.first_token ? a.first_token < b.first_token : a.last_token < b.last_token;
  };
  const size_t tokens = window.start_L.size();
  for (size_t first = 0; first < tokens; ++first) {
    for (size_t last = first; last < std::min(tokens, first + rules.max_answer_tokens); ++last) {
      const double logit = double{window.start_L[first]} + double{window.end_L[last]};
      const TokenSpan span{w, first, last, std::exp(logit - log_sums), logit};
      if (spans.size() == rules.count && !is_better(span, spans.front())) continue;
      if (spans.size() == rules.count) {
        std::pop_heap(spans.begin(), spans.end(), is_better);
        spans.pop_back();
      }
      spans.push_back(span);
      std::push_heap(spans.begin(), spans.end(), is_better);
    }
  }
  std::sort_heap(spans.begin(), spans.end(), is_better);
  return spans;
}

}  // namespace

SpanCandidates find_spans(std::span<const SpanLogits> windows, const SpanRules& rules) {
  if (windows.empty()) throw Error(ErrorCode::kInput, "context", "expected at least one window, got none");
  for (const SpanLogits& window : windows) check_window(window);
  const auto log_sums_of = [](std::span<const SpanLogits> some) {
    return log_sum(some, &SpanLogits::start_L, &SpanLogits::null_start) +
           log_sum(some, &SpanLogits::end_L, &SpanLogits::null_end);
  };
  const double all = log_sums_of(windows);
  SpanCandidates result;
  for (size_t w = 0; w < windows.size(); ++w) {
    const double log_sums = rules.normalizes_windows ? log_sums_of(windows.subspan(w, 1)) : all;
    const std::vector<TokenSpan> best = best_of(windows[w], w, rules, log_sums);
    result.spans.insert(result.spans.end(), best.begin(), best.end());
    const double null_logit = double{windows[w].null_start} + double{windows[w].null_end};
    const double null_score = std::exp(null_logit - log_sums);
    if (w == 0 || null_logit < result.null_logit) result.null_logit = null_logit;
    if (w == 0 || null_score < result.null_score) result.null_score = null_score;
  }
  return result;
}

}  // namespace deberta

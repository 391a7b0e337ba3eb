// Extends spans to whole words and merges equal answers.
#include "decode/span_answers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "text/unicode/unicode.h"

namespace deberta {
namespace {

std::string lower(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    append_utf8(out, to_lower(point.value));
    at += point.size_bytes;
  }
  return out;
}

struct Candidate {
  SpanAnswer answer;
  double score = 0;
  std::string key;
};

// The start of the code point before `at` (> 0).
uint32_t step_back(std::string_view text, uint32_t at) {
  do --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

// To the surrounding white space, within `limits` in bytes.
void extend_to_words(std::string_view context, Offset limits, Offset& bytes, Offset& chars) {
  while (bytes.begin > limits.begin) {
    const uint32_t before = step_back(context, bytes.begin);
    if (is_white_space(decode_utf8(context, before).value)) break;
    bytes.begin = before;
    --chars.begin;
  }
  while (bytes.end < limits.end) {
    const CodePoint point = decode_utf8(context, bytes.end);
    if (is_white_space(point.value)) break;
    bytes.end += point.size_bytes;
    ++chars.end;
  }
}

// The white space before the answer, if it belongs to the answer's first piece; for whole words, to the word's first
// piece within the window, perhaps the word-start mark alone.
std::string_view space_before(std::string_view context, const Encoding& window, size_t first, Offset bytes,
                              const SpanAnswerRules& rules) {
  if (bytes.begin == 0) return {};
  if (rules.aligns_to_words) {
    first = second_text_begin(window);
    while (window.bytes[first].begin < bytes.begin) ++first;  // a word may begin with what is read as nothing
  }
  if (!rules.takes_space(window.ids[first])) return {};
  const uint32_t before = step_back(context, bytes.begin);
  const bool is_space = is_white_space(decode_utf8(context, before).value);
  return is_space ? context.substr(before, bytes.begin - before) : std::string_view{};
}

Candidate to_candidate(std::string_view context, const Encoding& window, const TokenSpan& span,
                       const SpanAnswerRules& rules) {
  const size_t begin = second_text_begin(window);
  const size_t first = begin + span.first_token, last = begin + span.last_token;
  Offset bytes{window.bytes[first].begin, window.bytes[last].end};
  Offset chars{window.chars[first].begin, window.chars[last].end};
  const size_t last_of_window = window.size() - 2;  // before [SEP]
  const Offset limits = rules.as_transformers
                            ? Offset{window.bytes[begin].begin, window.bytes[last_of_window].end}
                            : Offset{0, static_cast<uint32_t>(context.size())};  // even beyond the window's edge
  if (rules.aligns_to_words) extend_to_words(context, limits, bytes, chars);
  const std::string_view text = context.substr(bytes.begin, bytes.end - bytes.begin);
  std::string key = lower(text);
  if (rules.as_transformers) key.insert(0, space_before(context, window, first, bytes, rules));
  return {{std::string(text), 0, static_cast<float>(span.logit), chars, bytes}, span.score, std::move(key)};
}

std::vector<Candidate> merge_equal(std::vector<Candidate> candidates) {
  std::vector<Candidate> merged;
  for (Candidate& candidate : candidates) {
    const auto same =
        std::find_if(merged.begin(), merged.end(), [&](const Candidate& c) { return c.key == candidate.key; });
    if (same == merged.end()) {
      merged.push_back(std::move(candidate));
    } else {
      same->score += candidate.score;
    }
  }
  return merged;
}

// Inserts "no answer": by score or, with a threshold, before or after the best span.
void add_none(const SpanCandidates& candidates, const SpanAnswerRules& rules, std::vector<Candidate>& sorted) {
  const Candidate none{{{}, 0, static_cast<float>(candidates.null_logit), {}, {}}, candidates.null_score, {}};
  auto position = std::find_if(sorted.begin(), sorted.end(), [&](const Candidate& c) { return c.score < none.score; });
  if (rules.null_threshold && !sorted.empty()) {
    double best = sorted.front().answer.logit;
    for (const Candidate& candidate : sorted) best = std::max(best, double{candidate.answer.logit});
    const bool is_first = candidates.null_logit - best > *rules.null_threshold;
    position = is_first ? sorted.begin() : std::max(position, sorted.begin() + 1);
  }
  sorted.insert(position, none);
}

}  // namespace

size_t second_text_begin(const Encoding& pair) {
  const auto first = std::find(pair.type_ids.begin(), pair.type_ids.end(), 1);
  return static_cast<size_t>(first - pair.type_ids.begin());
}

std::vector<SpanAnswer> span_answers(std::string_view context, std::span<const Encoding> windows,
                                     const SpanCandidates& candidates, const SpanAnswerRules& rules) {
  std::vector<Candidate> all;
  for (const TokenSpan& span : candidates.spans)
    all.push_back(to_candidate(context, windows[span.window], span, rules));
  const auto is_likelier = [](const Candidate& a, const Candidate& b) { return a.score > b.score; };
  if (!rules.as_transformers) std::stable_sort(all.begin(), all.end(), is_likelier);
  if (rules.merges_equal) all = merge_equal(std::move(all));
  std::stable_sort(all.begin(), all.end(), is_likelier);
  if (rules.allows_none) add_none(candidates, rules, all);
  std::vector<SpanAnswer> answers;
  for (Candidate& candidate : all) {
    if (answers.size() == rules.count) break;
    candidate.answer.score = static_cast<float>(candidate.score);
    answers.push_back(std::move(candidate.answer));
  }
  return answers;
}

}  // namespace deberta

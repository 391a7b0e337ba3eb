// Thresholds are compared as the library compares them: probabilities of ends with the threshold in single precision.
#include "decode/entity_candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "deberta/error.h"
#include "kernels/entity_scores.h"

namespace deberta {
namespace {

float probability_of(float logit) {
  return static_cast<float>(1 / (1 + std::exp(-double{logit})));
}

bool is_above(float probability, double threshold) {
  return probability > static_cast<float>(threshold);
}

uint32_t to_word(size_t word) {
  return static_cast<uint32_t>(word);
}

// One label along the words. A walk over its ends takes as many steps as there are candidates.
class LabelColumn {
 public:
  LabelColumn(std::span<const float> logits_WC3, size_t words, size_t labels, size_t label, double threshold)
      : label_(label), threshold_(threshold), next_ends_(words + 1, words), stops_(words + 1, words) {
    const auto probability = [&](size_t word, size_t which) {
      return probability_of(logits_WC3[(word * labels + label) * kWordScores + which]);
    };
    begins_.resize(words);
    ends_.resize(words);
    least_insides_.resize(words);
    for (size_t word = words; word-- > 0;) {
      begins_[word] = probability(word, 0);
      ends_[word] = probability(word, 1);
      const float inside = probability(word, 2);
      const bool ends_here = is_above(ends_[word], threshold), is_last = word + 1 == words;
      next_ends_[word] = ends_here ? word : next_ends_[word + 1];
      stops_[word] = double{inside} < threshold ? word : stops_[word + 1];
      least_insides_[word] = ends_here || is_last ? inside : std::min(inside, least_insides_[word + 1]);
    }
  }

  // The candidates that begin with this word: as far as the inside goes on.
  void add_from(size_t first, std::vector<EntityCandidate>& candidates) const {
    if (!is_above(begins_[first], threshold_)) return;
    float least = begins_[first];
    size_t from = first;
    for (size_t last = next_ends_[first]; last < stops_[first]; last = next_ends_[from]) {
      least = std::min(least, least_insides_[from]);
      candidates.push_back({to_word(first), to_word(last), to_word(label_), std::min(least, ends_[last])});
      from = last + 1;
    }
  }

 private:
  size_t label_;
  double threshold_;
  std::vector<float> begins_, ends_;
  std::vector<size_t> next_ends_;     // from a word on, the first one that an entity may end with; the end: none
  std::vector<size_t> stops_;         // from a word on, the first one that lies in no entity
  std::vector<float> least_insides_;  // from a word to its next end
};

// The greatest value of a range of places.
class RangeGreatest {
 public:
  explicit RangeGreatest(size_t places) : places_(places), values_(2 * places, -1) {}

  void raise(size_t place, int64_t value) {
    for (size_t node = place + places_; node > 0; node /= 2) values_[node] = std::max(values_[node], value);
  }
  // Of the places begin .. end - 1; -1: nothing there.
  int64_t of(size_t begin, size_t end) const {
    int64_t greatest = -1;
    for (begin += places_, end += places_; begin < end; begin /= 2, end /= 2) {
      if (begin % 2 != 0) greatest = std::max(greatest, values_[begin++]);
      if (end % 2 != 0) greatest = std::max(greatest, values_[--end]);
    }
    return greatest;
  }

 private:
  size_t places_;
  std::vector<int64_t> values_;  // a binary tree, the places its leaves
};

// The spans that stand so far, none of which overlaps another.
class FlatSpans {
 public:
  bool overlap(const EntityCandidate& span) const {
    const auto after = lasts_.upper_bound(span.last);
    return after != lasts_.begin() && std::prev(after)->second >= span.first;
  }
  void add(const EntityCandidate& span) { lasts_.emplace(span.first, span.last); }

 private:
  std::map<uint32_t, uint32_t> lasts_;  // by first word
};

// Those of which none crosses another: one within, or apart.
class NestedSpans {
 public:
  explicit NestedSpans(size_t words) : words_(words), lasts_(words), from_ends_(words) {}

  // A span from within that ends behind it, or one from before that ends within it.
  bool overlap(const EntityCandidate& span) const {
    if (lasts_.of(span.first + 1, span.last + 1) > int64_t{span.last}) return true;
    return from_ends_.of(span.first, span.last) > static_cast<int64_t>(words_) - span.first;
  }
  void add(const EntityCandidate& span) {
    lasts_.raise(span.first, span.last);
    from_ends_.raise(span.last, static_cast<int64_t>(words_) - span.first);
  }

 private:
  size_t words_;
  RangeGreatest lasts_;      // the farthest last word, by first word
  RangeGreatest from_ends_;  // words less the least first word, by last word
};

template <class Spans>
std::vector<EntityCandidate> choose_among(const std::vector<EntityCandidate>& best_first, bool is_multi_label,
                                          Spans spans) {
  std::set<std::pair<uint32_t, uint32_t>> there;
  std::vector<EntityCandidate> chosen;
  for (const EntityCandidate& candidate : best_first) {
    const bool is_there = there.contains({candidate.first, candidate.last});
    if (is_there ? !is_multi_label : spans.overlap(candidate)) continue;
    chosen.push_back(candidate);
    if (is_there) continue;
    there.emplace(candidate.first, candidate.last);
    spans.add(candidate);
  }
  return chosen;
}

// Equal ones stay in their order. Places are sorted: of a type of ours, std would export a function from the library.
template <class Before>
std::vector<EntityCandidate> sorted(const std::vector<EntityCandidate>& all, const Before& before) {
  std::vector<size_t> places(all.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::ranges::stable_sort(places, [&](size_t a, size_t b) { return before(all[a], all[b]); });
  std::vector<EntityCandidate> in_order;
  in_order.reserve(all.size());
  for (const size_t place : places) in_order.push_back(all[place]);
  return in_order;
}

}  // namespace

void check_candidates(size_t count, size_t most) {
  if (count <= most) return;
  throw Error(ErrorCode::kInput,
              {{.where = "text",
                .message = fmt::format("expected at most {} spans above the threshold, got more", most),
                .argument = "threshold",
                .limit = most,
                .remedies = {{"raise {}", "threshold"}}}});
}

std::vector<EntityCandidate> span_candidates(std::span<const float> logits_SC, size_t words, size_t width,
                                             std::span<const double> thresholds_C, size_t most) {
  std::vector<EntityCandidate> candidates;
  size_t at = 0;
  for (size_t first = 0; first < words; ++first) {
    for (size_t last = first; last < std::min(words, first + width); ++last) {
      for (size_t label = 0; label < thresholds_C.size(); ++label) {
        const float probability = probability_of(logits_SC[at++]);
        if (is_above(probability, thresholds_C[label]))
          candidates.push_back({to_word(first), to_word(last), to_word(label), probability});
      }
    }
    check_candidates(candidates.size(), most);
  }
  return candidates;
}

std::vector<EntityCandidate> word_candidates(std::span<const float> logits_WC3, size_t words,
                                             std::span<const double> thresholds_C, size_t most) {
  const size_t labels = thresholds_C.size();
  std::vector<LabelColumn> columns;
  for (size_t label = 0; label < labels; ++label)
    columns.emplace_back(logits_WC3, words, labels, label, thresholds_C[label]);
  std::vector<EntityCandidate> candidates;
  for (size_t first = 0; first < words; ++first) {
    for (const LabelColumn& column : columns) {
      column.add_from(first, candidates);
      check_candidates(candidates.size(), most);
    }
  }
  return candidates;
}

std::vector<EntityCandidate> merge_candidates(std::vector<EntityCandidate> candidates, CandidateOrder order) {
  const auto key = [&](const EntityCandidate& c) {
    return order == CandidateOrder::kLastThenLabel ? std::tuple(c.first, c.last, c.label)
                                                   : std::tuple(c.first, c.label, c.last);
  };
  std::ranges::sort(candidates, [&](const EntityCandidate& a, const EntityCandidate& b) {
    return std::tuple(key(a), -a.score) < std::tuple(key(b), -b.score);
  });
  const auto is_same = [&](const EntityCandidate& a, const EntityCandidate& b) { return key(a) == key(b); };
  candidates.erase(std::unique(candidates.begin(), candidates.end(), is_same), candidates.end());
  return candidates;
}

std::vector<EntityCandidate> choose_entities(std::vector<EntityCandidate> candidates, const OverlapRules& rules) {
  size_t words = 0;
  for (const EntityCandidate& candidate : candidates) words = std::max<size_t>(words, candidate.last + size_t{1});
  candidates = sorted(candidates, [](const auto& a, const auto& b) { return a.score > b.score; });
  std::vector<EntityCandidate> chosen = rules.is_nested
                                            ? choose_among(candidates, rules.is_multi_label, NestedSpans(words))
                                            : choose_among(candidates, rules.is_multi_label, FlatSpans());
  return sorted(chosen, [](const auto& a, const auto& b) { return a.first < b.first; });
}

}  // namespace deberta

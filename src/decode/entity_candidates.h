// From the logits of a GLiNER model to entities (model-heads.md#entities): which spans are candidates, and which of
// them stand. Pure functions on numbers of words and labels.
// W words  C labels  S spans, as kernels/entity_scores.h counts them
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace deberta {

// A span of words with a label; `last` is its last word.
struct EntityCandidate {
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t label = 0;
  float score = 0;  // probability
  bool operator==(const EntityCandidate&) const = default;
};

// More in one text are refused: choosing among them is not linear in their number.
inline constexpr size_t kMostCandidates = size_t{1} << 22;

// Throws kInput, naming the threshold, for more than `most` candidates.
void check_candidates(size_t count, size_t most = kMostCandidates);

// The spans whose probability is above the threshold of the label, in the order of their first word, last word, label.
// `width`: words of the longest span. Throws as check_candidates().
std::vector<EntityCandidate> span_candidates(std::span<const float> logits_SC, size_t words, size_t width,
                                             std::span<const double> thresholds_C, size_t most = kMostCandidates);

// The spans that begin and end with probabilities above the threshold, and on whose words none of an inside is below
// it; the score is the least of all. In the order of first word, label, last word. Throws as check_candidates().
std::vector<EntityCandidate> word_candidates(std::span<const float> logits_WC3, size_t words,
                                             std::span<const double> thresholds_C, size_t most = kMostCandidates);

// Candidates of several windows as those of one text: of the same span and label the best one, in the order that
// span_candidates() gives, or word_candidates().
enum class CandidateOrder { kLastThenLabel, kLabelThenLast };
std::vector<EntityCandidate> merge_candidates(std::vector<EntityCandidate> candidates, CandidateOrder order);

struct OverlapRules {
  bool is_nested = false;       // a span may lie within another, but not cross its end
  bool is_multi_label = false;  // a span may have several labels
};

// The best candidate, then each that overlaps no better one, of equals the first; in the order of first words.
std::vector<EntityCandidate> choose_entities(std::vector<EntityCandidate> candidates, const OverlapRules& rules);

}  // namespace deberta

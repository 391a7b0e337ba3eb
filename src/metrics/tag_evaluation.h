// Metrics of sentences of tagged words: entities, as the evaluation of CoNLL defines them (Tjong Kim Sang
// 2000), where tags that break the scheme end or start an entity as they must.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/tags.h"
#include "metrics/evaluation.h"

namespace deberta {

// An entity of consecutive words, the last one included.
struct TaggedEntity {
  std::string type;
  size_t first = 0;
  size_t last = 0;
  bool operator==(const TaggedEntity&) const = default;
};
// The entities in the tags of a sentence, each of which is in `set` (config/tags.h).
std::vector<TaggedEntity> tagged_entities(const std::vector<std::string>& tags, const TagSet& set);

struct TagOutcome {
  std::vector<std::string> gold, predicted;  // one per word
  // Entities that were found in another way than by tags of words, in the order of their words; a last word of
  // SIZE_MAX: not of whole words.
  std::optional<std::vector<TaggedEntity>> entities = {};
};
// The set of all gold and predicted tags.
TagSet tag_set_of(std::span<const TagOutcome> outcomes);

// precision, recall and f1 of entities over all types, accuracy of tags, in the order of `metrics`; then precision,
// recall, f1 and support of each type: "f1/PER". Samples are drawn from sentences.
std::unique_ptr<Evaluation> make_evaluation(const std::vector<TagOutcome>& outcomes, std::vector<std::string> metrics);

}  // namespace deberta

// The head for ReCoRD: which of a passage's entities a query's @placeholder means. Used by `eval` only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "deberta/pipeline.h"
#include "deberta/tokenizer.h"
#include "pipeline/plan.h"

namespace deberta {

struct EntityQuery {
  std::string_view passage;
  std::string_view query;            // with @placeholder
  std::span<const Offset> entities;  // bytes of the passage
};

// A part of the passage followed by the query, and the entities that it holds as a whole.
struct EntityWindow {
  struct Held {
    size_t entity = 0;
    std::vector<int32_t> tokens;  // indices in the sequence
  };
  Encoding sequence;
  std::vector<Held> entities;
};

// The passage in windows of max_tokens that share rules.stride tokens (the original: 512 and 256), one after another
// until one begins past its end, as in the original. Throws kInput for a query without @placeholder and for an entity
// outside the passage.
std::vector<EntityWindow> entity_windows(const Tokenizer& tokenizer, const EntityQuery& query,
                                         const EncodingRules& rules);

struct EntityScores {
  std::vector<float> scores;  // per entity: exp of the mean over its windows of log sigmoid, less 1/2
  size_t tokens = 0;
};

// An entity counts in the windows that hold all of it. One that no window holds has score -1/2. Throws kTask unless the
// checkpoint has the original token head with one class, and what entity_windows() throws.
Planned<EntityScores> plan_entities(const Pipeline& pipeline, std::span<const EntityQuery> queries,
                                    const EncodingRules& rules);
std::vector<EntityScores> score_entities(const Pipeline& pipeline, std::span<const EntityQuery> queries,
                                         const EncodingRules& rules);

}  // namespace deberta

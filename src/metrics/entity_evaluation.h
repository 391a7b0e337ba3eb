// Metrics of texts with entities: one is right if a text has it at the same place with the same label. They may
// overlap.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "data/entity_rows.h"
#include "metrics/evaluation.h"

namespace deberta {

struct EntityOutcome {
  std::vector<LabelledSpan> gold, predicted;  // in order_entities()
};

// precision, recall and f1 over all labels, in the order of `metrics`; then precision, recall, f1 and support of each
// label: "f1/person". Samples are drawn from texts.
std::unique_ptr<Evaluation> make_evaluation(const std::vector<EntityOutcome>& outcomes,
                                            std::vector<std::string> metrics);

}  // namespace deberta

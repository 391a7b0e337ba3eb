// Sequence classification and regression: texts or pairs in, labels with scores out.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "heads/batches.h"
#include "heads/model_directory.h"
#include "tasks/classification.h"

namespace deberta {

struct SequenceOptions {
  EncodingRules rules;
  std::optional<ScoreFunction> function;  // none: what the configuration asks for
  size_t top_k = 0;                       // 0: the best label, or all of a multi-label model
};

struct SequenceAnswer {
  std::vector<LabelScore> labels;  // best first
  std::vector<float> scores;       // of all classes, in the model's order
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

// Throws kTask when the checkpoint has no sequence head, and what encoding and the model throw.
std::vector<SequenceAnswer> classify(const ModelDirectory& directory, std::span<const TextInput> inputs,
                                     const SequenceOptions& options = {});

}  // namespace deberta

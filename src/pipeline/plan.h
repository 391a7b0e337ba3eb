// A task in three parts: the sequences that it runs, what it takes of each one's values, and its answers. A function of
// the pipeline runs its plan at once; a server runs sequences of many plans together, with the same bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "deberta/pipeline.h"
#include "pipeline/batches.h"

namespace deberta {

struct SequencePlan {
  std::span<const Encoding> sequences;    // they live as long as `take`
  std::vector<std::vector<size_t>> rows;  // of a language model: the tokens of each sequence to give logits for
  std::optional<int32_t> layer;           // hidden states of this layer instead of logits
  // Values of one sequence: [1, C] of a sequence head, [L, C] of a token head, [rows, V], or [L, D] of a layer. Called
  // for each sequence that has values, in any order, by one thread at a time; again where a pack is run again.
  std::function<void(size_t sequence, std::span<const float> values)> take;
};

// Calls plan.take for every sequence, in order, from packs of at most `batch_tokens`. Throws what the model throws.
void run_plan(const Model& model, const SequencePlan& plan, size_t batch_tokens);

// Runs sequences[i] of plans[i] in one pack. Their models, and whether they ask for rows and which layer, are the same.
struct PlannedSequence {
  const SequencePlan* plan;
  size_t sequence;
};
void run_pack(const Model& model, std::span<const PlannedSequence> pack, ForwardResult& result);

template <class Answer>
struct Planned {
  SequencePlan plan;
  std::function<std::vector<Answer>()> finish;  // after all sequences: an answer for each input
};

template <class Answer>
std::vector<Answer> run_planned(const Pipeline& pipeline, const Planned<Answer>& planned, const EncodingRules& rules) {
  run_plan(pipeline.model, planned.plan, rules.batch_tokens);
  return planned.finish();
}

// The plan of tasks with a sequence head.
struct SequenceLogits {
  Sequences sequences;
  std::vector<float> logits_BC;
};
struct LogitsPlan {
  SequencePlan plan;
  std::shared_ptr<SequenceLogits> found;
};
LogitsPlan plan_logits(const Model& model, Sequences sequences);

// ---- the tasks of deberta/pipeline.h; they throw what those throw before the model runs. The pipeline must outlive
// the plan; inputs and options are read here, and copied where they are needed later.

Planned<SequenceAnswer> plan_classify(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                      const SequenceOptions& options);
Planned<EntailmentAnswer> plan_nli(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                   const EntailmentOptions& options);
Planned<ZeroShotAnswer> plan_zero_shot(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                       const ZeroShotOptions& options);
Planned<RankAnswer> plan_rerank(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                const RankOptions& options);
Planned<ChoiceAnswer> plan_choose(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                  const ChoiceOptions& options);
Planned<QuestionAnswer> plan_qa(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                const QuestionOptions& options);
Planned<TokenAnswer> plan_ner(const Pipeline& pipeline, std::span<const TextInput> inputs, const TokenOptions& options);
Planned<FillAnswer> plan_fill(const Pipeline& pipeline, std::span<const TextInput> inputs, const FillOptions& options);
Planned<EmbeddingAnswer> plan_embed(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                    const EmbeddingOptions& options);
Planned<SimilarityAnswer> plan_similarity(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                          const SimilarityOptions& options);
Planned<ReplacedAnswer> plan_detect(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                    const EncodingRules& rules);

}  // namespace deberta

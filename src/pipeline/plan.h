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
#include "pipeline/encodings.h"

namespace deberta {

// The sequences of a plan. Either they exist from the start, or each is created when its pack is: scoring a text of n
// tokens runs n copies of it, which must not exist all at once.
class SequenceSource {
 public:
  using Add = std::function<void(size_t sequence, Batch& pack)>;  // appends that sequence to the pack

  SequenceSource() = default;
  // `encodings` are the sequences. They live as long as the plan.
  explicit SequenceSource(std::span<const Encoding> encodings);
  // Sequence i has tokens[i] tokens; `add` creates it from `encodings`, which live as long as the plan.
  SequenceSource(std::span<const Encoding> encodings, std::vector<size_t> tokens, Add add);

  size_t size() const { return tokens_.size(); }
  std::span<const size_t> tokens() const { return tokens_; }          // tokens of each sequence
  std::span<const Encoding> encodings() const { return encodings_; }  // what is there until the plan ends
  bool makes_sequences() const { return static_cast<bool>(add_); }    // which are not among `encodings`
  void add(size_t sequence, Batch& pack) const;

 private:
  std::span<const Encoding> encodings_;
  std::vector<size_t> tokens_;
  Add add_;
};

// What a head of entities reads of one sequence: its labels and words, their rows counted within the sequence.
struct EntityRequest {
  LabelledWords words;
  size_t rows = 0;  // of logits
};

struct SequencePlan {
  SequenceSource sequences;
  // What is requested for each sequence, while the plan lives. None of them: the head's logits of the sequence.
  std::function<std::span<const size_t>(size_t sequence)> rows;  // language models: logits of these tokens
  std::function<std::span<const std::vector<int32_t>>(size_t sequence)>
      groups;                                                     // a row of logits for the tokens of each
  std::function<const EntityRequest&(size_t sequence)> entities;  // the logits of the labels for the words
  std::optional<int32_t> layer;                                   // hidden states of this layer
  size_t most_in_pack = SIZE_MAX;                                 // sequences that run together, also with others
  // Values of one sequence: [1, C] of a sequence head, [L, C] of a token head, [rows, V], [groups, C], those of
  // entities (ForwardResult::logits), or [L, D] of a layer. Called for each sequence that has values, in any order, by
  // one thread at a time; again where a pack is run again.
  std::function<void(size_t sequence, std::span<const float> values)> take;
};

// Plans of one kind request values of the same form: their sequences can share a pack.
uint64_t kind_of(const SequencePlan& plan);

// Calls plan.take for every sequence, in order, from packs of at most `batch_tokens`. Only the sequences of one pack
// are created at a time. Throws what the model throws.
void run_plan(const Model& model, const SequencePlan& plan, size_t batch_tokens);

// Runs sequences[i] of plans[i], whose models and kinds are the same: in one pack, or in as many as their plans'
// most_in_pack needs.
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
  std::shared_ptr<SequenceLogits> results;
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
Planned<TokenAnswer> plan_extract(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                  const ExtractOptions& options);
Planned<FillAnswer> plan_fill(const Pipeline& pipeline, std::span<const TextInput> inputs, const FillOptions& options);
Planned<TextScoreAnswer> plan_score(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                    const EncodingRules& rules);
Planned<EmbeddingAnswer> plan_embed(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                    const EmbeddingOptions& options);
Planned<SimilarityAnswer> plan_similarity(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                          const SimilarityOptions& options);
Planned<ReplacedAnswer> plan_detect(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                    const EncodingRules& rules);

}  // namespace deberta

// A query with each of its documents through a head with one class, best first.
#include "deberta/pipeline.h"

#include <algorithm>

#include "deberta/error.h"
#include "decode/classification.h"
#include "pipeline/plan.h"
#include "pipeline/requirements.h"
#include "pipeline/sequence_forms.h"

namespace deberta {
namespace {

void check_ranking_head(const Model& model) {
  check_sequence_head("rerank", model);
  if (model.labels() == 1) return;
  throw Error(ErrorCode::kTask,
              {{.where = "rerank",
                .message = "expected a head with one class, got " + std::to_string(model.labels()),
                .remedies = {{"a cross-encoder or reward model has one, {} scores the classes", "classify()"}}}});
}

std::vector<RankAnswer> answers_of(const SequenceLogits& results, ScoreFunction function, size_t top_n) {
  const Sequences& sequences = results.sequences;
  const std::vector<float>& logits = results.logits_BC;
  const std::vector<float> scores = scores_of_logits(logits, function);
  std::vector<RankAnswer> answers;
  for (size_t i = 0; i < sequences.inputs(); ++i) {
    RankAnswer answer{{}, sequences.tokens_of(i), sequences.cut_tokens_of(i)};
    for (size_t at = sequences.starts[i]; at < sequences.starts[i + 1]; ++at)
      answer.documents.push_back({at - sequences.starts[i], scores[at], logits[at], sequences.all[at].cut_tokens});
    std::stable_sort(answer.documents.begin(), answer.documents.end(),
                     [](const RankedDocument& a, const RankedDocument& b) { return a.logit > b.logit; });
    if (top_n > 0 && top_n < answer.documents.size()) answer.documents.resize(top_n);
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace

SequenceRules RankOptions::sequence_rules() const {
  return {.encoding = rules, .form = SequenceForm::kDocuments};
}

std::vector<Encoding> encode_documents(const Tokenizer& tokenizer, const TextInput& input, const SequenceRules& rules) {
  if (input.items.empty()) throw Error(ErrorCode::kInput, "documents", "expected at least one, got none");
  std::vector<Encoding> encodings;
  for (const std::string& document : input.items)
    encodings.push_back(encode_one(tokenizer, {input.text, document}, rules.encoding));
  return encodings;
}

Planned<RankAnswer> plan_rerank(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                const RankOptions& options) {
  check_ranking_head(pipeline.model);
  LogitsPlan logits =
      plan_logits(pipeline.model, gather_sequences(pipeline.tokenizer, inputs, options.sequence_rules()));
  const ScoreFunction function = options.function ? *options.function : score_function_of(pipeline.config, 1);
  return {std::move(logits.plan), [results = std::move(logits.results), function, top_n = options.top_n] {
            return answers_of(*results, function, top_n);
          }};
}

std::vector<RankAnswer> rerank(const Pipeline& pipeline, std::span<const TextInput> inputs,
                               const RankOptions& options) {
  return run_planned(pipeline, plan_rerank(pipeline, inputs, options), options.rules);
}

}  // namespace deberta

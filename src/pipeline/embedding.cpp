// Encode, pack, forward to one layer, pool.
#include "deberta/pipeline.h"

#include <fmt/core.h>

#include <memory>

#include "deberta/error.h"
#include "decode/pooling.h"
#include "pipeline/plan.h"
#include "pipeline/sentence_modules.h"
#include "pipeline/sequence_forms.h"

namespace deberta {
namespace {

int32_t layer_of(int64_t layer, int64_t layers) {
  const int64_t chosen = layer < 0 ? layers + 1 + layer : layer;
  if (chosen < 0 || chosen > layers) {
    throw Error(ErrorCode::kInput,
                {{.message = fmt::format("expected a layer in {}..{}, got {}", -layers - 1, layers, layer),
                  .argument = "layer"}});
  }
  return static_cast<int32_t>(chosen);
}

// What makes the one vector of a text: the modules of the folder, or the pooling that was asked for.
SentenceModules modules_of(const Pipeline& pipeline, const EmbeddingOptions& options) {
  SentenceModules modules;
  if (!options.pooling) modules = pipeline.sentence;
  if (!modules.refusal.empty())
    throw Error(ErrorCode::kUnsupported, {{.where = "modules.json",
                                           .message = modules.refusal,
                                           .argument = "pooling",
                                           .remedies = {{"choose another way with {}", "pooling"}}}});
  if (modules.poolings.empty()) modules.poolings = {options.pooling.value_or(Pooling::kMean)};
  if (options.normalizes) modules.layers.emplace_back();
  return modules;
}

// With the folder's prompt, if its modules are used and the caller passes none.
EncodingRules rules_of(const Pipeline& pipeline, const EmbeddingOptions& options) {
  EncodingRules rules = options.rules;
  if (!rules.prompt && options.pools && !options.pooling) rules.prompt = pipeline.sentence.prompt;
  return rules;
}

std::vector<float> token_vectors(std::span<const float> rows_LD, size_t columns, bool normalizes) {
  std::vector<float> vectors(rows_LD.begin(), rows_LD.end());
  for (size_t at = 0; normalizes && at < vectors.size(); at += columns)
    normalize(std::span(vectors).subspan(at, columns));
  return vectors;
}

}  // namespace

size_t embedding_columns(const Pipeline& pipeline, const EmbeddingOptions& options) {
  const auto columns = static_cast<size_t>(pipeline.config.hidden_size);
  return options.pools ? columns_after(modules_of(pipeline, options), columns) : columns;
}

namespace {

struct Embedded {
  std::vector<Encoding> encodings;
  std::vector<EmbeddingAnswer> answers;
};
struct EmbeddingPlan {
  SequencePlan plan;
  std::shared_ptr<Embedded> embedded;
};

EmbeddingPlan plan_vectors(const Pipeline& pipeline, std::vector<Encoding> encodings, const EmbeddingOptions& options) {
  const auto columns = static_cast<size_t>(pipeline.config.hidden_size);
  SentenceModules modules = options.pools ? modules_of(pipeline, options) : SentenceModules();
  auto embedded = std::make_shared<Embedded>(Embedded{std::move(encodings), {}});
  embedded->answers.resize(embedded->encodings.size());
  SequencePlan plan;
  plan.sequences = SequenceSource(embedded->encodings);
  plan.layer = layer_of(options.layer, pipeline.config.num_hidden_layers);
  plan.take = [embedded, columns, modules = std::move(modules), pools = options.pools, normalizes = options.normalizes](
                  size_t sequence, std::span<const float> rows_LD) {
    const Encoding& encoding = embedded->encodings[sequence];
    std::vector<float> vectors =
        pools ? sentence_vector(rows_LD, columns, modules) : token_vectors(rows_LD, columns, normalizes);
    embedded->answers[sequence] = {std::move(vectors), encoding.size(), encoding.cut_tokens};
  };
  return {std::move(plan), std::move(embedded)};
}

}  // namespace

Planned<EmbeddingAnswer> plan_embed(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                    const EmbeddingOptions& options) {
  EmbeddingPlan vectors =
      plan_vectors(pipeline, encode_inputs(pipeline.tokenizer, inputs, rules_of(pipeline, options)), options);
  return {std::move(vectors.plan), [embedded = std::move(vectors.embedded)] { return std::move(embedded->answers); }};
}

std::vector<EmbeddingAnswer> embed(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                   const EmbeddingOptions& options) {
  return run_planned(pipeline, plan_embed(pipeline, inputs, options), options.rules);
}

SequenceRules SimilarityOptions::sequence_rules() const {
  return {.encoding = embedding.rules, .form = SequenceForm::kTexts};
}

std::vector<Encoding> encode_texts(const Tokenizer& tokenizer, const TextInput& input, const SequenceRules& rules) {
  const auto encode = [&](std::string_view text) { return encode_one(tokenizer, TextInput{text}, rules.encoding); };
  std::vector<Encoding> encodings{encode(input.text)};
  if (input.pair) encodings.push_back(encode(*input.pair));
  for (const std::string& item : input.items) encodings.push_back(encode(item));
  if (encodings.size() == 1) throw Error(ErrorCode::kInput, "text_pair", "expected a text to compare with, got none");
  return encodings;
}

namespace {

std::vector<SimilarityAnswer> cosines_of(const Sequences& sequences, const std::vector<EmbeddingAnswer>& embedded) {
  std::vector<SimilarityAnswer> answers;
  for (size_t i = 0; i < sequences.inputs(); ++i) {
    SimilarityAnswer answer{{}, sequences.tokens_of(i), sequences.cut_tokens_of(i)};
    const std::vector<float>& text = embedded[sequences.starts[i]].vectors;
    for (size_t at = sequences.starts[i] + 1; at < sequences.starts[i + 1]; ++at)
      answer.cosines.push_back(cosine(text, embedded[at].vectors));
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace

Planned<SimilarityAnswer> plan_similarity(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                          const SimilarityOptions& options) {
  if (!options.embedding.pools)
    throw Error(ErrorCode::kUsage, {{.message = "expected one vector per text, got none", .argument = "pooling"}});
  SimilarityOptions prompted = options;
  prompted.embedding.rules = rules_of(pipeline, options.embedding);
  Sequences sequences = gather_sequences(pipeline.tokenizer, inputs, prompted.sequence_rules());
  EmbeddingPlan vectors = plan_vectors(pipeline, sequences.all, options.embedding);
  return {std::move(vectors.plan), [embedded = std::move(vectors.embedded), sequences = std::move(sequences)] {
            return cosines_of(sequences, embedded->answers);
          }};
}

std::vector<SimilarityAnswer> similarity(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                         const SimilarityOptions& options) {
  return run_planned(pipeline, plan_similarity(pipeline, inputs, options), options.embedding.rules);
}

}  // namespace deberta

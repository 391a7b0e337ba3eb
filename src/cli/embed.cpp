// The verb `embed`: vectors of texts or of their tokens.
#include <fmt/core.h>

#include "base/log.h"
#include "cli/vector_file.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "decode/pooling.h"
#include "options/options.h"
#include "program/model_options.h"
#include "program/text_verb.h"
#include "rows/row_input.h"

namespace deberta::cli {
namespace {

EmbeddingOptions embedding_options(const Options& options) {
  EmbeddingOptions embedding;
  embedding.rules = encoding_rules(options);
  embedding.normalizes = options.flag("normalize");
  embedding.layer = options.integer("layer");
  const std::string& pooling = options.text("pooling");
  embedding.pools = pooling != "none";
  if (pooling == "cls") embedding.pooling = Pooling::kCls;
  if (pooling == "mean") embedding.pooling = Pooling::kMean;
  if (pooling == "max") embedding.pooling = Pooling::kMax;
  return embedding;
}

// The texts are cut where the folder says, unless the user says otherwise.
Options with_length_of(const SentenceModules& sentence, const Options& given) {
  if (given.is_given("max-tokens")) return given;
  if (sentence.max_tokens == 0) return with_text_limits(given);
  Options options = given;
  options.set("max-tokens", std::to_string(sentence.max_tokens), "sentence_bert_config.json");
  return options;
}

std::string describe(const SentenceLayer& layer) {
  switch (layer.kind) {
    case SentenceLayer::Kind::kNormalize:
      return "normalized";
    case SentenceLayer::Kind::kDense:
      return fmt::format("dense to {}{}", layer.outputs, layer.adds_input ? " with residual" : "");
    case SentenceLayer::Kind::kLayerNorm:
      return "layer norm";
    case SentenceLayer::Kind::kTruncate:
      return fmt::format("cut to {}", layer.outputs);
  }
  return {};
}

// How vectors are made decides what they mean: it is said whenever nobody asked for it.
void note_pooling(const Options& options, const SentenceModules& sentence) {
  if (sentence.poolings.empty()) {
    note(options, "note: the model does not say how to pool its tokens; using their mean (--pooling mean)");
    return;
  }
  std::string names = sentence.prompt.empty() ? "" : fmt::format("prompt {}, ", quote_json(sentence.prompt));
  size_t pooling_count = 0;
  for (const Pooling pooling : sentence.poolings)
    names += (pooling_count++ == 0 ? "" : " + ") + std::string(to_string(pooling));
  for (const SentenceLayer& layer : sentence.layers) names += ", " + describe(layer);
  note(options, fmt::format("note: pooling as modules.json says: {}", names));
}

Json to_json(std::span<const float> values) {
  return JsonArray(values.begin(), values.end());
}

// One line a vector: its values as cells of one column, so that the number of columns does not depend on the model.
RowAnswer to_answer(const EmbeddingAnswer& result, size_t columns, bool is_pooled, int digits) {
  RowAnswer answer{{}, result.tokens, result.cut_tokens};
  JsonArray rows;
  for (size_t at = 0; at < result.vectors.size(); at += columns) {
    const std::span<const float> vector = std::span(result.vectors).subspan(at, columns);
    std::string text;
    for (const float value : vector) text += (text.empty() ? "" : " ") + with_digits(cell(value).text, digits);
    answer.answer.lines.push_back({std::move(text)});
    rows.push_back(to_json(vector));
  }
  answer.answer.object = is_pooled ? JsonObject{{"embedding", std::move(rows.front())}}
                                   : JsonObject{{"token_embeddings", std::move(rows)}};
  return answer;
}

void check_output(const Options& options) {
  if (options.is_given("output-dtype") && !is_vector_file(options.text("output")))
    throw Error(ErrorCode::kUsage, "--output-dtype", "expected -o FILE.npy or -o FILE.safetensors as well");
  if (options.is_given("digits") && is_vector_file(options.text("output")))
    throw Error(ErrorCode::kUsage, "--digits", "expected answers as text, got -o " + options.text("output"));
}

// All vectors of all rows to one array. A bad row is an error: an array has no place for one.
int write_file(const Options& options, const Pipeline& pipeline, const EmbeddingOptions& embedding) {
  const DType dtype = dtype_of(options.text("output-dtype")).value();
  const std::string& path = options.text("output");
  Vectors vectors;
  vectors.columns = embedding_columns(pipeline, embedding);
  if (!embedding.pools) vectors.starts.push_back(0);
  check_vectors(path, vectors, dtype);
  const auto take = [&](std::span<const Row> rows) {
    const auto inputs = text_inputs(rows);
    for (const EmbeddingAnswer& result : embed(pipeline, inputs, embedding)) {
      vectors.values.insert(vectors.values.end(), result.vectors.begin(), result.vectors.end());
      if (!embedding.pools) vectors.starts.push_back(static_cast<int64_t>(vectors.values.size() / vectors.columns));
    }
  };
  const int code = collect_rows(options, take, row_encoder(pipeline.tokenizer, embedding.rules));
  if (code != 0) leave_unwritten(path);
  write_vectors(path, vectors, dtype);
  return 0;
}

int show_similarity(const Options& options, const Pipeline& pipeline, const EmbeddingOptions& embedding) {
  if (!embedding.pools)
    throw Error(ErrorCode::kUsage, "--pooling", "expected auto, cls, mean or max for --similarity, got none");
  if (is_vector_file(options.text("output")))
    throw Error(ErrorCode::kUsage, "--similarity", "expected answers as text, got -o " + options.text("output"));
  const SimilarityOptions similar{embedding};
  return run_text_verb(
      options, pipeline, {"similarity"},
      [&](std::span<const TextInput> inputs) { return similarity(pipeline, inputs, similar); },
      [](const Row&, const SimilarityAnswer& result) {
        const float cosine = result.cosines.front();
        return RowAnswer{{{{"similarity", cosine}}, {{cell(cosine)}}}, result.tokens, result.cut_tokens};
      },
      row_encoder(pipeline.tokenizer, similar));
}

}  // namespace

int run_embed(const Options& given) {
  check_output(given);
  const Pipeline pipeline = open_model(given);
  const Options options = with_length_of(pipeline.sentence, given);
  EmbeddingOptions embedding = embedding_options(options);
  if (embedding.pools && !embedding.pooling) embedding.rules.prompt = pipeline.sentence.prompt;
  embed(pipeline, {}, embedding);  // refuses a wrong layer before any row is read
  if (embedding.pools && !embedding.pooling) note_pooling(options, pipeline.sentence);
  if (options.flag("similarity")) return show_similarity(options, pipeline, embedding);
  if (is_vector_file(options.text("output"))) return write_file(options, pipeline, embedding);
  const size_t columns = embedding_columns(pipeline, embedding);
  return run_text_verb(
      options, pipeline, {std::vector<std::string>{"embedding"}, !embedding.pools},
      [&](std::span<const TextInput> inputs) { return embed(pipeline, inputs, embedding); },
      [&](const Row&, const EmbeddingAnswer& result) {
        return to_answer(result, columns, embedding.pools, digits_of(options));
      },
      row_encoder(pipeline.tokenizer, embedding.rules));
}

}  // namespace deberta::cli

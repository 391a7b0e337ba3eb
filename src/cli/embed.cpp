// The verb `embed`: vectors of texts or of their tokens.
#include <fmt/core.h>

#include "base/log.h"
#include "cli/vector_file.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "decode/pooling.h"
#include "pipeline/answer_json.h"
#include "program/model_options.h"
#include "program/note.h"
#include "program/text_verb.h"
#include "rows/row_input.h"

namespace deberta::cli {
namespace {

EmbeddingOptions embedding_options(const EmbedVerb& options) {
  EmbeddingOptions embedding;
  embedding.rules = program::encoding_rules(options.encoding);
  embedding.normalizes = options.normalize;
  embedding.layer = options.layer;
  embedding.pools = options.pooling != PoolingChoice::kNone;
  if (options.pooling == PoolingChoice::kCls) embedding.pooling = Pooling::kCls;
  if (options.pooling == PoolingChoice::kMean) embedding.pooling = Pooling::kMean;
  if (options.pooling == PoolingChoice::kMax) embedding.pooling = Pooling::kMax;
  return embedding;
}

// Texts are cut at the folder's limit, unless the user gives another.
EncodingSettings with_length_of(const SentenceModules& sentence, const EmbedVerb& options) {
  EncodingSettings encoding = options.encoding;
  if (encoding.max_tokens.is_given()) return encoding;
  if (sentence.max_tokens == 0)
    program::follow_folder_limits(encoding, options.model.name);
  else
    encoding.max_tokens.set(sentence.max_tokens, "sentence_bert_config.json");
  return encoding;
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

// The pooling decides what the vectors mean, so it is reported whenever the user did not choose it.
void note_pooling(const SentenceModules& sentence) {
  if (sentence.poolings.empty()) {
    program::note("note: the model does not say how to pool its tokens; using their mean (--pooling mean)");
    return;
  }
  std::string names = sentence.prompt.empty() ? "" : fmt::format("prompt {}, ", quote_json(sentence.prompt));
  size_t pooling_count = 0;
  for (const Pooling pooling : sentence.poolings)
    names += (pooling_count++ == 0 ? "" : " + ") + std::string(to_string(pooling));
  for (const SentenceLayer& layer : sentence.layers) names += ", " + describe(layer);
  program::note(fmt::format("note: pooling as modules.json says: {}", names));
}

// One line per vector: its values share one cell, so that the number of columns does not depend on the model.
program::RowAnswer to_answer(const EmbeddingAnswer& result, size_t columns, bool is_pooled, int digits) {
  program::RowAnswer answer{{to_json(result, columns, is_pooled), {}}, result.tokens, result.cut_tokens};
  for (size_t at = 0; at < result.vectors.size(); at += columns) {
    const std::span<const float> vector = std::span(result.vectors).subspan(at, columns);
    std::string text;
    for (const float value : vector)
      text += (text.empty() ? "" : " ") + program::with_digits(program::cell(value).text, digits);
    answer.answer.lines.push_back({std::move(text)});
  }
  return answer;
}

void check_output(const EmbedVerb& options) {
  const bool is_array = is_vector_file(*options.output.file);
  if (options.output_dtype.is_given() && !is_array)
    throw Error(ErrorCode::kUsage, "--output-dtype", "expected -o FILE.npy or -o FILE.safetensors as well");
  if (options.output.digits->is_given() && is_array)
    throw Error(ErrorCode::kUsage, "--digits", "expected answers as text, got -o " + *options.output.file);
}

// All vectors of all rows in one array. A bad row is an error: an array has no place for it.
int write_file(const EmbedVerb& options, const program::RowReading& reading, const Pipeline& pipeline,
               const EmbeddingOptions& embedding) {
  const DType dtype = options.output_dtype.value;
  const std::string& path = *options.output.file;
  Vectors vectors;
  vectors.columns = embedding_columns(pipeline, embedding);
  if (!embedding.pools) vectors.starts.push_back(0);
  check_vectors(path, vectors, dtype);
  program::refuse_skipping(options);
  size_t cut = 0, done = 0;
  const auto take = [&](std::span<const Row> rows) {
    const auto inputs = text_inputs(rows);
    for (const EmbeddingAnswer& result : embed(pipeline, inputs, embedding)) {
      cut += result.cut_tokens > 0;
      ++done;
      vectors.values.insert(vectors.values.end(), result.vectors.begin(), result.vectors.end());
      if (!embedding.pools) vectors.starts.push_back(static_cast<int64_t>(vectors.values.size() / vectors.columns));
    }
  };
  const int code =
      program::collect_rows(reading, options.progress, take, row_encoder(pipeline.tokenizer, {embedding.rules}));
  if (code != 0) program::leave_unwritten(path);
  program::note_cut_rows(options.encoding, cut, done, embedding.rules.encode.max_tokens);
  write_vectors(path, vectors, dtype);
  return 0;
}

int show_similarity(const EmbedVerb& options, const program::RowReading& reading, const Pipeline& pipeline,
                    const EmbeddingOptions& embedding) {
  if (!embedding.pools)
    throw Error(ErrorCode::kUsage, "--pooling", "expected auto, cls, mean or max for --similarity, got none");
  if (is_vector_file(*options.output.file))
    throw Error(ErrorCode::kUsage, "--similarity", "expected answers as text, got -o " + *options.output.file);
  const SimilarityOptions similar{embedding};
  return program::run_text_verb(
      options, reading, pipeline, {"similarity"},
      [&](std::span<const TextInput> inputs) { return similarity(pipeline, inputs, similar); },
      [](const Row&, const SimilarityAnswer& result) {
        return program::RowAnswer{
            {to_json(result), {{program::cell(result.cosines.front())}}}, result.tokens, result.cut_tokens};
      },
      row_encoder(pipeline.tokenizer, similar.sequence_rules()));
}

}  // namespace

int run(const EmbedVerb& requested) {
  check_output(requested);
  EmbedVerb options = requested;
  const Pipeline pipeline = program::open_model(options.model);
  options.encoding = with_length_of(pipeline.sentence, requested);
  program::RowReading reading = program::reading_of(options);
  if (options.similarity) reading.shape = program::pair_shape();
  EmbeddingOptions embedding = embedding_options(options);
  if (embedding.pools && !embedding.pooling) embedding.rules.prompt = pipeline.sentence.prompt;
  embed(pipeline, {}, embedding);  // refuses a wrong layer before any row is read
  if (embedding.pools && !embedding.pooling) note_pooling(pipeline.sentence);
  if (options.similarity) return show_similarity(options, reading, pipeline, embedding);
  if (is_vector_file(*options.output.file)) return write_file(options, reading, pipeline, embedding);
  const size_t columns = embedding_columns(pipeline, embedding);
  return program::run_text_verb(
      options, reading, pipeline, {std::vector<std::string>{"embedding"}, !embedding.pools},
      [&](std::span<const TextInput> inputs) { return embed(pipeline, inputs, embedding); },
      [&](const Row&, const EmbeddingAnswer& result) {
        return to_answer(result, columns, embedding.pools, program::digits_of(options.output));
      },
      row_encoder(pipeline.tokenizer, {embedding.rules}));
}

}  // namespace deberta::cli

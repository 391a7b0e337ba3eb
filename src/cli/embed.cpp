// The verb `embed`: vectors of texts or of their tokens.
#include <fmt/core.h>

#include "base/log.h"
#include "cli/model_options.h"
#include "cli/npy.h"
#include "cli/text_verb.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "tasks/pooling.h"

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
  Options options = given;
  if (sentence.max_tokens > 0 && !given.is_given("max-tokens"))
    options.set("max-tokens", std::to_string(sentence.max_tokens), "sentence_bert_config.json");
  return options;
}

// How vectors are made decides what they mean: it is said whenever nobody asked for it.
void note_pooling(const Options& options, const SentenceModules& sentence) {
  if (sentence.poolings.empty()) {
    note(options,
         "note: the model does not say how a vector is made of its tokens; their mean is taken (--pooling mean)");
    return;
  }
  std::string names;
  for (const Pooling pooling : sentence.poolings)
    names += (names.empty() ? "" : " + ") + std::string(to_string(pooling));
  for (const SentenceLayer& layer : sentence.layers)
    names += layer.weight.empty() ? ", normalized" : fmt::format(", dense to {}", layer.outputs);
  note(options, fmt::format("note: vectors as modules.json says: {}", names));
}

Json to_json(std::span<const float> values) {
  return JsonArray(values.begin(), values.end());
}

// One line a vector: its values as cells of one column, so that the number of columns does not depend on the model.
RowAnswer to_answer(const EmbeddingAnswer& result, size_t columns, bool is_pooled) {
  RowAnswer answer{{}, result.tokens, result.cut_tokens};
  JsonArray rows;
  for (size_t at = 0; at < result.vectors.size(); at += columns) {
    const std::span<const float> vector = std::span(result.vectors).subspan(at, columns);
    std::string text;
    for (const float value : vector) text += (text.empty() ? "" : " ") + cell(value);
    answer.answer.lines.push_back({std::move(text)});
    rows.push_back(to_json(vector));
  }
  answer.answer.object = is_pooled ? JsonObject{{"embedding", std::move(rows.front())}}
                                   : JsonObject{{"token_embeddings", std::move(rows)}};
  return answer;
}

// All vectors of all rows to one array [rows, D]. A bad row is an error: an array has no place for one.
int write_npy(const Options& options, const ModelDirectory& directory, const EmbeddingOptions& embedding) {
  if (!embedding.pools) {
    throw Error(ErrorCode::kUsage, "--pooling",
                "expected auto, cls, mean or max for a .npy file, got none; texts have different lengths");
  }
  const size_t columns = embedding_columns(directory, embedding);
  std::vector<float> vectors;
  const auto take = [&](std::span<const Row> rows) {
    const auto inputs = text_inputs(rows);
    for (const EmbeddingAnswer& result : embed(directory, inputs, embedding)) {
      vectors.insert(vectors.end(), result.vectors.begin(), result.vectors.end());
    }
  };
  const int code = collect_rows(options, take, row_encoder(directory.tokenizer, embedding.rules));
  if (code == 0) write_npy_file(options.text("output"), vectors, columns);
  return code;
}

}  // namespace

int run_embed(const Options& given) {
  const ModelDirectory directory = open_model(given);
  const Options options = with_length_of(directory.sentence, given);
  const EmbeddingOptions embedding = embedding_options(options);
  embed(directory, {}, embedding);  // refuses a wrong layer before any row is read
  if (embedding.pools && !embedding.pooling) note_pooling(options, directory.sentence);
  if (options.text("output").ends_with(".npy")) return write_npy(options, directory, embedding);
  const size_t columns = embedding_columns(directory, embedding);
  return run_text_verb(
      options, directory, {"embedding"},
      [&](std::span<const TextInput> inputs) { return embed(directory, inputs, embedding); },
      [&](const Row&, const EmbeddingAnswer& result) { return to_answer(result, columns, embedding.pools); });
}

}  // namespace deberta::cli

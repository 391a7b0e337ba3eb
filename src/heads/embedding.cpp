// Encode, pack, forward to one layer, pool.
#include "deberta/pipeline.h"

#include <fmt/core.h>

#include "deberta/error.h"
#include "heads/batches.h"
#include "tasks/pooling.h"

namespace deberta {
namespace {

int32_t layer_of(int64_t layer, int64_t layers) {
  const int64_t chosen = layer < 0 ? layers + 1 + layer : layer;
  if (chosen < 0 || chosen > layers) {
    throw Error(ErrorCode::kInput, "--layer",
                fmt::format("expected a layer in {}..{}, got {}", -layers - 1, layers, layer));
  }
  return static_cast<int32_t>(chosen);
}

}  // namespace

std::vector<EmbeddingAnswer> embed(const ModelDirectory& directory, std::span<const TextInput> inputs,
                                   const EmbeddingOptions& options) {
  ForwardOptions forward;
  forward.layers = {layer_of(options.layer, directory.config.num_hidden_layers)};
  forward.wants_logits = false;
  const auto columns = static_cast<size_t>(directory.config.hidden_size);
  const std::vector<Encoding> encodings = encode_inputs(directory.tokenizer, inputs, options.rules);
  std::vector<EmbeddingAnswer> answers(inputs.size());
  ForwardResult result;
  for_each_batch(encodings, options.rules.batch_tokens, [&](size_t first, const Batch& batch) {
    directory.model.forward(batch, forward, result);
    for (size_t b = 0; b < batch.sequences(); ++b) {
      const Encoding& encoding = encodings[first + b];
      const float* begin = result.hidden.front().rows_TD.data() + static_cast<size_t>(batch.starts[b]) * columns;
      const std::span<const float> rows_LD(begin, encoding.size() * columns);
      std::vector<float> vectors = options.pooling ? pool(rows_LD, columns, *options.pooling)
                                                   : std::vector<float>(rows_LD.begin(), rows_LD.end());
      for (size_t at = 0; options.normalizes && at < vectors.size(); at += columns) {
        normalize(std::span(vectors).subspan(at, columns));
      }
      answers[first + b] = {std::move(vectors), encoding.size(), encoding.cut_tokens};
    }
  });
  return answers;
}

}  // namespace deberta

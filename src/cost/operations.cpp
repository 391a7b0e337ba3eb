// Sums over sequences; rows of the relative table by the kernels' look-up table.
#include "cost/operations.h"

#include <algorithm>
#include <optional>

#include "heads/head_facts.h"
#include "kernels/rel_lut.h"

namespace deberta {
namespace {

double count(int64_t number) {
  return static_cast<double>(number);
}

double weights_of_layer(const ModelConfig& config) {
  const double hidden = count(config.hidden_size);
  return hidden * (4 * hidden + 2 * count(config.intermediate_size));
}

RelLutParams table_params(const ModelConfig& config, int64_t longest) {
  RelLutParams params;
  params.position_buckets = config.position_buckets;
  params.max_relative_positions = config.max_relative_positions;
  params.max_length = longest;
  return params;
}

// c2p and p2p belong to queries, p2c to keys.
int64_t relative_terms(const ModelConfig& config) {
  if (!config.relative_attention) return 0;
  return (config.has_c2p ? 1 : 0) + (config.has_p2c ? 1 : 0) + (config.has_p2p ? 1 : 0);
}

// For one relative term in one sequence: pairs of a query and a row that one of its distances has. By symmetry there
// are as many pairs of a key and a row.
double query_row_pairs(const RelLut& lut, int64_t length) {
  double pairs = 0;
  for (int64_t i = 0; i < length; ++i) pairs += lut.row(i) - lut.row(i - (length - 1)) + 1;
  return pairs;
}

// The same for all relative terms of one sequence whose only query is the first token: its distances are 0 .. -(length
// - 1), and each key has one.
double first_query_pairs(const ModelConfig& config, const RelLut& lut, int64_t length) {
  const double by_query = lut.row(0) - lut.row(-(length - 1)) + 1;
  return by_query * ((config.has_c2p ? 1 : 0) + (config.has_p2p ? 1 : 0)) + count(config.has_p2c ? length : 0);
}

// Operations of attention in one layer.
struct Attention {
  double every = 0;          // every token is a query
  double first_of_each = 0;  // only the first token of each sequence is
};

Attention attention_operations(const ModelConfig& config, std::span<const int32_t> lengths) {
  const double hidden = count(config.hidden_size);
  const int64_t terms = relative_terms(config);
  std::optional<RelLut> lut;
  if (terms > 0 && !lengths.empty()) lut.emplace(table_params(config, std::ranges::max(lengths)));
  Attention sum;
  for (const int32_t length : lengths) {
    const double keys = count(length);
    sum.every += 4 * hidden * keys * keys;
    sum.first_of_each += 4 * hidden * keys;
    if (!lut) continue;
    sum.every += 2 * hidden * count(terms) * query_row_pairs(*lut, length);
    sum.first_of_each += 2 * hidden * first_query_pairs(config, *lut, length);
  }
  return sum;
}

double head_operations(const ModelConfig& config, const PassShape& shape, double tokens) {
  const HeadFacts& head = facts_of(shape.head);
  if (!head.has_logits() || head.takes_labelled_words()) return 0;
  double rows = shape.last == LastRows::kSome ? shape.some : tokens;
  if (head.is_per_sequence()) rows = count(static_cast<int64_t>(shape.lengths.size()));
  const double outputs = count(head.outputs(config, shape.labels));
  const double depth = count(head.states_per_row() * config.hidden_size);
  if (head.inner == HeadInner::kNone) return 2 * rows * depth * outputs;
  const double inner = count(head.inner == HeadInner::kEmbedding ? config.embedding_size : config.hidden_size);
  return 2 * rows * inner * (depth + outputs);
}

}  // namespace

LastRows last_rows_of(const ModelConfig& config, Head head) {
  const bool reads_first = facts_of(head).is_per_sequence() && config.classifier_pooling == ClassifierPooling::kFirst;
  return reads_first ? LastRows::kFirstOfEach : LastRows::kEvery;
}

Operations forward_operations(const ModelConfig& config, const PassShape& shape) {
  const double hidden = count(config.hidden_size), inner = count(config.intermediate_size);
  double tokens = 0;
  for (const int32_t length : shape.lengths) tokens += count(length);
  const Attention attention = attention_operations(config, shape.lengths);

  // Layers for all rows, and the last one, or each pass of the decoder, for those that the head reads.
  const bool has_own = shape.predicts_by_decoder && config.has_own_decoder;
  const double passes = shape.predicts_by_decoder ? count(config.mask_decoder_passes) : 1;
  const double whole = count(config.num_hidden_layers) - (has_own ? 0 : 1);
  const double projected = has_own ? passes : 1;  // layers whose keys and values the last rows read
  double last_rows = tokens, last_attention = attention.every;
  if (shape.last == LastRows::kFirstOfEach) {
    last_rows = count(static_cast<int64_t>(shape.lengths.size()));
    last_attention = attention.first_of_each;
  } else if (shape.last == LastRows::kSome) {
    last_rows = shape.some;
    last_attention = tokens == 0 ? 0 : attention.every * shape.some / tokens;
  }
  const double rows = whole * tokens + passes * last_rows;  // summed over all layers

  Operations sum;
  if (config.embedding_size != config.hidden_size) sum.embedding = 2 * tokens * hidden * count(config.embedding_size);
  sum.query = sum.attention_output = 2 * rows * hidden * hidden;
  sum.key_value = 4 * (whole + projected) * tokens * hidden * hidden;
  sum.up = sum.down = 2 * rows * hidden * inner;
  sum.attention = whole * attention.every + passes * last_attention;
  if (config.conv_kernel_size > 0)
    sum.convolution = 2 * tokens * hidden * hidden / count(config.conv_groups) * count(config.conv_kernel_size);
  sum.head = head_operations(config, shape, tokens);
  return sum;
}

double table_operations(const ModelConfig& config, int64_t longest) {
  const int64_t terms = relative_terms(config);
  if (terms == 0) return 0;
  const double rows = count(reached_rows(table_params(config, longest), longest));
  return count(config.num_hidden_layers * terms) * 2 * rows * count(config.hidden_size) * count(config.hidden_size);
}

uint64_t table_elements(const ModelConfig& config) {
  const int64_t tables = config.num_hidden_layers * relative_terms(config);
  return static_cast<uint64_t>(tables) * 2 * static_cast<uint64_t>(config.span()) *
         static_cast<uint64_t>(config.hidden_size);
}

double layer_weights(const ModelConfig& config) {
  return count(config.num_hidden_layers) * weights_of_layer(config);
}

double even_length(const ModelConfig& config) {
  return weights_of_layer(config) / (count(2 + relative_terms(config)) * count(config.hidden_size));
}

}  // namespace deberta

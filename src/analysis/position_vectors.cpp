// The relative table as the weights have it, after its norm, and through the projections of a layer.
// R rows  D hidden  K head size
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "analysis/layer_tensors.h"
#include "deberta/analysis.h"

namespace deberta {
namespace {

void check_term(bool has_term, const char* name) {
  if (!has_term)
    throw Error(ErrorCode::kInput, "pos_att_type",
                fmt::format("expected a model with {}, got one without: nothing reads such vectors", name));
}

void check_place(const ModelConfig& config, const PositionChoice& choice) {
  if (choice.layer < 1 || choice.layer > config.num_hidden_layers)
    throw Error(ErrorCode::kInput,
                {{.message = fmt::format("expected 1..{}, got {}", config.num_hidden_layers, choice.layer),
                  .argument = "layer"}});
  if (choice.head && std::cmp_greater_equal(*choice.head, config.num_attention_heads))
    throw Error(ErrorCode::kInput,
                {{.message = fmt::format("expected 0..{}, got {}", config.num_attention_heads - 1, *choice.head),
                  .argument = "head"}});
}

void check_relative(const ModelConfig& config) {
  if (!config.relative_attention)
    throw Error(ErrorCode::kInput, "relative_attention", "expected true, got false: the model has no relative table");
}

// The columns of one head.
VectorRows head_of(const VectorRows& all_RD, size_t head, size_t head_size) {
  VectorRows one{all_RD.rows, head_size, {}};
  for (size_t row = 0; row < all_RD.rows; ++row) {
    const auto begin = all_RD.values.begin() + static_cast<std::ptrdiff_t>(row * all_RD.columns + head * head_size);
    one.values.insert(one.values.end(), begin, begin + static_cast<std::ptrdiff_t>(head_size));
  }
  return one;
}

VectorRows projected(const Checkpoint& checkpoint, const ModelConfig& config, const PositionChoice& choice) {
  const bool is_key = choice.vectors == PositionVectors::kKeys;
  check_term(is_key ? config.has_c2p : config.has_p2c, is_key ? "c2p" : "p2c");
  check_place(config, choice);
  const LinearWeights weights =
      position_projection(checkpoint, config, choice.layer, is_key ? PositionSide::kKeys : PositionSide::kQueries);
  VectorRows all_RD = project(relative_table(checkpoint, config, true), weights);
  return choice.head ? head_of(all_RD, *choice.head, static_cast<size_t>(config.attention_head_size)) : all_RD;
}

// Of length 1; zeros stay zeros.
VectorRows unit_rows(VectorRows vectors) {
  for (size_t row = 0; row < vectors.rows; ++row) {
    const std::span<float> values = std::span(vectors.values).subspan(row * vectors.columns, vectors.columns);
    const double length = std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
    for (float& value : values) value = length > 0 ? static_cast<float>(value / length) : 0.0f;
  }
  return vectors;
}

// The hidden state that the layer reads of one token, [1, D].
VectorRows state_before(const Model& model, const Encoding& encoding, size_t token, int32_t layer) {
  Batch batch;
  batch.add(encoding.ids, encoding.type_ids);
  ForwardOptions options;
  options.layers = {layer - 1};
  options.wants_logits = false;
  ForwardResult result;
  model.forward(batch, options, result);
  const auto columns = static_cast<size_t>(model.config().hidden_size);
  const auto begin = result.hidden.front().rows_TD.begin() + static_cast<std::ptrdiff_t>(token * columns);
  return {1, columns, {begin, begin + static_cast<std::ptrdiff_t>(columns)}};
}

}  // namespace

VectorRows position_vectors(const Checkpoint& checkpoint, const ModelConfig& config, const PositionChoice& choice) {
  check_relative(config);
  const bool is_projected = choice.vectors == PositionVectors::kKeys || choice.vectors == PositionVectors::kQueries;
  if (is_projected) return projected(checkpoint, config, choice);
  return relative_table(checkpoint, config, choice.vectors == PositionVectors::kNormed);
}

std::vector<float> cosines(const VectorRows& vectors) {
  const VectorRows unit = unit_rows(vectors);
  return project(unit, {unit.values, {}}).values;
}

std::vector<float> position_scores(const Model& model, const Checkpoint& checkpoint, const Encoding& encoding,
                                   size_t token, const PositionChoice& choice) {
  const ModelConfig& config = model.config();
  check_relative(config);
  check_term(config.has_c2p, "c2p");
  check_place(config, choice);
  if (token >= encoding.size())
    throw Error(ErrorCode::kInput, "token", fmt::format("expected one below {}, got {}", encoding.size(), token));
  VectorRows query =
      project(state_before(model, encoding, token, choice.layer), query_projection(checkpoint, config, choice.layer));
  if (choice.head) query = head_of(query, *choice.head, static_cast<size_t>(config.attention_head_size));
  const VectorRows keys = position_vectors(checkpoint, config, {PositionVectors::kKeys, choice.layer, choice.head});
  std::vector<float> scores_R = project(query, {keys.values, {}}).values;
  const double heads = choice.head ? 1 : static_cast<double>(config.num_attention_heads);
  for (float& score : scores_R) score = static_cast<float>(score * config.attention_scale() / heads);
  return scores_R;
}

}  // namespace deberta

// Tokens, terms and figures of each head as JSON, and arrays of floats as half-precision bytes.
#include "analysis/explanation.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "checkpoint/cast.h"

namespace deberta {
namespace {

JsonArray tokens_json(const Tokenizer& tokenizer, const Encoding& encoding) {
  JsonArray tokens;
  for (size_t i = 0; i < encoding.size(); ++i) {
    const bool is_special = encoding.is_special[i] != 0;
    tokens.push_back(JsonObject{{"text", tokenizer.piece(encoding.ids[i])},
                                {"special", is_special},
                                {"segment", int64_t{encoding.type_ids[i]}},
                                {"start", is_special ? Json() : Json(int64_t{encoding.chars[i].begin})},
                                {"end", is_special ? Json() : Json(int64_t{encoding.chars[i].end})}});
  }
  return tokens;
}

JsonArray names_of(const AttentionTerms& terms) {
  JsonArray names{"c2c"};
  if (!terms.layers.front().c2p_HLL.empty()) names.push_back("c2p");
  if (!terms.layers.front().p2c_HLL.empty()) names.push_back("p2c");
  return names;
}

JsonArray rows_of(const ModelConfig& config, size_t tokens) {
  JsonArray rows;
  if (!config.relative_attention) return rows;
  for (const int32_t row : relative_position_rows(config, static_cast<int64_t>(tokens))) rows.push_back(int64_t{row});
  return rows;
}

}  // namespace

void check_finite(const AttentionTerms& terms) {
  for (const LayerTerms& layer : terms.layers) {
    if (!std::all_of(layer.softmax_HLL.begin(), layer.softmax_HLL.end(), [](float v) { return std::isfinite(v); }))
      throw Error(ErrorCode::kNotFinite, fmt::format("layer {}", layer.layer),
                  "an attention weight is NaN or infinite; check the weights");
  }
}

JsonObject explanation_json(const ModelConfig& config, const Tokenizer& tokenizer, const Encoding& encoding,
                            const AttentionTerms& terms) {
  if (terms.layers.empty())
    throw Error(ErrorCode::kTask, "attention", "expected a model with layers, got one with none");
  const JsonArray names = names_of(terms);
  return {{"tokens", tokens_json(tokenizer, encoding)},
          {"layers", uint64_t{terms.layers.size()}},
          {"heads", uint64_t{terms.heads}},
          {"terms", names},
          {"scale", config.attention_scale()},
          {"rows", rows_of(config, encoding.size())}};
}

JsonArray heads_json(const std::vector<HeadFigures>& heads) {
  JsonArray all;
  for (const HeadFigures& figures : heads)
    all.push_back(JsonObject{{"layer", int64_t{figures.layer}},
                             {"head", uint64_t{figures.head}},
                             {"entropy", figures.entropy},
                             {"distance", figures.distance},
                             {"cls", figures.first},
                             {"shares", JsonObject{{"c2c", figures.c2c}, {"c2p", figures.c2p}, {"p2c", figures.p2c}}}});
  return all;
}

JsonArray heads_json(const AttentionTerms& terms) {
  return heads_json(head_figures(terms));
}

std::string half_bytes(std::span<const float> values) {
  std::string bytes(values.size() * sizeof(uint16_t), '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t bits = f16_bits(values[i]);
    std::memcpy(bytes.data() + i * sizeof bits, &bits, sizeof bits);
  }
  return bytes;
}

}  // namespace deberta

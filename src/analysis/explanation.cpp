// Tokens, terms and figures of each head as JSON, and arrays of floats as half-precision bytes.
#include "analysis/explanation.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "analysis/head_number.h"
#include "analysis/mask_predictions.h"
#include "checkpoint/cast.h"

namespace deberta {
namespace {

JsonObject token_json(const Tokenizer& tokenizer, const Encoding& encoding, size_t i) {
  const bool is_special = encoding.is_special[i] != 0;
  return {{"text", tokenizer.piece(encoding.ids[i])},
          {"special", is_special},
          {"segment", int64_t{encoding.type_ids[i]}},
          {"start", is_special ? Json() : Json(int64_t{encoding.chars[i].begin})},
          {"end", is_special ? Json() : Json(int64_t{encoding.chars[i].end})}};
}

JsonArray tokens_json(const Tokenizer& tokenizer, const Encoding& encoding) {
  JsonArray tokens;
  for (size_t i = 0; i < encoding.size(); ++i) tokens.emplace_back(token_json(tokenizer, encoding, i));
  return tokens;
}

JsonArray names_of(const AttentionTerms& terms) {
  JsonArray names{"c2c"};
  if (!terms.layers.front().c2p_HLL.empty()) names.push_back("c2p");
  if (!terms.layers.front().p2c_HLL.empty()) names.push_back("p2c");
  return names;
}

JsonArray best_json(const std::vector<RankedToken>& best) {
  JsonArray tokens;
  for (const RankedToken& one : best)
    tokens.push_back(JsonObject{{"token_str", one.token_str}, {"score", one.score.score}});
  return tokens;
}

void add_step(const ReplacedStep& step, const Tokenizer& tokenizer, JsonObject& token) {
  token.emplace_back("is_masked", step.is_masked);
  token.emplace_back("drawn", step.is_masked ? Json(tokenizer.piece(step.drawn)) : Json());
  token.emplace_back("drawn_probability", step.is_masked ? Json(step.drawn_probability) : Json());
  token.emplace_back("is_replaced", step.is_replaced);
  token.emplace_back("replaced_probability", step.replaced_probability);
}

}  // namespace

void check_finite(const AttentionTerms& terms) {
  for (const LayerTerms& layer : terms.layers) {
    if (!std::all_of(layer.softmax_HLL.begin(), layer.softmax_HLL.end(), [](float v) { return std::isfinite(v); }))
      throw Error(ErrorCode::kNotFinite, fmt::format("layer {}", layer.layer),
                  "an attention weight is NaN or infinite; check the weights");
  }
}

JsonArray position_rows_json(const ModelConfig& config, size_t length) {
  JsonArray rows;
  if (!config.relative_attention) return rows;
  for (const int32_t row : relative_position_rows(config, static_cast<int64_t>(length))) rows.push_back(int64_t{row});
  return rows;
}

JsonObject explanation_json(const ModelConfig& config, const Tokenizer& tokenizer, const Encoding& encoding,
                            const AttentionTerms& terms, std::string_view places) {
  if (terms.layers.empty())
    throw Error(ErrorCode::kTask, "attention", "expected a model with layers, got one with none");
  const JsonArray names = names_of(terms);
  return {{"tokens", tokens_json(tokenizer, encoding)},
          {std::string(places), uint64_t{terms.layers.size()}},
          {"heads", uint64_t{terms.heads}},
          {"terms", names},
          {"scale", config.attention_scale()},
          {"rows", position_rows_json(config, encoding.size())}};
}

JsonArray heads_json(const std::vector<HeadFigures>& heads) {
  JsonArray all;
  for (const HeadFigures& figures : heads)
    all.push_back(JsonObject{{"layer", int64_t{figures.layer}},
                             {"head", head_number(figures.head)},
                             {"entropy", figures.entropy},
                             {"distance", figures.distance},
                             {"cls", figures.first},
                             {"shares", JsonObject{{"c2c", figures.c2c}, {"c2p", figures.c2p}, {"p2c", figures.p2c}}}});
  return all;
}

JsonArray heads_json(const AttentionTerms& terms) {
  return heads_json(head_figures(terms));
}

JsonArray predictions_json(const DecoderEffect& effect, const Tokenizer& tokenizer, size_t top_k) {
  JsonArray masks;
  const std::vector<std::vector<MaskForm>> ranked = rank_predictions(effect, tokenizer, top_k);
  for (size_t mask = 0; mask < ranked.size(); ++mask) {
    JsonObject object{{"token", uint64_t{effect.masks[mask]}}};
    for (const MaskForm& form : ranked[mask]) object.emplace_back(form.form, best_json(form.best));
    masks.emplace_back(std::move(object));
  }
  return masks;
}

JsonArray fillings_json(const std::vector<WordFilling>& fillings) {
  JsonArray all;
  for (const WordFilling& filling : fillings)
    all.push_back(JsonObject{{"words", JsonArray(filling.words.begin(), filling.words.end())},
                             {"with", filling.with},
                             {"without", filling.without}});
  return all;
}

JsonObject walk_json(const ReplacedWalk& walk, const Tokenizer& tokenizer, const Encoding& encoding) {
  JsonArray tokens;
  for (size_t i = 0; i < walk.steps.size(); ++i) {
    JsonObject token = token_json(tokenizer, encoding, i);
    add_step(walk.steps[i], tokenizer, token);
    tokens.emplace_back(std::move(token));
  }
  return {{"tokens", std::move(tokens)},
          {"losses", JsonObject{{"generator", walk.generator_loss}, {"discriminator", walk.discriminator_loss}}},
          {"signal", JsonObject{{"generator", uint64_t{walk.masked}}, {"discriminator", uint64_t{walk.steps.size()}}}}};
}

JsonObject size_json(const ModelSize& size) {
  const ParameterCounts& count = size.parameters;
  const Operations &work = size.operations, &plain = size.plain_operations;
  return {{"parameters", JsonObject{{"words", count.words},
                                    {"positions", count.positions},
                                    {"embeddings", count.embeddings},
                                    {"relative", count.relative_projections + count.relative_table},
                                    {"layers", count.layers},
                                    {"convolution", count.convolution},
                                    {"head", count.head},
                                    {"total", count.all()}}},
          {"flops", JsonObject{{"linear", work.all() - work.attention},
                               {"attention", plain.attention},
                               {"relative", size.relative_terms()},
                               {"total", work.all()}}}};
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

// What the explorer's page receives about a text, as JSON: from the server, and in the page `deberta analyze` writes.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/head_figures.h"
#include "analysis/model_size.h"
#include "base/json.h"
#include "deberta/analysis.h"

namespace deberta {

constexpr size_t kMostExplainedTokens = 256;  // in a text: a term of all heads grows with their square

// Throws kNotFinite for a weight that is not finite.
void check_finite(const AttentionTerms& terms);

// tokens, layers, heads, terms, scale, rows: the text as the model reads it, the terms that it has by the names of the
// paper, 1 / sqrt(d * n_types), and the row of the relative table for each distance. `places`: what the layers of the
// terms are, "passes" of the mask decoder.
JsonObject explanation_json(const ModelConfig& config, const Tokenizer& tokenizer, const Encoding& encoding,
                            const AttentionTerms& terms, std::string_view places = "layers");

// The row of the relative table for each distance of a text of that length, from 1 - length on; none without a table.
JsonArray position_rows_json(const ModelConfig& config, size_t length);

// Each mask as an object: its token, and the best tokens of each form by the form's name.
JsonArray predictions_json(const DecoderEffect& effect, const Tokenizer& tokenizer, size_t top_k);

// Each way to fill the masks: words, with, without.
JsonArray fillings_json(const std::vector<WordFilling>& fillings);

// tokens, losses, signal: what became of each token, the mean losses of both models, and how many tokens give them.
JsonObject walk_json(const ReplacedWalk& walk, const Tokenizer& tokenizer, const Encoding& encoding);

// parameters, flops: by parts that add up to their total. Flops of the encoder alone: linear are products with weights.
JsonObject size_json(const ModelSize& size);

// Each as an object, layer and head from 1; of terms, their head_figures().
JsonArray heads_json(const std::vector<HeadFigures>& heads);
JsonArray heads_json(const AttentionTerms& terms);

// Scores of one head of a layer as fp16, little endian: L * L of a term's [H, L, L].
std::string half_bytes(std::span<const float> values);

}  // namespace deberta

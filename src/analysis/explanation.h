// What the explorer's page receives about a text, as JSON: from the server, and in the page `deberta analyze` writes.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "analysis/head_figures.h"
#include "base/json.h"
#include "deberta/analysis.h"

namespace deberta {

constexpr size_t kMostExplainedTokens = 256;  // in a text: a term of all heads grows with their square

// Throws kNotFinite for a weight that is not finite.
void check_finite(const AttentionTerms& terms);

// tokens, layers, heads, terms, scale, rows: the text as the model reads it, the terms that it has by the names of the
// paper, 1 / sqrt(d * n_types), and the row of the relative table for each distance.
JsonObject explanation_json(const ModelConfig& config, const Tokenizer& tokenizer, const Encoding& encoding,
                            const AttentionTerms& terms);

// Each as an object; of terms, their head_figures().
JsonArray heads_json(const std::vector<HeadFigures>& heads);
JsonArray heads_json(const AttentionTerms& terms);

// Scores of one head of a layer as fp16, little endian: L * L of a term's [H, L, L].
std::string half_bytes(std::span<const float> values);

}  // namespace deberta

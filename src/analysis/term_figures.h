// Figures of the terms of attention: their matrices side by side, single pairs of words in every head, and how the
// scores spread.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure.h"
#include "deberta/analysis.h"

namespace deberta {

// c2c, c2p, p2c, their sum, and the weight that follows from it.
inline constexpr std::array<std::string_view, 5> kTermNames = {"c2c", "c2p", "p2c", "sum", "weight"};

// What of the matrices is shown.
struct TermChoice {
  std::optional<size_t> head = {};   // index, from 0; none: the mean of all heads
  std::vector<size_t> queries = {};  // tokens; empty: all
  std::vector<size_t> keys = {};
};

// Part of the matrices of one layer, [queries, keys] each; empty for a term that the model lacks.
struct TermPlace {
  std::string side = {};                 // which text or model, in a comparison
  int32_t layer = 0;                     // number, from 1; or that of the pass of the mask decoder
  std::optional<size_t> head = {};       // index, from 0
  std::vector<std::string> pieces = {};  // of all tokens
  std::vector<size_t> queries = {}, keys = {};
  std::array<std::vector<float>, kTermNames.size()> values_QS = {};
};

// One of each layer.
std::vector<TermPlace> layer_places(const AttentionTerms& terms, const std::vector<std::string>& pieces,
                                    const TermChoice& choice);
// One of each head of each layer, or of the chosen head alone.
std::vector<TermPlace> head_places(const AttentionTerms& terms, const std::vector<std::string>& pieces,
                                   const TermChoice& choice);

struct TermMatrices {
  std::string title;
  std::string place = "layer";  // what TermPlace::layer counts
  bool has_sides = false;
  bool draws_weights_only = false;  // the picture has no maps of scores
  std::vector<TermPlace> places;
};

// layer head query key query_token key_token c2c c2p p2c sum weight, for each pair; layer and head count from 1. The
// first column is named for `place`, and a column for the side comes before it where there are sides. No head: the mean
// of all. Arrays: each term [places, queries, keys], without a dimension of one; of several sides one for each.
FigureColumns term_columns(std::string_view place, std::string_view side = {});
Figure term_figure(TermMatrices matrices);

// layer head term low lower median upper high: term_quantiles(), with layer and head from 1. Array: quantiles
// [heads, terms, 5], a term that the model lacks left out.
FigureColumns quantile_columns();
Figure quantile_figure(std::vector<HeadQuantiles> heads);

}  // namespace deberta

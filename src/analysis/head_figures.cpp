// Entropy, distance and weight on the first token; a term's share is its part of the scores' variance.
#include "analysis/head_figures.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

namespace deberta {
namespace {

// [L, L] of one head; empty where the model lacks the term.
std::span<const float> head_of(const std::vector<float>& term_HLL, size_t head, size_t tokens) {
  if (term_HLL.empty()) return {};
  return std::span(term_HLL).subspan(head * tokens * tokens, tokens * tokens);
}

double variance(std::span<const float> row) {
  double sum = 0, squares = 0;
  for (const float value : row) {
    sum += value;
    squares += double{value} * value;
  }
  const auto count = static_cast<double>(row.size());
  return std::max(0.0, squares / count - sum / count * sum / count);
}

double mean_variance(std::span<const float> term_LL, size_t tokens) {
  if (term_LL.empty()) return 0;
  double total = 0;
  for (size_t i = 0; i < tokens; ++i) total += variance(term_LL.subspan(i * tokens, tokens));
  return total / static_cast<double>(tokens);
}

void add_weights(std::span<const float> softmax_LL, size_t tokens, HeadFigures& figures) {
  for (size_t i = 0; i < tokens; ++i) {
    for (size_t j = 0; j < tokens; ++j) {
      const double weight = softmax_LL[i * tokens + j];
      if (weight > 0) figures.entropy -= weight * std::log(weight);
      figures.distance += weight * std::abs(static_cast<double>(i) - static_cast<double>(j));
    }
    figures.first += softmax_LL[i * tokens];
  }
  for (double* figure : {&figures.entropy, &figures.distance, &figures.first}) *figure /= static_cast<double>(tokens);
}

void add_shares(const LayerTerms& layer, size_t tokens, HeadFigures& figures) {
  figures.c2c = mean_variance(head_of(layer.c2c_HLL, figures.head, tokens), tokens);
  figures.c2p = mean_variance(head_of(layer.c2p_HLL, figures.head, tokens), tokens);
  figures.p2c = mean_variance(head_of(layer.p2c_HLL, figures.head, tokens), tokens);
  const double all = figures.c2c + figures.c2p + figures.p2c;
  if (all == 0) return;
  for (double* share : {&figures.c2c, &figures.c2p, &figures.p2c}) *share /= all;
}

// Means over a grid of size x size parts, the parts as even as they can be.
std::vector<double> pooled(std::span<const float> softmax_LL, size_t tokens, size_t size) {
  std::vector<double> sums(size * size), counts(size * size);
  for (size_t i = 0; i < tokens; ++i) {
    for (size_t j = 0; j < tokens; ++j) {
      const size_t at = i * size / tokens * size + j * size / tokens;
      sums[at] += softmax_LL[i * tokens + j];
      ++counts[at];
    }
  }
  for (size_t at = 0; at < sums.size(); ++at) sums[at] /= counts[at];
  return sums;
}

}  // namespace

std::vector<HeadFigures> head_figures(const AttentionTerms& terms) {
  std::vector<HeadFigures> all;
  for (const LayerTerms& layer : terms.layers) {
    for (size_t head = 0; head < terms.heads; ++head) {
      HeadFigures& figures = all.emplace_back(HeadFigures{.layer = layer.layer, .head = head});
      add_weights(head_of(layer.softmax_HLL, head, terms.tokens), terms.tokens, figures);
      add_shares(layer, terms.tokens, figures);
    }
  }
  return all;
}

Thumbnails thumbnails(const AttentionTerms& terms, size_t size) {
  Thumbnails result;
  result.size = std::min(size, terms.tokens);
  for (const LayerTerms& layer : terms.layers) {
    for (size_t head = 0; head < terms.heads; ++head) {
      const std::vector<double> means =
          pooled(head_of(layer.softmax_HLL, head, terms.tokens), terms.tokens, result.size);
      const double most = *std::max_element(means.begin(), means.end());
      for (const double mean : means)
        result.pixels.push_back(static_cast<uint8_t>(most > 0 ? std::lround(255 * mean / most) : 0));
    }
  }
  return result;
}

}  // namespace deberta

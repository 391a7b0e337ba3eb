// The masks by their id; softmax over the vocabulary and its most likely tokens.
#include "decode/masked_words.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "deberta/error.h"
#include "decode/logits.h"

namespace deberta {

std::vector<size_t> mask_positions(std::span<const int32_t> ids, int32_t mask_id) {
  std::vector<size_t> positions;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == mask_id) positions.push_back(i);
  }
  if (positions.empty())
    throw Error(ErrorCode::kInput, "text",
                "expected at least one mask token, got none; write [MASK] where a word is missing");
  return positions;
}

std::vector<TokenScore> rank_tokens(std::span<const float> logits_V, size_t tokens, size_t top_k,
                                    std::span<const int32_t> targets) {
  check_finite(logits_V);
  const double largest = *std::max_element(logits_V.begin(), logits_V.end());
  double sum = 0;
  for (const float x : logits_V) sum += std::exp(x - largest);

  std::vector<int32_t> ids(targets.begin(), targets.end());
  if (ids.empty()) {
    ids.resize(std::min(tokens, logits_V.size()));
    std::iota(ids.begin(), ids.end(), 0);
  }
  const size_t count = std::min(top_k, ids.size());
  const auto logit = [&](int32_t id) { return logits_V[static_cast<size_t>(id)]; };
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(),
                    [&](int32_t a, int32_t b) { return logit(a) != logit(b) ? logit(a) > logit(b) : a < b; });
  std::vector<TokenScore> best;
  for (size_t i = 0; i < count; ++i) {
    best.push_back({ids[i], logit(ids[i]), static_cast<float>(std::exp(logit(ids[i]) - largest) / sum)});
  }
  return best;
}

}  // namespace deberta

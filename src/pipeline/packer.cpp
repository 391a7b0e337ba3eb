// Sequences one after another, until the next one would be too much.
#include "pipeline/packer.h"

#include <algorithm>
#include <numeric>

namespace deberta {

size_t most_logit_rows(int64_t vocab_size) {
  constexpr size_t kMostLogits = size_t{1} << 24;
  return std::max<size_t>(1, kMostLogits / static_cast<size_t>(vocab_size));
}

Packer::Packer(std::span<const size_t> lengths, const PackRules& rules)
    : lengths_(lengths), most_tokens_(rules.tokens), most_sequences_(rules.sequences), order_(lengths.size()) {
  std::iota(order_.begin(), order_.end(), size_t{0});
  if (rules.order == PackOrder::kByLength)
    std::ranges::stable_sort(order_, {}, [&](size_t sequence) { return lengths[sequence]; });
}

std::span<const size_t> Packer::next() {
  const size_t last = begin_ + std::min(most_sequences_, order_.size() - begin_);
  size_t end = begin_, tokens = 0;
  while (end < last && (end == begin_ || tokens + lengths_[order_[end]] <= most_tokens_))
    tokens += lengths_[order_[end++]];
  const std::span<const size_t> pack = std::span(order_).subspan(begin_, end - begin_);
  begin_ = end;
  return pack;
}

}  // namespace deberta

// Which sequences run together: the one rule by which texts become packs. Knows their lengths alone, so that a
// sequence need not be there before its pack runs (pipeline/plan.h). A server forms its batches in another order, by
// clients and deadlines (serve/batch_queue.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace deberta {

// A row of logits of a language model is V floats (half a megabyte): small packs bound the memory.
constexpr size_t kMaskedPackTokens = 2048;
// The most rows of logits of a pack in which each sequence or token has one: 64 MiB of them.
size_t most_logit_rows(int64_t vocab_size);

enum class PackOrder {
  kGiven,     // as the sequences come
  kByLength,  // the shortest first, equal ones as they come
};

struct PackRules {
  size_t tokens = 0;            // at most so many per pack; a longer sequence gets a pack of its own
  size_t sequences = SIZE_MAX;  // at most so many per pack
  PackOrder order = PackOrder::kGiven;
};

// Packs of consecutive sequences, each as full as `rules` allow.
class Packer {
 public:
  // lengths[i]: tokens of sequence i; they outlive it.
  Packer(std::span<const size_t> lengths, const PackRules& rules);

  // The numbers of the sequences of the next pack, for as long as this lives; empty: all are in packs.
  std::span<const size_t> next();

 private:
  std::span<const size_t> lengths_;
  size_t most_tokens_, most_sequences_;
  std::vector<size_t> order_;  // numbers of sequences
  size_t begin_ = 0;           // where the next pack begins in order_
};

}  // namespace deberta

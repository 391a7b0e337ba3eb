// The scores of one layer for all sequences, as the attention kernel writes them, and their way into the result.
#pragma once
#include <vector>

#include "base/arena.h"
#include "engine/pass.h"
#include "kernels/attention.h"

namespace deberta {

class ScoreCollector {
 public:
  // Empty unless the pass wants scores.
  ScoreCollector(const Pass& pass, const LayerWeights& layer);
  AttentionScoreOutputs outputs() const;
  void append_to(ForwardResult& result, size_t layer);

 private:
  size_t size_of(size_t sequence) const;

  // One kind of scores: on the host, and where the kernel writes them.
  struct Scores {
    std::vector<float> host;
    Arena buffer;
    float* data = nullptr;
  };
  void plan(Scores& scores);

  const Pass& pass_;
  size_t count_ = 0;
  Scores c2c_, c2p_, p2c_, probabilities_;
};

}  // namespace deberta

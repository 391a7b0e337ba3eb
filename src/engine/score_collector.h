// The scores of one layer for all sequences, as the attention kernel writes them, and their way into the result.
#pragma once
#include <vector>

#include "base/arena.h"
#include "engine/pass.h"
#include "kernels/attention.h"

namespace deberta {

class ScoreCollector {
 public:
  // Empty unless they are wanted.
  ScoreCollector(const Pass& pass, const LayerWeights& layer, bool is_wanted);
  AttentionScoreOutputs outputs() const;
  // One for each sequence, under the number of the layer or pass.
  void append_to(std::vector<AttentionScores>& all, size_t number);

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
  bool is_wanted_;
  size_t count_ = 0;
  Scores c2c_, c2p_, p2c_, probabilities_;
};

}  // namespace deberta

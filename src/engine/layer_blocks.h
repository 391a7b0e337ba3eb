// How threads share the work after attention, where rows are independent. Many rows: a thread takes a block of them
// through every step, streaming the weights; no thread waits for another. Few rows: one step after another, each split
// over the weights.
// N query rows  D hidden  F feed-forward
#pragma once
#include "engine/layer.h"

namespace deberta {

// Some of a layer's query rows, with buffers that nothing else uses meanwhile.
struct LayerBlock {
  IntermediateRows context_ND;  // O
  IntermediateRows inner_NF;
  States a_ND;    // query states y; the operand: as `up` reads it
  States out_ND;  // the same rows; the operand: as the layer's consumer reads it
};

class LayerBlocks {
 public:
  LayerBlocks(const Pass& pass, const LayerStep& step, const States& y, const Workspace& space);

  // finish(pass, block) for blocks that together make up y, on several threads at once or with a pass on several
  // threads.
  template <class Finish>
  void for_each(Finish&& finish) const {
    parallel_for(blocks_, (y_.rows + block_rows_ - 1) / block_rows_,
                 [&](size_t task, size_t worker) { finish(part_, block(task * block_rows_, worker)); });
  }

 private:
  LayerBlock block(size_t first, size_t worker) const;

  const LayerStep& step_;
  const States& y_;
  const Workspace& space_;
  Pass part_;  // the pass, for one block
  Parallel blocks_;
  size_t block_rows_ = 0;
};

}  // namespace deberta

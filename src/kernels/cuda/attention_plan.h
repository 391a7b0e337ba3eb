// What a call of the fused attention for CUDA needs besides the numbers: the rows of the table that its distances
// reach, the pieces of work, and which block takes which. Made on the host, once for all layers of a batch.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/cuda/attention_kernel.h"
#include "kernels/rel_lut.h"

namespace deberta::cuda {

struct AttentionPlanParams {
  std::vector<int32_t> starts;  // cu_seqlens [B + 1], from 0
  const RelLut* lut = nullptr;  // null: no relative term
  int32_t heads = 0;
  int32_t blocks = 0;  // blocks that run at a time: the multiprocessors
};

struct AttentionPlan {
  AttentionTile tile = AttentionTile::kWide;
  std::vector<int32_t> row;  // [2 reach + 1]
  int32_t reach = 0;
  int32_t first_row = 0;
  int32_t rows = 0;
  std::vector<AttentionItem> items;
  std::vector<int32_t> shares;  // [blocks + 1]

  // Sets the fields of `arguments` that do not depend on the numbers. Its pointers lead into this plan; a card needs
  // copies.
  void describe(AttentionArguments& arguments) const;
};

// Each sequence by the tile that takes less time for its length, whatever else is in the pack, so that its bits do not
// depend on that: one plan for each tile that is used. Throws kInternal for a sequence without tokens.
std::vector<AttentionPlan> plan_attention(const AttentionPlanParams& params);

// All sequences by one tile.
AttentionPlan plan_attention(const AttentionPlanParams& params, AttentionTile tile);

}  // namespace deberta::cuda

// Chooses the tile for each length, lists the pieces of work, and deals them out so that blocks end together.
#include "kernels/cuda/attention_plan.h"

#include <algorithm>
#include <utility>

#include "kernels/dispatch.h"

namespace deberta::cuda {
namespace {

// Distances up to `reach` have rows of their own; all beyond have those of the ends.
void find_rows(const RelLut& lut, int32_t longest, AttentionPlan& plan) {
  int32_t reach = longest - 1;
  while (reach > 0 && lut.row(reach - 1) == lut.row(reach) && lut.row(1 - reach) == lut.row(-reach)) --reach;
  plan.reach = reach;
  plan.first_row = lut.row(-reach);
  plan.rows = lut.row(reach) - plan.first_row + 1;
  for (int32_t t = -reach; t <= reach; ++t) plan.row.push_back(lut.row(t));
}

struct TileSize {
  int32_t rows;      // per item
  int32_t keys;      // per piece
  double per_score;  // time of a score that a tile computes, relative
};

// On an H200 the narrow tile takes 1.13 times as long for 512 tokens, where neither computes scores beyond the ends.
TileSize size_of(AttentionTile tile) {
  using Wide = WideAttention<true, true, false>;
  using Narrow = NarrowAttention<true, true, false>;
  return tile == AttentionTile::kWide ? TileSize{Wide::kRows, Wide::kKeys, 1.0}
                                      : TileSize{Narrow::kRows, Narrow::kKeys, 1.13};
}

int32_t round_up(int32_t x, int32_t multiple) {
  return (x + multiple - 1) / multiple * multiple;
}

double time_of(int32_t length, const TileSize& size) {
  return static_cast<double>(round_up(length, size.rows)) * round_up(length, size.keys) * size.per_score;
}

AttentionTile tile_of(int32_t length) {
  const double wide = time_of(length, size_of(AttentionTile::kWide));
  return time_of(length, size_of(AttentionTile::kNarrow)) < wide ? AttentionTile::kNarrow : AttentionTile::kWide;
}

// Each block gets neighbouring pairs of (head, item) that take about as long as another's: by their pieces, and one for
// the item.
void share_out(const AttentionPlanParams& params, const TileSize& size, AttentionPlan& plan) {
  std::vector<int64_t> cost = {0};  // cost[i]: all items before i
  for (const AttentionItem& item : plan.items)
    cost.push_back(cost.back() + round_up(item.length, size.keys) / size.keys + 1);
  const int64_t of_head = cost.back(), total = of_head * params.heads;
  const auto count = static_cast<int32_t>(plan.items.size());
  plan.shares.push_back(0);
  for (int32_t block = 1; block < params.blocks; ++block) {
    const int64_t aim = total * block / params.blocks;
    const auto head = static_cast<int32_t>(aim / of_head);
    const auto item = std::lower_bound(cost.begin(), cost.end(), aim % of_head) - cost.begin();
    plan.shares.push_back(head * count + static_cast<int32_t>(item));
  }
  plan.shares.push_back(params.heads * count);
}

// The sequences for which `takes` says yes; no items where there are none.
template <class Takes>
AttentionPlan plan_by(const AttentionPlanParams& params, AttentionTile tile, const Takes& takes) {
  require(Operation::kAttention, params.heads > 0 && params.blocks > 0, "nothing to do");
  const TileSize size = size_of(tile);
  AttentionPlan plan;
  plan.tile = tile;
  int32_t longest = 0;
  for (size_t b = 0; b + 1 < params.starts.size(); ++b) {
    const int32_t start = params.starts[b], length = params.starts[b + 1] - start;
    require(Operation::kAttention, length > 0, "a sequence without tokens");
    if (!takes(length)) continue;
    longest = std::max(longest, length);
    for (int32_t first = 0; first < length; first += size.rows) plan.items.push_back({start, length, first});
  }
  if (longest == 0) return plan;
  if (params.lut != nullptr) find_rows(*params.lut, longest, plan);
  share_out(params, size, plan);
  return plan;
}

}  // namespace

std::vector<AttentionPlan> plan_attention(const AttentionPlanParams& params) {
  std::vector<AttentionPlan> plans;
  for (const AttentionTile tile : {AttentionTile::kWide, AttentionTile::kNarrow}) {
    AttentionPlan plan = plan_by(params, tile, [&](int32_t length) { return tile_of(length) == tile; });
    if (!plan.items.empty()) plans.push_back(std::move(plan));
  }
  return plans;
}

AttentionPlan plan_attention(const AttentionPlanParams& params, AttentionTile tile) {
  return plan_by(params, tile, [](int32_t) { return true; });
}

void AttentionPlan::describe(AttentionArguments& arguments) const {
  arguments.row = row.data();
  arguments.reach = reach;
  arguments.first_row = first_row;
  arguments.rows = rows;
  arguments.items = items.data();
  arguments.item_count = static_cast<int32_t>(items.size());
  arguments.shares = shares.data();
}

}  // namespace deberta::cuda

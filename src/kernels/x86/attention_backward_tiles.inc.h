// Operands of the gradient's products with AMX. A tile reads 32 neighbouring numbers of each of its rows, so what is
// summed over positions lies turned, made of pairs (attention_backward_pairs.inc.h) 16 x 16 at a time:
//   PT[j][i] = P[i][j]      GT the same of G      D[t][i] = G[i][i-t]
// for the positions i of a block, keys j and distances t, between columns of zeros: a row that begins a number later
// than the one before it is a skew. Included by attention_backward_bf16_amx.cpp.
#include "kernels/x86/attention_backward_ends_bf16.inc.h"

namespace deberta {
namespace {

constexpr size_t kTurnedEdge = 16;  // numbers before the first position
// Length of a turned row: a tile reads less than its depth behind a block.
constexpr size_t kTurned = kTurnedEdge + kBlock + kKeyUnit;
constexpr int64_t kTile = 16;  // rows of a tile, and its columns of 32 bits

// Offsets in bytes, behind those of the pairs.
struct TileLayout {
  size_t pt, gt, d;
  size_t dk, dv;  // dense, for all keys: a tile writes rows behind the last key
  size_t sums;    // rows of a table's gradient: [kTile][head size]
  size_t size_bytes;
};

inline size_t rows_of_distances(size_t keys) {
  return round_up(keys + kBlock - 1, kTile);
}

TileLayout tile_layout_of(const AttentionExtent& e) {
  TileLayout l{};
  size_t end = pair_layout_of(e).size_bytes;
  const size_t keys = round_up(e.keys, kKeyUnit);
  const auto turned = [&](size_t rows) { return take_bytes(end, rows * kTurned * sizeof(uint16_t)); };
  l.pt = turned(keys);
  l.gt = turned(keys);
  l.d = turned(e.rows == 0 ? 0 : rows_of_distances(keys));
  l.dk = take_floats(end, keys * e.head_size);
  l.dv = take_floats(end, keys * e.head_size);
  l.sums = take_floats(end, static_cast<size_t>(kTile) * e.head_size);
  l.size_bytes = end;
  return l;
}

struct TileWork : PairWork {
  TileLayout tiles;

  // Points at the first position.
  uint16_t* turned(size_t offset) const { return (uint16_t*)at(offset) + kTurnedEdge; }
};

// 16 rows of lanes, where `begin(row)` is; null: zeros. They become 32 numbers of 16 turned rows.
template <class Begin>
inline void turn(const Begin& begin, uint16_t* to, int64_t to_stride) {
  Vector r[kLanes];
  for (size_t row = 0; row < kLanes; ++row) {
    const float* from = begin(row);
    r[row] = from != nullptr ? load(from) : zero();
  }
  transpose(r);
  for (size_t lane = 0; lane < kLanes; ++lane) store((float*)(to + static_cast<int64_t>(lane) * to_stride), r[lane]);
}

// Turns the keys that the block sees, from pairs of positions.
void turn_keys(const TileWork& w, const Block& b, const float* pairs, uint16_t* to) {
  for (size_t j = 0; j < b.keys; j += kLanes) {
    for (size_t half = 0; half < kBlock / 32; ++half) {
      const float* first = pairs + 16 * half * w.p.stride + j;
      const auto begin = [&](size_t row) { return first + row * w.p.stride; };
      turn(begin, to + j * kTurned + 32 * half, kTurned);
    }
  }
}

// The distance of D's first row.
inline int64_t first_distance(const Block& b) {
  return b.first + static_cast<int64_t>(kBlock) - static_cast<int64_t>(rows_of_distances(b.keys));
}

// D. Where a vector of GD would begin before the edge, G has no entry.
void turn_distances(const TileWork& w, const Block& b) {
  const int64_t first = first_distance(b), keys = static_cast<int64_t>(b.keys);
  for (int64_t u = 0; u < static_cast<int64_t>(rows_of_distances(b.keys)); u += kTile) {
    const int64_t last = first + u + kTile - 1;  // its row is in the first lane
    for (int64_t half = 0; half < static_cast<int64_t>(kBlock) / 32; ++half) {
      const auto begin = [&](size_t row) -> const float* {
        const int64_t i = 32 * half + 2 * static_cast<int64_t>(row), j = b.first + i - last;
        return j < -kTile || j >= keys ? nullptr : w.gd() + i / 2 * w.stride() + j;
      };
      turn(begin, w.turned(w.tiles.d) + (u + kTile - 1) * static_cast<int64_t>(kTurned) + 32 * half,
           -static_cast<int64_t>(kTurned));
    }
  }
}

}  // namespace
}  // namespace deberta

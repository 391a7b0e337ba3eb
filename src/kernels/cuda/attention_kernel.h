// Fused disentangled attention of packed sequences, forward:
//
//   S[i,j] = q_i . k_j + q_i . Kr[row(i-j)] + k_j . Qr[row(i-j)],   O_i = sum_j 2^(S[i,j] - LSE_i) v_j
//
// q and Qr are multiplied by scale * log2(e) beforehand. Nothing of the size of the scores leaves the multiprocessor:
// products by mma.sync, the bands of relative positions skewed in registers (attention_index.h). A block belongs to one
// head at a time, whose rows of both tables stay in shared memory; its groups of four warps take (sequence, block of
// rows) one after the other, each with its own pieces of keys and values.
//
// Machine: what a thread can do (ptx.h on a card; tests/support/cuda_emulator.h). Form: the tile. Rounding: operands in
// 16 bits, sums in fp32, bands and their sum in fp16 (saturated), probabilities in the operands' type.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/attention_index.h"

namespace deberta::cuda {

// Rows i0 .. of one sequence.
struct AttentionItem {
  int32_t start = 0;   // first token of the sequence in the pack
  int32_t length = 0;  // tokens of the sequence
  int32_t first = 0;   // first row of the item in the sequence
};

// Pointers to device memory. Strides in elements, multiples of 8; the head h lies 64 h elements after the first. No
// tensor has more than 2^31 elements.
// T tokens  R rows  H heads
struct AttentionArguments {
  const uint16_t* q = nullptr;  // [T][H][64], scaled
  const uint16_t* k = nullptr;
  const uint16_t* v = nullptr;
  const uint16_t* kr = nullptr;  // [R][H][64]: rows of c2p
  const uint16_t* qr = nullptr;  // [R][H][64], scaled: rows of p2c
  uint16_t* out = nullptr;       // [T][H][64]
  float* lse = nullptr;          // [H][T], base 2, or null
  int32_t stride = 0;            // between tokens of q, k and v
  int32_t table_stride = 0;
  int32_t out_stride = 0;
  int32_t tokens = 0;
  int32_t heads = 0;
  // [2 reach + 1]: the row of the distance t at t + reach; distances beyond have the rows of the ends.
  const int32_t* row = nullptr;
  int32_t reach = 0;
  int32_t first_row = 0;  // first of the rows that any distance needs
  int32_t rows = 0;
  const AttentionItem* items = nullptr;  // the same for every head
  int32_t item_count = 0;
  // [blocks + 1]: block b takes the pairs shares[b] .. shares[b + 1] of (head, item), head first.
  const int32_t* shares = nullptr;
};

// RowTiles: blocks of 16 rows per warp. KeyTiles: blocks of 8 keys per piece. Groups: groups per block.
template <int RowTilesOf, int KeyTilesOf, int GroupsOf, bool C2p, bool P2c, bool Half>
struct AttentionForm {
  static constexpr int kRowTiles = RowTilesOf;
  static constexpr int kKeyTiles = KeyTilesOf;
  static constexpr bool kC2p = C2p;
  static constexpr bool kP2c = P2c;
  static constexpr bool kHasTerms = C2p || P2c;
  static constexpr bool kHalf = Half;
  static constexpr int kWarps = 4;  // per group
  static constexpr int kGroups = GroupsOf;
  static constexpr int kStages = 2;
  static constexpr int kRows = 16 * kRowTiles * kWarps;  // per item
  static constexpr int kKeys = 8 * kKeyTiles;
  static constexpr int kThreads = 32 * kWarps * kGroups;
  static constexpr size_t kPairs = kKeyTiles / 2 + kRowTiles;  // pairs of groups of 8 rows of Qr in a piece
  static constexpr uint32_t kPieceBytes = 2u * kKeys * kRowStride;
  static constexpr uint32_t kGroupBytes = kRows * kRowStride + kStages * kPieceBytes;
  static constexpr int kMargin = kKeys + 32;  // distances beyond those with rows of their own that a piece may ask for
  static_assert(kKeyTiles % 2 == 0 && (kRowTiles == 1 || kRowTiles == 2));
};

// Most work on a multiprocessor at once; many rows beyond the ends of short sequences. The other way round: both
// measured on an H200 (docs/records/gpu-attention-h200.md).
enum class AttentionTile { kWide, kNarrow };
template <bool C2p, bool P2c, bool Half>
using WideAttention = AttentionForm<2, 4, 2, C2p, P2c, Half>;
template <bool C2p, bool P2c, bool Half>
using NarrowAttention = AttentionForm<1, 6, 2, C2p, P2c, Half>;

// Offsets into shared memory.
template <class Form>
struct AttentionMemory {
  uint32_t kr, qr, groups, distances, size;
  DEBERTA_HD AttentionMemory(int32_t rows, int32_t reach) {
    kr = 0;
    qr = kr + (Form::kC2p ? row_offset(rows) : 0);
    groups = qr + (Form::kP2c ? row_offset(rows) : 0);
    distances = groups + Form::kGroups * Form::kGroupBytes;
    size = distances + (Form::kHasTerms ? 4 * (2 * static_cast<uint32_t>(reach + Form::kMargin) + 1) : 0);
  }
};

template <class Machine, class Form>
class AttentionWarp {
 public:
  DEBERTA_HD AttentionWarp(const AttentionArguments& arguments, uint32_t shared)
      : a_(arguments),
        memory_(arguments.rows, arguments.reach),
        shared_(shared),
        lane_(Machine::thread() & 31),
        warp_(Machine::thread() / 32 % Form::kWarps),
        group_(Machine::thread() / (32 * Form::kWarps)),
        queries_(shared + memory_.groups + static_cast<uint32_t>(group_) * Form::kGroupBytes) {}

  // All the shares of this block.
  DEBERTA_HD void run(int block) {
    for (int pair = a_.shares[block], end = a_.shares[block + 1]; pair < end;) {
      head_ = pair / a_.item_count;
      const int begin = pair - head_ * a_.item_count;
      const int stop = min_of(end - head_ * a_.item_count, a_.item_count);
      if constexpr (Form::kHasTerms) load_tables();
      Machine::barrier_all();
      run_items(begin + group_, stop);
      Machine::barrier_all();
      pair = head_ * a_.item_count + stop;
    }
  }

 private:
  static constexpr int M = Form::kRowTiles;
  static constexpr int N = Form::kKeyTiles;
  static constexpr size_t kM = M, kN = N;
  // A maximum that grows by less than this leaves the sums as they are: probabilities stay below 2^8.
  static constexpr float kRescale = 8;

  DEBERTA_HD static int min_of(int a, int b) { return a < b ? a : b; }
  DEBERTA_HD static int max_of(int a, int b) { return a > b ? a : b; }
  DEBERTA_HD int thread_of_group() const { return 32 * warp_ + lane_; }

  // ---- Copies into shared memory
  DEBERTA_HD void load_tables() {
    for (int i = Machine::thread(); i < a_.rows * 8; i += Form::kThreads) {
      const uint32_t to = row_offset(i / 8) + chunk_offset(i % 8);
      const int32_t from = (a_.first_row + i / 8) * a_.table_stride + head_ * kHeadSize + i % 8 * 8;
      if constexpr (Form::kC2p) Machine::copy_16(shared_ + memory_.kr + to, a_.kr + from, true);
      if constexpr (Form::kP2c) Machine::copy_16(shared_ + memory_.qr + to, a_.qr + from, true);
    }
    const int ends = a_.reach + Form::kMargin;
    for (int i = Machine::thread(); i <= 2 * ends; i += Form::kThreads) {
      const int t = max_of(min_of(i - ends, a_.reach), -a_.reach);
      Machine::store_32(shared_ + memory_.distances + 4 * static_cast<uint32_t>(i),
                        shared_ + memory_.kr + row_offset(a_.row[t + a_.reach] - a_.first_row));
    }
    Machine::copy_wait_all();
  }

  // The queries of an item: each warp loads its own rows, which no other warp reads.
  DEBERTA_HD void copy_queries(const AttentionItem& item) {
    DEBERTA_UNROLL for (int step = 0; step < 4 * M; ++step) {
      const int row = 16 * M * warp_ + 4 * step + lane_ / 8;
      const int query = min_of(item.first + row, item.length - 1);
      Machine::copy_16(queries_ + row_offset(row) + chunk_offset(lane_ % 8),
                       a_.q + (item.start + query) * a_.stride + head_ * kHeadSize + lane_ % 8 * 8, true);
    }
  }

  DEBERTA_HD uint32_t piece(int stage) const {
    return queries_ + row_offset(Form::kRows) + static_cast<uint32_t>(stage) * Form::kPieceBytes;
  }

  // The next piece of keys and values of `item`, which begins at key `first`; zeros beyond the sequence.
  DEBERTA_HD void copy_piece(const AttentionItem& item, int first, int stage) {
    constexpr int kRowsOfStep = 4 * Form::kWarps;
    const int row = thread_of_group() / 8;
    const uint32_t to = piece(stage) + row_offset(row) + chunk_offset(thread_of_group() % 8);
    if (first == 0) {
      from_ = (item.start + row) * a_.stride + head_ * kHeadSize + thread_of_group() % 8 * 8;
      left_ = item.length - row;
    }
    DEBERTA_UNROLL for (int step = 0; step < Form::kKeys / kRowsOfStep; ++step) {
      const bool inside = step * kRowsOfStep < left_;
      const int64_t from = from_ + step * kRowsOfStep * a_.stride;
      Machine::copy_16(to + row_offset(step * kRowsOfStep), a_.k + from, inside);
      Machine::copy_16(to + row_offset(step * kRowsOfStep + Form::kKeys), a_.v + from, inside);
    }
    from_ += Form::kKeys * a_.stride;
    left_ -= Form::kKeys;
  }

  // ---- The items of this group: `first`, `first` + kGroups, ... below `stop`. While a piece is worked on, the next is
  // on its way.
  DEBERTA_HD void run_items(int first, int stop) {
    if (first >= stop) return;
    AttentionItem item = a_.items[first];
    copy_queries(item);
    copy_piece(item, 0, 0);
    Machine::copy_commit();
    int stage = 0;
    for (int index = first; index < stop; index += Form::kGroups) {
      const int next = index + Form::kGroups;
      const AttentionItem after = next < stop ? a_.items[next] : item;
      begin_item(item);
      for (int key = 0; key < item.length; key += Form::kKeys) {
        Machine::copy_wait_all();
        Machine::barrier(1 + group_, 32 * Form::kWarps);
        if (key == 0) load_queries();
        if (key + Form::kKeys < item.length) {
          copy_piece(item, key + Form::kKeys, stage ^ 1);
        } else if (next < stop) {
          copy_queries(after);
          copy_piece(after, 0, stage ^ 1);
        }
        Machine::copy_commit();
        if (item.first + 16 * M * warp_ < item.length) {
          scores(key, stage);
          softmax(key);
          add_values(stage);
        }
        stage ^= 1;
      }
      finish_item();
      item = after;
    }
    Machine::copy_wait_all();
  }

  DEBERTA_HD void begin_item(const AttentionItem& item) {
    item_ = item;
    band_end_ = -1;
    first_ = item.first + 16 * M * warp_;
    DEBERTA_UNROLL for (int m = 0; m < M; ++m) {
      DEBERTA_UNROLL for (int d = 0; d < 8; ++d) {
        DEBERTA_UNROLL for (int e = 0; e < 4; ++e) out_[m][d][e] = 0;
      }
      DEBERTA_UNROLL for (int h = 0; h < 2; ++h) {
        maximum_[m][h] = -1e30f;
        sum_[m][h] = 0;
      }
    }
  }

  // Operand A, 16 rows of 64 elements, from the address of this lane's row.
  DEBERTA_HD void load_rows(uint32_t (&a)[4][4], uint32_t row) const {
    const uint32_t at = row + chunk_offset(matrix_of_lane(lane_) >> 1);
    DEBERTA_UNROLL for (int s = 0; s < 4; ++s) Machine::load_matrices(a[s], at + chunk_offset(2 * s));
  }
  DEBERTA_HD int row_of_16() const { return 8 * (matrix_of_lane(lane_) & 1) + row_of_lane(lane_); }

  // Operand B, 8 columns of 64 elements, from the address of this lane's row.
  DEBERTA_HD void load_columns(uint32_t (&b)[8], uint32_t row) const {
    const uint32_t at = row + chunk_offset(matrix_of_lane(lane_));
    uint32_t half[4];
    DEBERTA_UNROLL for (int s = 0; s < 2; ++s) {
      Machine::load_matrices(half, at + chunk_offset(4 * s));
      DEBERTA_UNROLL for (int e = 0; e < 4; ++e) b[4 * s + e] = half[e];
    }
  }

  // The keys 8 nt .. 8 nt + 7 of the piece, permuted.
  DEBERTA_HD void load_keys(uint32_t (&keys)[8], int nt, int stage) const {
    load_columns(keys, piece(stage) + row_offset(8 * nt) + row_offset(key_of_column(row_of_lane(lane_))));
  }

  DEBERTA_HD void load_queries() {
    DEBERTA_UNROLL for (int m = 0; m < M; ++m)
        load_rows(q_[m], queries_ + row_offset(16 * (M * warp_ + m) + row_of_16()));
    Machine::warp_sync();
  }

  // c[x] += a[x] . b for every x: chains of four dependent products side by side.
  template <size_t X>
  DEBERTA_HD static void multiply(float (&c)[X][4], const uint32_t (*a)[4][4], const uint32_t (&b)[8]) {
    DEBERTA_UNROLL for (int s = 0; s < 4; ++s) {
      DEBERTA_UNROLL for (size_t x = 0; x < X; ++x)
          Machine::template multiply<Form::kHalf>(c[x], a[x][s], b[2 * s], b[2 * s + 1]);
    }
  }
  template <size_t X>
  DEBERTA_HD static void clear(float (&c)[X][4]) {
    DEBERTA_UNROLL for (size_t x = 0; x < X; ++x) {
      DEBERTA_UNROLL for (int e = 0; e < 4; ++e) c[x][e] = 0;
    }
  }

  // Blocks `block` and the next of the bands of c2p, for the 16 rows that need them, packed and shuffled to where they
  // are wanted: the blocks from kFrom to kTo of each 16 rows' own.
  template <int kFrom, int kTo>
  DEBERTA_HD void c2p_blocks(int block, uint32_t distances) {
    uint32_t rows[2][8];
    float c[2][kM][4];
    DEBERTA_UNROLL for (int b = 0; b < 2; ++b) {
      load_columns(rows[b], Machine::load_32(distances + static_cast<uint32_t>(4 * c2p_distance(block + b, 0))));
      clear(c[b]);
    }
    DEBERTA_UNROLL for (int s = 0; s < 4; ++s) {
      DEBERTA_UNROLL for (int b = 0; b < 2; ++b) {
        DEBERTA_UNROLL for (int m = 0; m < M; ++m) {
          const int own = block + b + 2 * m;
          if (own >= kFrom && own < kTo)
            Machine::template multiply<Form::kHalf>(c[b][m], q_[m][s], rows[b][2 * s], rows[b][2 * s + 1]);
        }
      }
    }
    DEBERTA_UNROLL for (int b = 0; b < 2; ++b) {
      DEBERTA_UNROLL for (int m = 0; m < M; ++m) {
        const int own = block + b + 2 * m;
        if (own < kFrom || own >= kTo) continue;
        DEBERTA_UNROLL for (int h = 0; h < 2; ++h) band_[m][h][own % kBand] =
            Machine::shuffle(Machine::pack_half(c[b][m][2 * h], c[b][m][2 * h + 1]), c2p_lane(lane_));
      }
    }
  }

  // The p2c terms of the rows 16 m + (0..15) and the keys 8 nt + (0..7): z[h] holds those of the rows r + 8 h. d: the
  // pairs from `first`.
  DEBERTA_HD void p2c_skew(uint32_t (&z)[2], const float (&d)[kM + 1][4], int first, int group) const {
    uint32_t moved[2];
    DEBERTA_UNROLL for (int e = 0; e < 2; ++e) {
      const auto value = [&](int g) { return d[g / 2 - first][2 * (g & 1) + e]; };
      const uint32_t here = Machine::pack_half(value(group), value(group + 1));
      const uint32_t next = Machine::pack_half(value(group + 1), value(group + 2));
      moved[e] = Machine::shuffle(p2c_gives_next(lane_, e) ? next : here, p2c_lane(lane_, e));
    }
    z[0] = Machine::permute(moved[0], moved[1], 0x5410);
    z[1] = Machine::permute(moved[0], moved[1], 0x7632);
  }

  // s_ = the scores of this warp's rows and the piece's keys, which begin at key `first`.
  DEBERTA_HD void scores(int first, int stage) {
    const int delta = first_ - first;
    if constexpr (Form::kHasTerms) {
      const bool is_far = delta - (Form::kKeys - 1) >= a_.reach || delta + 16 * M - 1 <= -a_.reach;
      if (is_far) return far_scores(delta > 0 ? a_.rows - 1 : 0, stage);
    }
    const uint32_t distances =
        shared_ + memory_.distances + 4 * static_cast<uint32_t>(delta + a_.reach + Form::kMargin);
    const uint32_t of_columns = distances - static_cast<uint32_t>(4 * key_of_column(row_of_lane(lane_)));
    const uint32_t of_rows = distances + static_cast<uint32_t>(4 * row_of_16());
    uint32_t qr[Form::kPairs][4][4];
    if constexpr (Form::kC2p) {
      if (first == band_end_) {  // the last two blocks of that band are this piece's first two
        DEBERTA_UNROLL for (int m = 0; m < M; ++m) {
          DEBERTA_UNROLL for (int h = 0; h < 2; ++h) {
            DEBERTA_UNROLL for (int b = 0; b < 2; ++b) band_[m][h][b] = band_[m][h][(N + b) % kBand];
          }
        }
      } else {
        if constexpr (M == 2) c2p_blocks<0, 2>(-2, of_columns);
        c2p_blocks<0, 2>(0, of_columns);
      }
      if constexpr (M == 2) c2p_blocks<2, N + 2>(0, of_columns);
      band_end_ = first + Form::kKeys;
    }
    DEBERTA_UNROLL for (int nt = 0; nt < N; ++nt) {
      if constexpr (Form::kC2p) {
        if (nt % 2 == 0) c2p_blocks<2, N + 2>(nt + 2, of_columns);
      }
      uint32_t keys[8];
      load_keys(keys, nt, stage);
      float d[kM + 1][4];
      const int low = p2c_group(N, nt, 0) / 2;
      if constexpr (Form::kP2c) {
        DEBERTA_UNROLL for (int pair = low; pair <= low + M; ++pair) {
          if (nt == 0 || (pair == low && nt % 2 == 0))
            load_rows(qr[pair], Machine::load_32(of_rows + static_cast<uint32_t>(4 * p2c_distance(2 * pair, 0, N))) +
                                    (memory_.qr - memory_.kr));
        }
        clear(d);
        multiply(d, &qr[low], keys);
      }
      DEBERTA_UNROLL for (int m = 0; m < M; ++m) {
        uint32_t z[2] = {0, 0};
        if constexpr (Form::kP2c) p2c_skew(z, d, low, p2c_group(N, nt, 2 * m));
        DEBERTA_UNROLL for (int h = 0; h < 2; ++h) {
          uint32_t both = z[h];
          if constexpr (Form::kC2p) {
            const uint32_t c = Machine::permute(band_[m][h][(nt + 1 - h) % kBand], band_[m][h][(nt + 2 - h) % kBand],
                                                c2p_selector(lane_));
            both = Form::kP2c ? Machine::add_half(c, both) : c;
          }
          Machine::unpack_half(s_[nt][m][2 * h], s_[nt][m][2 * h + 1], both);
        }
      }
      multiply(s_[nt], q_, keys);
    }
  }

  // The same where all distances have row `row` of the tables: one number per query and one per key.
  DEBERTA_HD void far_scores(int row, int stage) {
    uint32_t qr[1][4][4];
    float c2p[kM][4];
    clear(c2p);
    if constexpr (Form::kC2p) {
      uint32_t columns[8];
      load_columns(columns, shared_ + memory_.kr + row_offset(row));
      multiply(c2p, q_, columns);
    }
    if constexpr (Form::kP2c) load_rows(qr[0], shared_ + memory_.qr + row_offset(row));
    DEBERTA_UNROLL for (int nt = 0; nt < N; ++nt) {
      uint32_t keys[8];
      load_keys(keys, nt, stage);
      float d[1][4];
      clear(d);
      if constexpr (Form::kP2c) multiply(d, qr, keys);
      DEBERTA_UNROLL for (int m = 0; m < M; ++m) {
        DEBERTA_UNROLL for (int e = 0; e < 4; ++e) s_[nt][m][e] = c2p[m][e] + d[0][e];
      }
      multiply(s_[nt], q_, keys);
    }
  }

  // s_ becomes probabilities by the maximum so far; sums and outputs are rescaled where that grew.
  DEBERTA_HD void softmax(int first) {
    if (first + Form::kKeys > item_.length) {
      DEBERTA_UNROLL for (int nt = 0; nt < N; ++nt) {
        DEBERTA_UNROLL for (int e = 0; e < 4; ++e) {
          if (first + 8 * nt + key_of_column(2 * (lane_ & 3) + (e & 1)) < item_.length) continue;
          DEBERTA_UNROLL for (int m = 0; m < M; ++m) s_[nt][m][e] = -1e30f;
        }
      }
    }
    bool grows = false;
    float top[kM][2];
    DEBERTA_UNROLL for (int m = 0; m < M; ++m) {
      DEBERTA_UNROLL for (int h = 0; h < 2; ++h) {
        float t = s_[0][m][2 * h];
        DEBERTA_UNROLL for (int nt = 0; nt < N; ++nt) t =
            Machine::maximum(Machine::maximum(t, s_[nt][m][2 * h]), s_[nt][m][2 * h + 1]);
        t = Machine::maximum(t, Machine::shuffle_xor(t, 1));
        top[m][h] = Machine::maximum(t, Machine::shuffle_xor(t, 2));
        grows |= top[m][h] > maximum_[m][h] + kRescale;
      }
    }
    if (Machine::any(grows)) rescale(top);
    DEBERTA_UNROLL for (int m = 0; m < M; ++m) {
      DEBERTA_UNROLL for (int h = 0; h < 2; ++h) {
        float total = 0;
        DEBERTA_UNROLL for (int nt = 0; nt < N; ++nt) {
          DEBERTA_UNROLL for (int e = 0; e < 2; ++e) {
            float& s = s_[nt][m][2 * h + e];
            s = Machine::power_of_2(s - maximum_[m][h]);
            total += s;
          }
        }
        sum_[m][h] += total;
      }
    }
  }

  DEBERTA_HD void rescale(const float (&top)[kM][2]) {
    DEBERTA_UNROLL for (int m = 0; m < M; ++m) {
      DEBERTA_UNROLL for (int h = 0; h < 2; ++h) {
        const float grown = Machine::maximum(maximum_[m][h], top[m][h]);
        const float factor = Machine::power_of_2(maximum_[m][h] - grown);
        maximum_[m][h] = grown;
        sum_[m][h] *= factor;
        DEBERTA_UNROLL for (int d = 0; d < 8; ++d) {
          out_[m][d][2 * h] *= factor;
          out_[m][d][2 * h + 1] *= factor;
        }
      }
    }
  }

  // out_ += probabilities . values
  DEBERTA_HD void add_values(int stage) {
    const int matrix = matrix_of_lane(lane_);
    const uint32_t base = piece(stage) + row_offset(Form::kKeys) +
                          row_offset(8 * (matrix & 1) + key_of_column(row_of_lane(lane_))) + chunk_offset(matrix >> 1);
    DEBERTA_UNROLL for (int p = 0; p < N / 2; ++p) {
      uint32_t a[kM][4];
      DEBERTA_UNROLL for (int m = 0; m < M; ++m) {
        DEBERTA_UNROLL for (int i = 0; i < 4; ++i) a[m][i] = Machine::template pack<Form::kHalf>(
            s_[2 * p + i / 2][m][2 * (i & 1)], s_[2 * p + i / 2][m][2 * (i & 1) + 1]);
      }
      DEBERTA_UNROLL for (int d = 0; d < 8; d += 2) {
        uint32_t v[4];
        Machine::load_matrices_transposed(v, base + row_offset(16 * p) + chunk_offset(d));
        DEBERTA_UNROLL for (int m = 0; m < M; ++m) {
          Machine::template multiply<Form::kHalf>(out_[m][d], a[m], v[0], v[1]);
          Machine::template multiply<Form::kHalf>(out_[m][d + 1], a[m], v[2], v[3]);
        }
      }
    }
  }

  DEBERTA_HD void finish_item() {
    DEBERTA_UNROLL for (int m = 0; m < M; ++m) {
      DEBERTA_UNROLL for (int h = 0; h < 2; ++h) {
        float total = sum_[m][h];
        total += Machine::shuffle_xor(total, 1);
        total += Machine::shuffle_xor(total, 2);
        const int row = first_ + 16 * m + 8 * h + (lane_ >> 2);
        if (row >= item_.length) continue;
        const float factor = 1 / total;
        const int32_t token = item_.start + row;
        uint16_t* out = a_.out + token * a_.out_stride + head_ * kHeadSize + 2 * (lane_ & 3);
        DEBERTA_UNROLL for (int d = 0; d < 8; ++d) Machine::store_global(
            out + 8 * d,
            Machine::template pack<Form::kHalf>(out_[m][d][2 * h] * factor, out_[m][d][2 * h + 1] * factor));
        if (a_.lse != nullptr && (lane_ & 3) == 0)
          a_.lse[static_cast<int64_t>(head_) * a_.tokens + token] = maximum_[m][h] + Machine::logarithm_2(total);
      }
    }
  }

  static constexpr int kBand = 2 * M + 2;  // blocks of c2p that are kept

  const AttentionArguments& a_;
  const AttentionMemory<Form> memory_;
  const uint32_t shared_;
  const int lane_;
  const int warp_;
  const int group_;
  const uint32_t queries_;
  int head_ = 0;
  int first_ = 0;
  int32_t from_ = 0;  // this thread's offset in keys and values for the next piece
  int left_ = 0;      // keys from there to the end of the sequence
  int band_end_ = 0;  // the key after the piece whose bands are kept, or -1
  AttentionItem item_;
  uint32_t q_[kM][4][4];
  uint32_t band_[kM][2][size_t{kBand}];
  float s_[kN][kM][4];
  float out_[kM][8][4];
  float maximum_[kM][2];
  float sum_[kM][2];
};

}  // namespace deberta::cuda

// What one instruction set offers for attention. Types only: files compiled with wider flags include this header, and
// an inline function in it could end up as the whole program's copy.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace deberta {

// RelLut (rel_lut.h), seen from distance 0: row[t], and 16 bytes perm[16 t] .. for each distance t.
struct AttentionDistances {
  const int16_t* row;
  const uint8_t* perm_q;
  const uint8_t* perm_k;
  int64_t rows;  // R
  int64_t linear_limit;
  int64_t t_lo, t_hi;  // rows are constant from here on
};

// Dropout (dropout.h) of one sequence and head: a query's position and the number of 16 keys are the first two words
// of the counter.
struct AttentionDropout {
  uint32_t threshold;  // bytes below it are dropped; 0: none
  float scale;         // factor of what is kept
  uint32_t key[2];
  uint32_t last_words[2];  // last two words of the counter
};

// One sequence and one head. Numbers are fp32 or bf16, strides in elements.
struct AttentionTask {
  const void* q;
  const void* k;
  const void* v;
  void* out;
  size_t q_stride, k_stride, v_stride, out_stride;
  bool is_bf16;
  size_t queries, keys, head_size;
  const int32_t* positions;               // position of each query; null: 0, 1, ...
  int64_t first_position, last_position;  // least and greatest position of a query
  const void* kr;  // reversed rows of this head as attention_pack_table lays them out; null: no c2p
  const void* qr;  // null: no p2c
  size_t table_stride;
  AttentionDistances distances;  // read with a term
  float scale;                   // times log2(e)
  const uint8_t* query_mask;     // [queries]; null: all
  const uint8_t* key_mask;       // [keys]; null: all
  const uint64_t* mask;          // bit j % 64 of word [position][j / 64]; null: all
  bool is_causal;                // a query sees the keys up to its position
  AttentionDropout dropout;
  float* lse;  // [queries]; null: not wanted
};

// What scratch depends on: upper bounds for all tasks of a call.
struct AttentionExtent {
  size_t keys;
  size_t positions;  // last - first + 1, rounded up to whole blocks of 16 at both ends
  size_t head_size;
  size_t rows;  // R; 0: no relative term
  bool is_bf16;
};

// All functions of one kernel get the extent that the scratch was sized for. `shared` belongs to a task, `own` to a
// worker; 64-byte aligned, any contents. Blocks may run in any order and on any worker once all keys are prepared.
struct AttentionKernel {
  size_t block;  // queries, or keys, per call; begins are multiples of it
  size_t (*shared_bytes)(const AttentionExtent& extent);
  size_t (*own_bytes)(const AttentionExtent& extent);
  void (*prepare_keys)(const AttentionTask& task, const AttentionExtent& extent, size_t begin, size_t end, void* shared,
                       void* own);
  void (*attend)(const AttentionTask& task, const AttentionExtent& extent, size_t begin, size_t end, void* shared,
                 void* own);
};

const AttentionKernel& attention_fp32_avx2_kernel();  // these two: also bf16, widened
const AttentionKernel& attention_fp32_avx512_kernel();
const AttentionKernel& attention_bf16_avx512bf16_kernel();  // these two: bf16 only, heads of whole 32
const AttentionKernel& attention_bf16_amx_kernel();

}  // namespace deberta

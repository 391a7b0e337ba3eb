// The buffers of a pass, all from one arena.
// B sequences  T packed tokens  N query rows, or rows given to the head  H heads  K head size  D hidden
// E embedding size  F feed-forward
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/arena.h"
#include "engine/pass.h"
#include "kernels/attention.h"

namespace deberta {

struct Workspace {
  float* hidden_TD = nullptr;
  float* embedding_TE = nullptr;  // hidden_TD itself when E = D
  OperandRows operand_TD;         // of hidden_TD
  std::byte* q_HNK = nullptr;     // heads as attention reads them
  std::byte* k_HTK = nullptr;
  std::byte* v_HTK = nullptr;  // right after k_HTK: one product computes both
  std::byte* context_ND = nullptr;

  // After attention, for each worker: a block of rows.
  size_t block_rows = 0;
  std::byte* inner_NF = nullptr;
  OperandRows block_operand;       // int8 only, of intermediate rows
  size_t block_operand_bytes = 0;  // from row to row

  float* convolution_TD = nullptr;  // null: the model has none
  float* convolution_scratch = nullptr;
  std::byte* attention_scratch = nullptr;

  // What follows from the batch alone; filled by make_workspace.
  const int32_t* positions_T = nullptr;   // rows of the absolute table
  const uint8_t* input_mask_T = nullptr;  // tokens that some query may see; null: all
  const uint64_t** masks_B = nullptr;     // 3-D masks; null: none

  // The head's rows, and what chooses them (query_rows.h; null when all are wanted).
  float* head_rows_ND = nullptr;
  float* head_inner_ND = nullptr;
  OperandRows head_operand;
  double* pooling_weights_T = nullptr;  // of a pooler by attention
  int32_t* query_starts = nullptr;
  int32_t* query_rows_N = nullptr;
  int32_t* query_positions_N = nullptr;
  int32_t* query_table_rows_N = nullptr;
  uint8_t* query_mask_N = nullptr;
};

// Grows the arena to what the pass needs. Throws kOutOfMemory.
Workspace make_workspace(const Pass& pass, Arena& arena);

// Of every token, as the last layer left them.
States hidden_states(const Pass& pass, const Workspace& space);

// What every attention of the pass is given: sizes, masks, rows by distance, buffers. Queries, keys, values, tables,
// the scale and wanted scores are the layer's. An empty workspace gives what attention_scratch_bytes asks for.
AttentionParams attention_of_batch(const Pass& pass, const Workspace& space);

}  // namespace deberta

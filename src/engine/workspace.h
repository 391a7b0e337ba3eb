// The buffers of a pass, all from one arena.
// B sequences  T packed tokens  N rows given to the head  H heads  K head size  D hidden  E embedding size
// F feed-forward
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/arena.h"
#include "engine/pass.h"

namespace deberta {

struct Workspace {
  float* hidden_TD = nullptr;
  float* embedding_TE = nullptr;  // hidden_TD itself when E = D
  OperandRows operand_TD;         // hidden_TD as the next linear layers read it; without data in fp32
  std::byte* qkv_3HTK = nullptr;  // fp32 or bf16, as attention reads and writes
  std::byte* context_TD = nullptr;

  // Behind attention, for each worker: a block of rows.
  size_t block_rows = 0;
  std::byte* inner_RF = nullptr;
  OperandRows block_operand;  // int8 only

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
  int32_t* query_starts = nullptr;
  int32_t* query_rows_N = nullptr;
  int32_t* query_positions_N = nullptr;
  int32_t* query_table_rows_N = nullptr;
  uint8_t* query_mask_N = nullptr;
};

// Grows the arena to what the pass needs. Throws kOutOfMemory.
Workspace make_workspace(const Pass& pass, Arena& arena);

}  // namespace deberta

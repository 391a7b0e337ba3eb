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
  float* qkv_3HTK = nullptr;
  float* context_TD = nullptr;
  float* inner_TF = nullptr;
  float* convolution_TD = nullptr;  // null: the model has none
  float* convolution_scratch = nullptr;
  std::byte* attention_scratch = nullptr;

  // What follows from the batch alone; filled by make_workspace.
  const int32_t* positions_T = nullptr;   // rows of the absolute table
  const uint8_t* input_mask_T = nullptr;  // tokens that some query may see; null: all
  const uint64_t** masks_B = nullptr;     // 3-D masks; null: none

  // The head's rows, and where the mask decoder finds them (null without one or when all tokens are asked for).
  float* head_rows_ND = nullptr;
  float* head_inner_ND = nullptr;
  int32_t* query_starts = nullptr;
  int32_t* query_positions_N = nullptr;
  int32_t* query_table_rows_N = nullptr;
  uint8_t* query_mask_N = nullptr;
};

// Grows the arena to what the pass needs. Throws kOutOfMemory.
Workspace make_workspace(const Pass& pass, Arena& arena);

}  // namespace deberta

// The buffers of a pass, all from one arena.
// B sequences  T packed tokens  N query rows, or rows that the head reads  H heads  K head size  D hidden
// E embedding size  F feed-forward
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/arena.h"
#include "engine/pass.h"
#include "kernels/attention.h"

namespace deberta {

// Values that the host computes for operations: what it writes, and where operations read it. One array on the host; on
// another device two, of which the second holds what was uploaded.
template <class T>
struct Staged {
  T* host = nullptr;
  T* device = nullptr;
};

// Of heads of entities (entity_heads.h), over all sequences of the pass: W words, C labels. A buffer that the head does
// not use has no room.
struct EntityBuffers {
  Staged<int32_t> rows_N;           // rows of the hidden states: of labels, then of the pieces that words are made of
  int32_t* piece_starts = nullptr;  // [W + 1], behind the labels; on the host
  float* states_NU = nullptr;       // of those rows, projected
  float* words_WU = nullptr;
  // The LSTM. Both directions, one behind the other; words in the order of their steps.
  Staged<int32_t> order_2W, back_2W;
  float* input_2WU = nullptr;
  float* gates_2W4H = nullptr;
  float* hidden_2WH = nullptr;
  float* cell_2BH = nullptr;
  // The scores. F: of a span's or a word's inner layer.
  float* inner_NF = nullptr;
  float* labels_CU = nullptr;
  float* folded_CF = nullptr;
  float* constant_C = nullptr;
  float *first_WU = nullptr, *last_WU = nullptr;  // ends of spans; of words: alone, and to be multiplied by labels
  float *first_WF = nullptr, *last_WF = nullptr;
  float* label_product_CU = nullptr;
  float *pairs_NU = nullptr, *pairs_NF = nullptr;  // a block of words, each with every label
  double* ends_WC = nullptr;
};

struct Workspace {
  float* hidden_TD = nullptr;
  float* embedding_TE = nullptr;  // hidden_TD itself when E = D
  OperandRows operand_TD;         // hidden_TD as its consumer reads it
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

  // The batch, and what follows from it alone, where operations read it; filled by make_workspace.
  const int32_t* ids_T = nullptr;
  const int32_t* type_ids_T = nullptr;        // null: all 0
  const int32_t* positions_T = nullptr;       // rows of the absolute table
  const int32_t* host_positions_T = nullptr;  // the same, for the host
  const uint8_t* mask_T = nullptr;            // null: all ones
  const uint8_t* input_mask_T = nullptr;      // tokens that some query may see; null: all
  const uint64_t* const* masks_B = nullptr;   // 3-D masks; null: none
  const int32_t* given_buckets_LL = nullptr;  // null: none
  const int32_t* rows_N = nullptr;            // ForwardOptions::rows; null: none

  // The head's rows, and what chooses them (query_rows.h; null when all are wanted).
  float* head_rows_ND = nullptr;
  float* head_inner_ND = nullptr;
  OperandRows head_operand;
  double* pooling_weights_T = nullptr;  // pooling by attention only
  Staged<int32_t> first_rows_N;         // heads that also read the first token of each row's (or group's) sequence
  Staged<int32_t> group_starts, group_rows;
  double* group_weights = nullptr;  // one for each row of the groups
  int32_t* query_starts = nullptr;  // on the host
  EntityBuffers entities;
  Staged<int32_t> query_rows_N, query_positions_N, query_table_rows_N;
  Staged<uint8_t> query_mask_N;

  // Results that operations write before the host copies them; null on the host, where they write the results.
  float* pooled_BD = nullptr;
  float* logits_NC = nullptr;
};

// The memory of passes: what operations read and write, and what the host computes for them (same arena on the host).
struct PassMemory {
  explicit PassMemory(const std::shared_ptr<DeviceMemory>& memory) : operands(memory) {}
  Arena operands, host;
};

// Grows the memory to what the pass needs. Throws kOutOfMemory.
Workspace make_workspace(const Pass& pass, PassMemory& memory);

// Copies what the host has written to where operations read it.
template <class T>
void upload(const Pass& pass, const Staged<T>& staged, size_t count) {
  if (staged.device != staged.host) pass.kernels.memory->copy_in(staged.device, staged.host, count * sizeof(T));
}

// The states of every token, as the last layer left them.
States hidden_states(const Pass& pass, const Workspace& space);

// The parameters that all attentions of the pass share: sizes, masks, rows by distance, buffers. Queries, keys, values,
// tables, the scale and wanted scores are the layer's. An empty workspace: enough for attention_scratch_bytes().
AttentionParams attention_of_batch(const Pass& pass, const Workspace& space);

}  // namespace deberta

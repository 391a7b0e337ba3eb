// One micro-batch of training: packed sequences, and what is to be predicted in them. Made by train/data, read by the
// objectives; no padding, no tensors, no torch.
// B sequences  T packed tokens  P positions to predict
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace deberta::train {

struct TrainBatch {
  std::vector<int32_t> ids_T;           // as the model reads them: masked, replaced
  std::vector<int32_t> starts;          // cu_seqlens [B + 1], starts[0] = 0
  std::vector<int32_t> type_ids_T;      // empty: all 0
  std::vector<int32_t> position_ids_T;  // rows of the absolute table; empty: 0 .. L-1 in each sequence
  std::vector<uint8_t> mask_T;  // 0: a masked token that stays where it is so that distances stay correct; empty: none
  int32_t longest = 0;          // tokens of the longest sequence
  uint32_t first_sequence = 0;  // number of the first sequence in the whole step: dropout counts from it

  std::vector<int32_t> rows_P;    // packed rows to predict, ascending
  std::vector<int32_t> labels_P;  // the ids that belong there

  size_t tokens() const { return ids_T.size(); }
  size_t sequences() const { return starts.empty() ? 0 : starts.size() - 1; }
};

}  // namespace deberta::train

// Where the rows of a tensor stand in their pack.
// B sequences  N rows
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace deberta::train {

struct Rows {
  std::vector<int32_t> starts;  // cu_seqlens [B + 1] of these rows, from 0
  std::vector<int32_t> positions_N =
      {};                            // position of each row within its sequence, ascending in each; empty: 0, 1, ...
  std::vector<uint8_t> mask_N = {};  // 0: a masked token; empty: none

  size_t sequences() const { return starts.empty() ? 0 : starts.size() - 1; }
  size_t count() const { return starts.empty() ? 0 : static_cast<size_t>(starts.back()); }
  size_t begin(size_t sequence) const { return static_cast<size_t>(starts[sequence]); }
  size_t end(size_t sequence) const { return static_cast<size_t>(starts[sequence + 1]); }
  int32_t position(size_t sequence, size_t row) const {
    return positions_N.empty() ? static_cast<int32_t>(row - begin(sequence)) : positions_N[row];
  }
};

// Shared: the backward pass reads them again.
using SharedRows = std::shared_ptr<const Rows>;

}  // namespace deberta::train

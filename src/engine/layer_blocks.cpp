// Which rows a block covers, and whose buffers it uses.
#include "engine/layer_blocks.h"

#include <algorithm>

namespace deberta {

LayerBlocks::LayerBlocks(const Pass& pass, const LayerStep& step, const States& y, const Workspace& space)
    : step_(step), y_(y), space_(space), part_(pass) {
  const size_t workers = pass.parallel.workers;
  const GemmBlocking blocking = gemm_blocking(pass.kernels, pass.weights.precision);
  if (y.rows < workers * blocking.split_rows) {
    blocks_ = serial();
    block_rows_ = space.block_rows * workers;  // the buffers of all workers serve as one
  } else {
    blocks_ = pass.parallel;
    part_.parallel = serial();
    block_rows_ = equal_blocks(y.rows, workers, blocking);
  }
}

LayerBlock LayerBlocks::block(size_t first, size_t worker) const {
  const size_t hidden = as_size(part_.config.hidden_size);
  const size_t inner = as_size(part_.config.intermediate_size);
  const size_t rows = std::min(block_rows_, y_.rows - first);
  const size_t buffer = worker * space_.block_rows;  // the worker's first row
  float* x_ND = y_.x_TD + first * hidden;
  OperandRows operand = space_.block_operand;
  if (operand.data != nullptr) {
    operand.data += buffer * space_.block_operand_bytes;
    operand.scales_T += buffer;
    operand.side_TO += buffer * part_.weights.outliers;
  }
  LayerBlock block{
      .context_ND = {.data = space_.context_ND + first * part_.intermediate_bytes(hidden), .quantized = operand},
      .inner_NF = {.data = space_.inner_NF + buffer * part_.intermediate_bytes(inner), .quantized = operand},
      .a_ND = {.x_TD = x_ND, .operand = y_.operand.from(first, step_.layer.up), .rows = rows},
      .out_ND = {.x_TD = x_ND, .rows = rows}};
  // The stride is the consumer's number of outliers: with that of `up`, rows would reach into other blocks.
  block.a_ND.operand.side_TO = operand.side_TO;
  if (step_.consumer != nullptr) block.out_ND.operand = y_.operand.from(first, *step_.consumer);
  return block;
}

}  // namespace deberta

// Layer norm: argument checks and the choice of implementation.
#include "kernels/layer_norm.h"

#include "deberta/error.h"
#include "kernels/reference/reference.h"

namespace deberta {

void layer_norm(const KernelSet& kernels, const LayerNormParams& params) {
  if (params.rows == 0) return;
  if (params.x_TD == nullptr || params.y_TD == nullptr || params.gamma_D == nullptr || params.beta_D == nullptr) {
    throw Error(ErrorCode::kInternal, "layer_norm", "a null pointer");
  }
  count_call(Operation::kLayerNorm, kernels.level_of(Operation::kLayerNorm));
  parallel_for(params.parallel, params.rows, [&](size_t row, size_t) { reference_layer_norm(params, row); });
}

}  // namespace deberta

// Convolution: argument checks and the choice of implementation.
#include "kernels/convolution.h"

#include <algorithm>

#include "deberta/error.h"
#include "kernels/reference/reference.h"

namespace deberta {
namespace {

void require(bool is_right, const char* what) {
  if (!is_right) throw Error(ErrorCode::kInternal, "convolution", what);
}

}  // namespace

void convolution(const KernelSet& kernels, const ConvolutionParams& params) {
  if (params.sequences == 0) return;
  require(params.starts != nullptr, "a null pointer");
  const auto rows = static_cast<size_t>(params.starts[params.sequences]);
  if (rows == 0) return;
  require(params.x_TD != nullptr && params.weight_DGW != nullptr && params.bias_D != nullptr && params.y_TD != nullptr,
          "a null pointer");
  require(params.width % 2 == 1, "an even width");
  require(params.groups > 0 && params.columns % params.groups == 0, "groups that do not divide the columns");
  count_call(Operation::kConvolution, kernels.level_of(Operation::kConvolution));
  parallel_for(params.parallel, rows, [&](size_t row, size_t) {
    const int32_t* end = params.starts + params.sequences + 1;
    const int32_t* after = std::upper_bound(params.starts, end, static_cast<int32_t>(row));
    reference_convolution(params, row, static_cast<size_t>(after[-1]), static_cast<size_t>(*after));
  });
}

}  // namespace deberta

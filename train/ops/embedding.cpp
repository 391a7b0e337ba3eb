#include "train/ops/embedding.h"

#include <ATen/ops/embedding.h>

namespace deberta::train {

at::Tensor embedding(const Compute&, const at::Tensor& table_VE, const at::Tensor& ids_N, int64_t padding_id) {
  return at::embedding(table_VE, ids_N, padding_id);
}

}  // namespace deberta::train

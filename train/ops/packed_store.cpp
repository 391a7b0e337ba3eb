// Packs a weight for either direction, and keeps it while the scope of a step lasts.
#include "train/ops/packed_store.h"

#include <algorithm>
#include <functional>

#include "kernels/linear_gradient.h"
#include "kernels/row_blocks.h"
#include "train/ops/kernel_call.h"

namespace deberta::train {
namespace {

PackedTensor pack(const Compute& compute, const at::Tensor& weight_OI, Direction direction) {
  const auto* data = weight_OI.const_data_ptr<float>();
  const size_t outputs = rows_of(weight_OI), inputs = columns_of(weight_OI);
  const WeightSource source =
      direction == Direction::kForward ? WeightSource{data, outputs, inputs} : transposed_weight(data, outputs, inputs);
  PackedTensor packed{new_scratch(gemm_packed_bytes(compute.kernels, compute.precision, source)), {}};
  packed.weights =
      gemm_pack(compute.kernels, compute.precision, source, packed.memory.mutable_data_ptr(), compute.parallel);
  return packed;
}

// One below the other.
at::Tensor joined(const Compute& compute, at::TensorList weights_OI) {
  if (weights_OI.size() == 1) return weights_OI.front().contiguous();
  int64_t outputs = 0;
  for (const at::Tensor& weight : weights_OI) outputs += weight.size(0);
  const at::Tensor all_OI = new_floats({outputs, weights_OI.front().size(1)});
  float* to = all_OI.mutable_data_ptr<float>();
  for (const at::Tensor& weight : weights_OI) {
    const at::Tensor part_OI = weight.contiguous();
    const float* from = part_OI.const_data_ptr<float>();
    const size_t rows = rows_of(part_OI), columns = columns_of(part_OI);
    for_each_row(compute.parallel, rows, columns,
                 [&](size_t row) { std::copy_n(from + row * columns, columns, to + row * columns); });
    to += rows * columns;
  }
  return all_OI;
}

}  // namespace

PackedStore::Scope::Scope(PackedStore* store, std::span<const float> weights) : store_(store) {
  if (store_ != nullptr) store_->weights_ = weights;
}

PackedStore::Scope::~Scope() {
  if (store_ == nullptr) return;
  store_->weights_ = {};
  store_->kept_.clear();
}

bool PackedStore::keeps(const at::Tensor& weight_OI) const {
  const auto* data = weight_OI.const_data_ptr<float>();
  const std::less<> before;  // orders any pointers
  return !weights_.empty() && !before(data, weights_.data()) && before(data, weights_.data() + weights_.size());
}

const PackedTensor* PackedStore::find(const Key& key) const {
  const auto entry = kept_.find(key);
  return entry == kept_.end() ? nullptr : &entry->second;
}

PackedTensor packed_weight(const Compute& compute, at::TensorList weights_OI, Direction direction) {
  PackedStore* store = compute.store;
  const bool is_kept = store != nullptr &&
                       std::ranges::all_of(weights_OI, [&](const at::Tensor& weight) { return store->keeps(weight); });
  const PackedStore::Key key{weights_OI.front().const_data_ptr<float>(), weights_OI.size(), direction};
  if (is_kept) {
    if (const PackedTensor* stored = store->find(key)) return *stored;
  }
  const at::Tensor weight_OI = joined(compute, weights_OI);
  const PackedTensor packed = pack(compute, weight_OI, direction);
  if (is_kept) store->keep(key, packed);
  return packed;
}

}  // namespace deberta::train

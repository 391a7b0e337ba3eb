// Weights of linear layers packed for the kernels: for one product, or kept while no weight changes, for a step that
// reads each several times.
// I inputs  O outputs
#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <span>
#include <tuple>

#include "kernels/gemm.h"
#include "train/ops/compute.h"

namespace deberta::train {

struct PackedTensor {
  at::Tensor memory;
  PackedWeights weights;
};

enum class Direction {
  kForward,   // y = x W^T
  kBackward,  // dX = dY W
};

class PackedStore {
 public:
  // While it lives, what is packed of weights within `weights` is kept in `store`; they must not change meanwhile.
  // Null: nothing is kept.
  class Scope {
   public:
    Scope(PackedStore* store, std::span<const float> weights);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    PackedStore* store_;
  };

  using Key = std::tuple<const float*, size_t, Direction>;  // the first weight, their number, the direction
  bool keeps(const at::Tensor& weight_OI) const;
  // Null: not there.
  const PackedTensor* find(const Key& key) const;
  void keep(const Key& key, const PackedTensor& packed) { kept_.emplace(key, packed); }

 private:
  std::span<const float> weights_;  // empty: nothing is kept
  std::map<Key, PackedTensor> kept_;
};

// Several weights of one input lie below each other, as one with all their outputs.
PackedTensor packed_weight(const Compute& compute, at::TensorList weights_OI, Direction direction);

}  // namespace deberta::train

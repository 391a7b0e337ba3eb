// Which packed weights are kept, and how long.
#include "train/ops/packed_store.h"

#include <gtest/gtest.h>

#include <span>

#include "support/torch_numbers.h"

namespace deberta::train::packed_store_test {
namespace {

using test::normal_tensor;

struct Case {
  PackedStore store;
  Compute compute{.kernels = select_kernels("auto"), .store = &store};
  // Two weights beside each other in one memory, and one elsewhere.
  at::Tensor memory = normal_tensor(1, {40, 24}, at::kFloat), other = normal_tensor(2, {20, 24}, at::kFloat);
  at::Tensor first = memory.narrow(0, 0, 20), second = memory.narrow(0, 20, 20);

  std::span<const float> weights() const { return {memory.const_data_ptr<float>(), 40 * 24}; }
  const void* packed(at::TensorList parts, Direction direction = Direction::kForward) const {
    kept_alive.push_back(packed_weight(compute, parts, direction));
    return kept_alive.back().weights.panels;
  }
  mutable std::vector<PackedTensor> kept_alive;  // so that no memory is used again
};

TEST(PackedStore, KeepsWhatIsPackedOfItsWeightsWhileItsScopeLives) {
  Case c;
  const void* before = nullptr;
  {
    const PackedStore::Scope scope(&c.store, c.weights());
    before = c.packed(c.first);
    EXPECT_EQ(c.packed(c.first), before);
    EXPECT_NE(c.packed(c.second), before);
    EXPECT_NE(c.packed(c.first, Direction::kBackward), before);
    EXPECT_EQ(c.packed(c.first, Direction::kBackward), c.packed(c.first, Direction::kBackward));
    EXPECT_NE(c.packed({c.first, c.second}), before) << "several below each other are another weight";
    EXPECT_EQ(c.packed({c.first, c.second}), c.packed({c.first, c.second}));
    EXPECT_NE(c.packed(c.other), c.packed(c.other)) << "nobody says that it does not change";
    EXPECT_NE(c.packed({c.first, c.other}), c.packed({c.first, c.other}));
  }
  EXPECT_NE(c.packed(c.first), before);
  EXPECT_NE(c.packed(c.first), c.packed(c.first));
  const PackedStore::Scope next(&c.store, c.weights());
  EXPECT_NE(c.packed(c.first), before);
}

TEST(PackedStore, WithoutAStoreNothingIsKept) {
  Case c;
  const PackedStore::Scope scope(nullptr, c.weights());
  EXPECT_NE(c.packed(c.first), c.packed(c.first));
  c.compute.store = nullptr;
  EXPECT_NE(c.packed(c.first), c.packed(c.first));
}

}  // namespace
}  // namespace deberta::train::packed_store_test

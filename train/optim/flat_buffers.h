// The parameters of a model in one flat buffer of fp32: each has a slot at a 64-byte border. Weights, gradients and the
// state of the optimiser are buffers of one layout, so that a step is one pass over them.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "deberta/checkpoint.h"

namespace deberta::train {

struct NamedShape {
  std::string name;
  Shape shape;
};

struct ParameterSlot {
  std::string name;
  Shape shape;
  size_t offset = 0;   // elements, a multiple of kSlotElements
  size_t count = 0;    // elements; up to the next slot there are zeros
  bool decays = true;  // weight decay
  double rate = 1;     // multiplies the learning rate
};

// Elements between the borders of slots. What lies between two slots is 0 in every buffer and stays so.
constexpr size_t kSlotElements = Arena::kAlignment / sizeof(float);

struct ParameterLayout {
  std::vector<ParameterSlot> slots;  // in the order of the parameters
  size_t size = 0;                   // elements of a buffer

  const ParameterSlot* find(std::string_view name) const;  // nullptr when absent
};

// No decay for a name that contains "bias" or "LayerNorm.weight".
bool is_decayed(std::string_view name);

// Throws kTensors: a repeated name, a shape with a negative dimension or too large.
ParameterLayout make_layout(const std::vector<NamedShape>& parameters);

// The numbers of one layout, 64-byte aligned, 0 at first. They stay where they are, also when the object is moved:
// tensors and other views point to them. Throws kOutOfMemory.
class FlatBuffer {
 public:
  FlatBuffer() = default;
  explicit FlatBuffer(size_t size);
  explicit FlatBuffer(const ParameterLayout& layout) : FlatBuffer(layout.size) {}

  float* data() { return data_; }
  const float* data() const { return data_; }
  size_t size() const { return size_; }
  std::span<float> all() { return {data_, size_}; }
  std::span<const float> all() const { return {data_, size_}; }
  std::span<float> of(const ParameterSlot& slot) { return all().subspan(slot.offset, slot.count); }
  std::span<const float> of(const ParameterSlot& slot) const { return all().subspan(slot.offset, slot.count); }

 private:
  Arena arena_;
  float* data_ = nullptr;
  size_t size_ = 0;
};

// A part of a slot, rounded up to whole kSlotElements: the unit of work, and of sums.
struct FlatBlock {
  size_t slot = 0;
  size_t begin = 0;  // elements of the buffer
  size_t count = 0;
};

// All slots in blocks of at most kBlockElements: the same for any number of threads.
constexpr size_t kBlockElements = 1 << 13;
std::vector<FlatBlock> make_blocks(const ParameterLayout& layout);

}  // namespace deberta::train

// Slots one after the other, each rounded up to whole borders.
#include "train/optim/flat_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "checkpoint/tensor.h"

namespace deberta::train {
namespace {

size_t round_up(size_t count) {
  return (count + kSlotElements - 1) / kSlotElements * kSlotElements;
}

}  // namespace

const ParameterSlot* ParameterLayout::find(std::string_view name) const {
  const auto at =
      std::find_if(slots.begin(), slots.end(), [&](const ParameterSlot& slot) { return slot.name == name; });
  return at == slots.end() ? nullptr : &*at;
}

bool is_decayed(std::string_view name) {
  return name.find("bias") == std::string_view::npos && name.find("LayerNorm.weight") == std::string_view::npos;
}

ParameterLayout make_layout(const std::vector<NamedShape>& parameters) {
  ParameterLayout layout;
  std::unordered_set<std::string_view> names;
  for (const NamedShape& parameter : parameters) {
    if (!names.insert(parameter.name).second)
      throw Error(ErrorCode::kTensors, parameter.name, "expected each parameter once, got it twice");
    const auto size_bytes = size_bytes_of(DType::kF32, parameter.shape);
    if (!size_bytes || *size_bytes >= uint64_t{1} << 48)
      throw Error(ErrorCode::kTensors, parameter.name,
                  fmt::format("expected a shape of less than 2^48 bytes, got {}", to_string(parameter.shape)));
    const auto count = static_cast<size_t>(*size_bytes / sizeof(float));
    layout.slots.push_back({parameter.name, parameter.shape, layout.size, count, is_decayed(parameter.name)});
    layout.size += round_up(count);
  }
  return layout;
}

FlatBuffer::FlatBuffer(size_t size) : size_(size) {
  arena_.reserve(Arena::bytes_for<float>(std::max<size_t>(1, size)));
  data_ = arena_.take<float>(size);
  std::fill_n(data_, size, 0.0F);
}

std::vector<FlatBlock> make_blocks(const ParameterLayout& layout) {
  std::vector<FlatBlock> blocks;
  for (size_t slot = 0; slot < layout.slots.size(); ++slot) {
    const size_t begin = layout.slots[slot].offset, end = begin + round_up(layout.slots[slot].count);
    for (size_t at = begin; at < end; at += kBlockElements)
      blocks.push_back({slot, at, std::min(kBlockElements, end - at)});
  }
  return blocks;
}

}  // namespace deberta::train

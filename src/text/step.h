// One piece of a split in four bytes: its id in the low bits, its size in bytes above. 0: none, for no piece is empty.
#pragma once
#include <cstdint>

namespace deberta {

constexpr uint32_t kStepIdBits = 20;
constexpr uint32_t kStepIdMask = (1U << kStepIdBits) - 1;

}  // namespace deberta

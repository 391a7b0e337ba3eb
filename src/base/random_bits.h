// Bits that nobody can foresee, for names and secrets. Whatever is to be repeated draws from philox.h.
#pragma once
#include <cstdint>

namespace deberta {

// From the system. Not std::random_device: where the C++ runtime is linked in, that one binds the program to the newest
// system library.
uint32_t random_bits();

}  // namespace deberta

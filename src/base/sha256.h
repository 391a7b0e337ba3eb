// SHA-256 (FIPS 180-4): for the manifest's file hashes. Not for passwords or keys.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "base/checked.h"

namespace deberta {

class Sha256 {
 public:
  void update(Bytes bytes);
  // 64 hexadecimal digits in lower case. Nothing may be added afterwards.
  std::string finish();

 private:
  void add_block(const std::byte* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> pending_{};  // the bytes of a block that is not full
  uint64_t size_bytes_ = 0;
};

std::string sha256_of(Bytes bytes);

}  // namespace deberta

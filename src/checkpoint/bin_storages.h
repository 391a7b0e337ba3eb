// The two containers of pytorch_model.bin, zip (PyTorch 1.6 and later) and legacy (before): one pickled object, and the
// raw numbers that its tensors lie in, by key.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/pickle_value.h"
#include "checkpoint/tensor.h"

namespace deberta {

struct BinStorage {
  DType dtype = DType::kF32;
  uint64_t count = 0;  // elements
  Bytes bytes;         // exactly those
};

struct BinContents {
  Pickle object;
  std::unordered_map<std::string_view, BinStorage> storages;

  // The storage of a value of kind Storage; every one in `object` has one.
  const BinStorage& storage_of(const PickleValue& value) const;
};

// What the pickle of a state dict of tensors may name; `element` of a storage type is its DType.
std::span<const PickleGlobal> tensor_globals();

// Every storage that the object names is there, with the right size and, in a zip, the right CRC-32. `file` must
// outlive the result; `path` opens each message. Throws kBin.
BinContents read_bin(Bytes file, const std::string& path, bool checks_crc = true);

}  // namespace deberta

// Reads a pickle as data: the values that it describes, in tagged form. Nothing is constructed, imported or called, and
// anything that is not needed to describe data is refused (docs/reference/weights.md). Not a general unpickler.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "base/checked.h"
#include "base/pickle_value.h"

namespace deberta {

constexpr uint64_t kMaxPickleBytes = uint64_t{64} << 20;

// Reads one pickle from the front of `bytes`, which may go on after it. `globals` are the names that it may use; both
// must outlive the result. `where` (file and part) opens each message. Throws kBin.
Pickle parse_pickle(Bytes bytes, const std::string& where, std::span<const PickleGlobal> globals);

}  // namespace deberta

// The names that may stand in a state dict, and access to the values.
#include "checkpoint/pickle_value.h"

#include <array>

namespace deberta {
namespace {

using Use = PickleGlobal::Use;
constexpr std::array kGlobals = {
    PickleGlobal{"collections", "OrderedDict", Use::kOrderedDict},
    PickleGlobal{"torch", "Size", Use::kSize},
    PickleGlobal{"torch._utils", "_rebuild_tensor_v2", Use::kTensor},
    PickleGlobal{"torch._utils", "_rebuild_parameter", Use::kParameter},
    PickleGlobal{"torch", "FloatStorage", Use::kStorageType, DType::kF32},
    PickleGlobal{"torch", "HalfStorage", Use::kStorageType, DType::kF16},
    PickleGlobal{"torch", "BFloat16Storage", Use::kStorageType, DType::kBf16},
    PickleGlobal{"torch", "DoubleStorage", Use::kStorageType, DType::kF64},
    PickleGlobal{"torch", "LongStorage", Use::kStorageType, DType::kI64},
    PickleGlobal{"torch", "IntStorage", Use::kStorageType, DType::kI32},
    PickleGlobal{"torch", "ShortStorage", Use::kStorageType, DType::kI16},
    PickleGlobal{"torch", "CharStorage", Use::kStorageType, DType::kI8},
    PickleGlobal{"torch", "ByteStorage", Use::kStorageType, DType::kU8},
    PickleGlobal{"torch", "BoolStorage", Use::kStorageType, DType::kBool},
};

}  // namespace

std::string_view to_string(PickleKind kind) {
  constexpr std::array<std::string_view, 14> kNames = {"None",   "bool",    "integer", "float",    "string",
                                                       "global", "tuple",   "list",    "dict",     "OrderedDict",
                                                       "set",    "storage", "tensor",  "parameter"};
  return kNames.at(static_cast<size_t>(kind));
}

std::span<const PickleGlobal> pickle_globals() {
  return kGlobals;
}

std::span<const PickleValue> Pickle::items(const PickleValue& value) const {
  if (value.kind < PickleKind::kTuple) return {};
  return objects_.at(static_cast<size_t>(value.number));
}

}  // namespace deberta

// What a pickle describes, in tagged form: values, containers, and the globals that it may use.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"

namespace deberta {

enum class PickleKind : uint8_t {
  kNone,
  kBool,
  kInteger,
  kFloat,
  kString,
  kOther,   // bytes, an integer beyond 64 bits, the result of a Use::kOther: data that is never read
  kGlobal,  // one of the names allowed: Pickle::global_of
  kTuple,
  kList,
  kDict,         // items: key, value, key, value, ...
  kOrderedDict,  // the same
  kSet,
  kStorage,    // items: those of the persistent id
  kTensor,     // items: the arguments of _rebuild_tensor_v2
  kParameter,  // items: the arguments of _rebuild_parameter
};
std::string_view to_string(PickleKind kind);

// Containers are indices of objects in the Pickle: a value is copied freely, and a list may contain itself.
struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  int64_t number = 0;     // Bool, Integer; Global: which; containers: which object
  std::string_view text;  // String: its bytes in the file, UTF-8 not checked
};

// What `module.name` stands for. A kind of file has its own list of names, the exact ones that its data needs.
struct PickleGlobal {
  std::string_view module;
  std::string_view name;
  // kTyped: creates the tensor or parameter that its arguments name. kOther: its result is not used.
  enum class Use : uint8_t { kOrderedDict, kDefaultDict, kSize, kTensor, kParameter, kTyped, kStorageType, kOther } use;
  uint8_t element = 0;  // kStorageType: the caller's number for its element type
};

class Pickle {
 public:
  const PickleValue& root() const { return root_; }
  // The items of a container; none for other values.
  std::span<const PickleValue> items(const PickleValue& value) const;
  const PickleGlobal& global_of(const PickleValue& value) const { return globals_[static_cast<size_t>(value.number)]; }
  const std::vector<PickleValue>& storages() const { return storages_; }  // every kStorage, in the order of the file
  size_t size_bytes() const { return size_bytes_; }                       // with STOP

 private:
  friend class PickleMachine;
  std::span<const PickleGlobal> globals_;
  PickleValue root_;
  std::vector<std::vector<PickleValue>> objects_;
  std::vector<PickleValue> storages_;
  size_t size_bytes_ = 0;
};

}  // namespace deberta

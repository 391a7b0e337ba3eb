// The two containers of torch.save, zip (PyTorch 1.6 and later) and legacy (before): one pickled object, read as data,
// and the data next to it. The caller interprets the object.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "base/pickle_value.h"
#include "base/zip_reader.h"

namespace deberta {

struct TorchSave {
  Pickle object;
  std::optional<ZipReader> zip;  // zip archives: the entries
  Pickle keys;                   // legacy files: the list of storage keys; the storages follow each other in `rest`
  Bytes rest;
};

// Whether the bytes start like one of the two containers.
bool is_torch_save(Bytes file);

// `globals` are the names that the object may use. `file` and `globals` must outlive the result; `path` opens each
// message. Throws kBin.
TorchSave read_torch_save(Bytes file, const std::string& path, std::span<const PickleGlobal> globals);

}  // namespace deberta

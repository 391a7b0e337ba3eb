// Makers of pytorch_model.bin files byte by byte, right and wrong ones: a small writer of zip, legacy container and
// pickle, independent of the product's reader and of PyTorch.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/tensor.h"
#include "support/bad_safetensors.h"

namespace deberta::test {

std::string little_endian(uint64_t value, size_t size_bytes);
// `bytes` with those from `at` on replaced.
std::string patched(std::string bytes, size_t at, std::string_view with);

// ---- zip (bad_bin_writer.cpp)

struct ZipPart {
  std::string name;
  std::string data;
};
struct ZipForm {
  bool has_descriptors = true;  // as PyTorch writes: local sizes 0, the true ones after the data
  bool has_wide_descriptors = false;
  bool is_zip64 = true;          // end record and locator, as PyTorch writes
  bool has_zip64_sizes = false;  // sizes and offset of each entry in extra fields
  std::string comment = {};
};
std::string zip_bytes(const std::vector<ZipPart>& parts, const ZipForm& form = {});
// Where the n-th record of each kind begins. Data must not contain signatures.
size_t local_at(const std::string& zip, size_t index);
size_t central_at(const std::string& zip, size_t index);
size_t end_at(const std::string& zip);
size_t zip64_end_at(const std::string& zip);

// ---- pickle: opcodes that push what the name says

std::string pickle(std::string_view body);  // PROTO 2, body, STOP
std::string push_text(std::string_view text);
std::string push_number(int64_t value);
std::string push_tuple(const std::vector<std::string>& items);
std::string push_global(std::string_view module, std::string_view name);
std::string push_empty_ordered_dict();

struct StorageId {
  std::string tag = "storage";
  std::string type = push_global("torch", "FloatStorage");
  std::string key = push_text("0");
  std::string location = push_text("cpu");
  std::string count = push_number(6);
  std::string rest = {};  // a legacy file has None
};
std::string push_storage(const StorageId& id);

struct TensorCall {
  std::string storage = push_storage({});
  std::string offset = push_number(0);
  std::string shape = push_tuple({push_number(2), push_number(3)});
  std::string strides = push_tuple({push_number(3), push_number(1)});
  std::string requires_grad = "\x89";
  std::string hooks = push_empty_ordered_dict();
  std::string rest = {};
};
std::string push_tensor(const TensorCall& call);
std::string push_parameter(const std::string& tensor);
// Names with the opcodes of their values.
std::string push_state_dict(const std::vector<std::pair<std::string, std::string>>& items);

// ---- whole files

struct KeyedBytes {
  std::string key;
  std::string bytes;
};
std::string zip_bin(std::string_view data_pkl, const std::vector<KeyedBytes>& storages, const ZipForm& form = {});
// Each storage with its number of elements before it.
struct LegacyStorage {
  std::string key;
  uint64_t count;
  std::string bytes;
};
struct LegacyForm {
  std::string magic = std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.");
  std::string protocol = pickle("M\xe9\x03");
  std::string system = {};  // empty: that of a little-endian machine
  std::string keys = {};    // empty: those of the storages
};
std::string legacy_bin(std::string_view object, const std::vector<LegacyStorage>& storages,
                       const LegacyForm& form = {});

// The tensors, each in a storage of its own.
enum class BinForm { kZip, kLegacy };
std::string bin_of(const std::vector<TensorView>& tensors, BinForm form);

// One F32 [2, 3] tensor "a" of storage "0", values six_floats().
std::string six_floats();
std::string small_bin(BinForm form = BinForm::kZip);

// ---- the tables (bad_bin.cpp): every way to break the format that docs/reference/weights.md names
std::vector<BadFile> bad_zips();
std::vector<BadFile> bad_pickles();
std::vector<BadFile> bad_state_dicts();
std::vector<BadFile> bad_legacy_files();

}  // namespace deberta::test

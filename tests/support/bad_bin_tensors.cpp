// The tables of files whose container and pickle are valid, but whose tensors, storages or legacy parts are not.
#include "support/bad_bin.h"

namespace deberta::test {
namespace {

using namespace std::string_literals;

std::string numbers(const std::vector<int64_t>& values) {
  std::vector<std::string> items;
  for (const int64_t value : values) items.push_back(push_number(value));
  return push_tuple(items);
}

// A zip file with the given value under the single name "a", and the storage "0" of six floats.
std::string zip_of(const std::string& value) {
  return zip_bin(pickle(push_state_dict({{"a", value}})), {{"0", six_floats()}});
}
std::string with_storage(const StorageId& id) {
  return zip_of(push_tensor({.storage = push_storage(id)}));
}
std::string with_layout(int64_t offset, const std::vector<int64_t>& shape, const std::vector<int64_t>& strides) {
  return zip_of(push_tensor({.offset = push_number(offset), .shape = numbers(shape), .strides = numbers(strides)}));
}
std::string named(const std::string& name) {
  return zip_bin(pickle(push_state_dict({{name, push_tensor({})}})), {{"0", six_floats()}});
}

void add_containers(std::vector<BadFile>& files) {
  const std::string object = pickle(push_state_dict({{"a", push_tensor({})}}));
  const std::string neither = "expected a torch.save file";
  const auto with_part = [&](const std::string& name, const std::string& data) {
    return zip_bytes({{"r/data.pkl", object}, {"r/data/0", six_floats()}, {name, data}});
  };
  files.push_back({"empty file", "", neither});
  files.push_back({"text", "anything", neither});
  files.push_back({"a pickle alone", object, neither});
  files.push_back({"tar", "storages\0"s + std::string(600, '\0'), neither});
  files.push_back({"no data.pkl", zip_bytes({{"r/data/0", six_floats()}}), "expected r/data.pkl in the archive"});
  files.push_back({"no storage", zip_bin(object, {}), "expected archive/data/0 in the archive"});
  files.push_back({"storage too short", zip_bin(object, {{"0", six_floats().substr(1)}}),
                   "storage 0: expected 6 elements of F32, 24 bytes, got 23"});
  files.push_back({"storage too long", zip_bin(object, {{"0", six_floats() + "x"}}), "24 bytes, got 25"});
  files.push_back({"bytes after STOP", zip_bin(object + "x", {{"0", six_floats()}}),
                   "data.pkl: expected to end with STOP, got 1 more bytes"});
  files.push_back({"a second pickle", zip_bin(object + object, {{"0", six_floats()}}), "to end with STOP"});
  files.push_back({"big-endian", with_part("r/byteorder", "big"), "byteorder: expected \"little\", got \"big\""});
  files.push_back({"format of another time", with_part("r/version", "11\n"), "version: expected 1 to 10, got \"11\""});
  files.push_back({"format is text", with_part("r/version", "three"), "version: expected 1 to 10, got \"three\""});
  files.push_back({"format 0", with_part("r/.data/version", "0"), ".data/version: expected 1 to 10"});
  files.push_back({"damaged storage", patched(zip_of(push_tensor({})), zip_of(push_tensor({})).find(six_floats()), "x"),
                   "archive/data/0\": CRC-32: expected"});
  files.push_back({"damaged pickle", patched(zip_of(push_tensor({})), zip_of(push_tensor({})).find("_rebuild"), "x"),
                   "archive/data.pkl\": CRC-32: expected"});
  files.push_back({"pickle above 64 MB", zip_bin(std::string((64 << 20) + 1, '\0'), {}),
                   "data.pkl: expected at most 67108864 bytes, got 67108865"});
}

void add_storages(std::vector<BadFile>& files) {
  const std::string form = "persistent id: expected (\"storage\", type, key, location, count)";
  files.push_back({"storage key ../x", with_storage({.key = push_text("../x")}),
                   "storage \"../x\": expected a key of letters and digits"});
  files.push_back({"empty storage key", with_storage({.key = push_text("")}), "a key of letters and digits"});
  files.push_back({"storage key of 256 bytes", with_storage({.key = push_text(std::string(256, '0'))}),
                   "a key of letters and digits"});
  files.push_back({"storage key is a number", with_storage({.key = push_number(0)}), form});
  files.push_back({"another tag", with_storage({.tag = "module"}), form});
  files.push_back({"type is text", with_storage({.type = push_text("FloatStorage")}), form});
  files.push_back({"type is no storage", with_storage({.type = push_global("torch", "Size")}),
                   "persistent id: expected a storage type, got Size"});
  files.push_back({"count is text", with_storage({.count = push_text("6")}), form});
  files.push_back({"a sixth item", with_storage({.rest = "N"}), form});
  files.push_back({"four items", with_storage({.count = ""}), form});
  files.push_back(
      {"count negative", with_storage({.count = push_number(-1)}), "storage 0: expected a count >= 0, got -1"});
  files.push_back({"count 2^62", with_storage({.count = push_number(int64_t{1} << 62)}), "do not fit into 64 bits"});
  files.push_back({"count 2^61", with_storage({.count = push_number(int64_t{1} << 61)}), "got 24"});
  files.push_back({"count too small", with_storage({.count = push_number(5)}), "20 bytes, got 24"});
  files.push_back({"another type", with_storage({.type = push_global("torch", "HalfStorage")}), "12 bytes, got 24"});
  const std::string two_types = pickle(
      push_state_dict({{"a", push_tensor({})},
                       {"b", push_tensor({.storage = push_storage({.type = push_global("torch", "IntStorage")})})}}));
  files.push_back({"one storage, two types", zip_bin(two_types, {{"0", six_floats()}}),
                   "storage 0: expected one type and count, got two"});
}

void add_tensors(std::vector<BadFile>& files) {
  const std::string form = "expected a storage, an offset, a shape, strides, a bool and no hooks";
  files.push_back({"storage is text", zip_of(push_tensor({.storage = push_text("0")})), form});
  files.push_back({"offset is text", zip_of(push_tensor({.offset = push_text("0")})), form});
  files.push_back({"shape is a list", zip_of(push_tensor({.shape = "]"})), form});
  files.push_back({"strides are a list", zip_of(push_tensor({.strides = "]"})), form});
  files.push_back({"requires_grad is a number", zip_of(push_tensor({.requires_grad = "K\x01"})), form});
  files.push_back({"hooks", zip_of(push_tensor({.hooks = push_empty_ordered_dict() + "K\x01K\x02s"})), form});
  files.push_back({"hooks are a list", zip_of(push_tensor({.hooks = "]"})), form});
  files.push_back({"a seventh argument", zip_of(push_tensor({.rest = "}"})), form});
  files.push_back({"parameter of a number", zip_of(push_parameter("K\x01")), "expected a parameter of a tensor"});
  const std::string parameter = push_global("torch._utils", "_rebuild_parameter");
  files.push_back({"parameter with a number",
                   zip_of(parameter + push_tuple({push_tensor({}), "K\x01", push_empty_ordered_dict()}) + "R"),
                   "expected a parameter of a tensor"});
  files.push_back(
      {"parameter with hooks",
       zip_of(parameter + push_tuple({push_tensor({}), "\x88", push_empty_ordered_dict() + "K\x01K\x02s"}) + "R"),
       "expected a parameter of a tensor"});
  files.push_back({"parameter of two", zip_of(parameter + push_tuple({push_tensor({}), "\x88"}) + "R"),
                   "expected a parameter of a tensor"});
  files.push_back(
      {"value is a number", zip_of("K\x01"), "expected tensors by name, got none; the first entry is \"a\" (integer)"});
  files.push_back({"value is a storage", zip_of(push_storage({})), "expected a tensor, got a storage"});
  files.push_back({"value is a state dict", zip_of(push_state_dict({{"b", push_tensor({})}})),
                   "got them inside \"a\" (OrderedDict): the state of a training"});
  files.push_back({"offset negative", with_layout(-1, {2, 3}, {3, 1}), "offset: expected at least 0, got -1"});
  files.push_back({"offset past the storage", with_layout(1, {2, 3}, {3, 1}), "within the 6 elements of the storage"});
  files.push_back({"offset 2^63 - 1", with_layout(INT64_MAX, {2, 3}, {3, 1}), "within the 6 elements of the storage"});
  files.push_back({"offset of an empty tensor", with_layout(7, {0}, {1}), "within the 6 elements of the storage"});
  files.push_back({"stride negative", with_layout(5, {2, 3}, {-3, 1}), "strides: expected integers from 0"});
  files.push_back({"stride too large", with_layout(0, {2, 3}, {4, 1}), "within the 6 elements of the storage"});
  files.push_back({"stride 2^62", with_layout(0, {2}, {int64_t{1} << 62}), "strides: expected integers from 0"});
  files.push_back(
      {"strides that overflow", with_layout(0, {3, 2}, {(int64_t{1} << 53) - 1, 1}), "within the 6 elements"});
  files.push_back({"one element six million times", with_layout(0, {1000, 6000}, {0, 0}), "at most the 6 elements"});
  files.push_back({"dimension negative", with_layout(0, {-2, 3}, {3, 1}), "shape: expected integers from 0"});
  files.push_back(
      {"dimension is text", zip_of(push_tensor({.shape = push_tuple({push_text("2"), "K\x03"})})), "got string"});
  files.push_back(
      {"shape that overflows", with_layout(0, {int64_t{1} << 40, int64_t{1} << 40}, {1, 1}), "at most the 6 elements"});
  files.push_back(
      {"fewer strides than dimensions", with_layout(0, {2, 3}, {1}), "a stride for each of 2 dimensions, got 1"});
  files.push_back(
      {"9 dimensions", with_layout(0, std::vector<int64_t>(9, 1), std::vector<int64_t>(9, 1)), "at most 8, got 9"});
}

void add_names(std::vector<BadFile>& files) {
  const std::string good = "expected a name of 1 to 1024 bytes of UTF-8 without control characters";
  files.push_back({"empty name", named(""), good});
  files.push_back({"name with newline", named("a\nb"), good});
  files.push_back({"name with NUL", named("a\0b"s), good});
  files.push_back({"name of 1025 bytes", named(std::string(1025, 'n')), good});
  files.push_back({"name not in UTF-8", named("\xC3("), good});
  const std::string twice = pickle(push_state_dict({{"a", push_tensor({})}, {"a", push_tensor({})}}));
  files.push_back({"name twice", zip_bin(twice, {{"0", six_floats()}}), "tensor \"a\": expected each name once"});
  files.push_back({"name is a number", zip_bin(pickle("}K\x01" + push_tensor({}) + "s"), {{"0", six_floats()}}),
                   "expected names as keys, got a integer"});
  files.push_back({"list", zip_bin(pickle("]"), {}), "expected a state dict, got a list"});
  files.push_back({"list that contains itself",
                   zip_bin(pickle("]q\x01h\x01"
                                  "a"),
                           {}),
                   "expected a state dict, got a list"});
  files.push_back({"dict that contains itself", zip_bin(pickle("}q\x01" + push_text("a") + "h\x01s"), {}),
                   "got none; the first entry is \"a\" (dict)"});
  files.push_back(
      {"tensor alone", zip_bin(pickle(push_tensor({})), {{"0", six_floats()}}), "expected a state dict, got a tensor"});
  std::string many = "}(" + push_text("t") + push_tensor({}) + "q\x01";
  for (int i = 0; i < 100000; ++i) many += push_text("t" + std::to_string(i)) + "h\x01";
  files.push_back(
      {"100,001 tensors", zip_bin(pickle(many + "u"), {{"0", six_floats()}}), "at most 100000 tensors, got 100001"});
}

// Many names for one transposed view of a storage: each would be a copy.
void add_copies(std::vector<BadFile>& files) {
  const std::string view = push_tensor({.storage = push_storage({.count = push_number(6000)}),
                                        .shape = numbers({60, 100}),
                                        .strides = numbers({1, 60})});
  std::string body = "}(" + push_text("t") + view + "q\x01";
  for (int i = 0; i < 1000; ++i) body += push_text(std::to_string(i)) + "h\x01";
  files.push_back({"a thousand copies", zip_bin(pickle(body + "u"), {{"0", std::string(24000, '\0')}}),
                   "expected fewer tensors that need a copy"});
}

}  // namespace

std::vector<BadFile> bad_state_dicts() {
  std::vector<BadFile> files;
  add_containers(files);
  add_storages(files);
  add_tensors(files);
  add_names(files);
  add_copies(files);
  return files;
}

std::vector<BadFile> bad_legacy_files() {
  const std::string object = pickle(push_state_dict({{"a", push_tensor({.storage = push_storage({.rest = "N"})})}}));
  const std::string part_of_another = pickle(push_state_dict(
      {{"a", push_tensor({.storage = push_storage({.rest = push_tuple({push_text("1"), "K\x01", "K\x06"})})})}}));
  const std::string without_part = pickle(push_state_dict({{"a", push_tensor({})}}));
  const std::string two =
      pickle(push_state_dict({{"a", push_tensor({.storage = push_storage({.rest = "N"})})},
                              {"b", push_tensor({.storage = push_storage({.key = push_text("1"), .rest = "N"})})}}));
  const std::vector<LegacyStorage> storages = {{"0", 6, six_floats()}};
  const auto with = [&](LegacyForm form) { return legacy_bin(object, storages, form); };
  const auto system = [](const std::string& body) { return pickle("}(" + body + "u"); };
  const std::string little = push_text("little_endian");
  const std::string version = push_text("protocol_version");
  const std::string form = "persistent id: expected (\"storage\", type, key, location, count, None)";
  const std::string whole = legacy_bin(object, storages);
  return {
      {"another magic number", with({.magic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x18."}),
       "expected a torch.save file"},
      {"magic of protocol 1", with({.magic = "\x80\x01\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."}),
       "expected a torch.save file"},
      {"another protocol", with({.protocol = pickle("M\xe8\x03")}), "protocol: expected 1001, got integer 1000"},
      {"protocol is text", with({.protocol = pickle(push_text("1001"))}), "protocol: expected 1001, got string"},
      {"big-endian", with({.system = system(little + "\x89")}), "system: expected little_endian True"},
      {"no byte order", with({.system = system(version + "M\xe9\x03")}), "system: expected little_endian True"},
      {"two protocols", with({.system = system(little + "\x88" + version + "K\x01")}),
       "protocol: expected 1001, got integer 1"},
      {"system is a list", with({.system = pickle("]")}), "system: expected a dict"},
      {"system of numbers", with({.system = system("K\x01\x88")}), "system: expected strings as keys"},
      {"system that runs", with({.system = pickle("cos\nsystem\n)R")}),
       "system: pickle: GLOBAL at offset 2: \"system\" of \"os\""},
      {"no keys", with({.keys = pickle("]")}), "keys: expected the 1 storages of the object, got 0"},
      {"keys are a dict", with({.keys = pickle("}")}), "keys: expected a list"},
      {"another key", with({.keys = pickle("]" + push_text("1") + "a")}),
       "keys: expected each storage of the object once, got \"1\""},
      {"key is a number",
       with({.keys = pickle("]K\x01"
                            "a")}),
       "keys: expected each storage of the object once"},
      {"another count", legacy_bin(object, {{"0", 5, six_floats()}}), "storage 0: expected 6 elements, got 5"},
      {"storage cut off", legacy_bin(object, {{"0", 6, six_floats().substr(1)}}),
       "storage 0: expected 24 bytes, got 23: truncated"},
      {"a key twice", legacy_bin(two, {{"0", 6, six_floats()}, {"0", 6, six_floats()}}),
       "keys: expected each storage of the object once, got \"0\""},
      {"no storage", whole.substr(0, whole.size() - 32), "storage 0: expected 8 bytes, got 0: truncated"},
      {"1 byte more", whole + "x", "to end with its last storage, got 1 more bytes"},
      {"part of another storage", legacy_bin(part_of_another, storages), form},
      {"five items", legacy_bin(without_part, storages), form},
  };
}

}  // namespace deberta::test

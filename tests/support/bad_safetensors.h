// Makes .safetensors files byte by byte, valid and broken ones. Independent of the product's writer.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deberta::test {

// Little-endian length, header, data.
std::string safetensors_bytes(std::string_view header, std::string_view data = {});
std::string little_endian(uint64_t value);

// `{"dtype":...,"shape":...,"data_offsets":...}` of the JSON texts given.
std::string entry(std::string_view dtype, std::string_view shape, std::string_view offsets);

// A valid file of about 200 bytes: two tensors and metadata.
std::string small_safetensors();

// Header of `count` empty tensors.
std::string header_of_many(size_t count);

struct BadFile {
  std::string name;  // name of the case
  std::string bytes;
  std::string part;  // part of the message that refuses it
};
// Every way to break the format that docs/reference/weights.md names.
std::vector<BadFile> bad_safetensors();

struct GoodFile {
  std::string name;
  std::string bytes;
  size_t tensors;
};
// Unusual, but still valid.
std::vector<GoodFile> unusual_safetensors();

}  // namespace deberta::test

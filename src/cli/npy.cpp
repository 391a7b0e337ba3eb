// A header of text and the bytes.
#include "cli/npy.h"

#include <fmt/core.h>

#include "base/file.h"

namespace deberta::cli {

void write_npy_file(const std::string& path, std::span<const float> values, size_t columns) {
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", values.size() / columns, columns);
  constexpr size_t kPrefix = 10;  // magic, version, length
  header.append(63 - (kPrefix + header.size()) % 64, ' ');
  header += '\n';
  write_file_atomically(path, [&](FileWriter& out) {
    const char length[2] = {static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
    out.write(std::string_view("\x93NUMPY\x01\x00", 8));
    out.write(std::string_view(length, 2));
    out.write(header);
    out.write(std::as_bytes(values));
  });
}

}  // namespace deberta::cli

// A header in the notation of Python, padded so that the values begin at a multiple of 64 bytes.
#include "cli/npy_file.h"

#include <fmt/format.h>

#include <string_view>

#include "checkpoint/tensor.h"
#include "program/output.h"

namespace deberta::cli {

void write_npy(const std::string& path, DType dtype, const Shape& shape,
               const std::function<void(FileWriter&)>& values) {
  std::string header =
      fmt::format("{{'descr': '<{}{}', 'fortran_order': False, 'shape': ({}{}), }}", is_float(dtype) ? 'f' : 'i',
                  size_of(dtype), fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr size_t kPrefix = 10;  // magic, version, length
  header.append(63 - (kPrefix + header.size()) % 64, ' ');
  header += '\n';
  program::write_output(path, [&](FileWriter& out) {
    const char length[2] = {static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
    out.write(std::string_view("\x93NUMPY\x01\x00", 8));
    out.write(std::string_view(length, 2));
    out.write(header);
    values(out);
  });
}

}  // namespace deberta::cli

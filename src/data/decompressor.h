// Compressed streams (gzip, xz, Zstandard, bzip2) step by step, in bounded memory. Where the bytes come from:
// byte_source.h.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/checked.h"

namespace deberta {

enum class Compression { kNone, kGzip, kXz, kZstd, kBzip2 };

std::string_view to_string(Compression compression);

// By the ending of a file's name, in any case: .gz, .xz, .zst, .bz2, else none.
Compression compression_of(std::string_view path);
// By the first bytes of a stream; none if they begin no such stream.
Compression compression_in(std::string_view bytes);
// Whether `bytes` are too few to tell.
bool may_become_compression(std::string_view bytes);
// The name without that ending: "a.csv.gz" -> "a.csv".
std::string_view without_compression_ending(std::string_view path);

// Several streams one after the other are read as one, as the programs gzip, xz, zstd and bzip2 do.
class Decompressor {
 public:
  // The decoder's own memory: enough for what those programs write at their highest levels, unless asked explicitly for
  // long windows.
  static constexpr size_t kMaxMemoryBytes = size_t{192} << 20;
  static constexpr int kZstdWindowLog = 27;  // 128 MiB, as the program zstd allows without --long

  virtual ~Decompressor() = default;

  struct Step {
    size_t consumed = 0;
    size_t produced = 0;
    bool is_whole = false;  // a stream has just ended: the file may end here
    // Not empty: the bytes are wrong (`is_too_large`: right, but the decoder would need more than it may have).
    std::string_view problem = {};
    bool is_too_large = false;
  };
  // Consumes from `in` and fills `out`; `is_end`: nothing follows `in`. Nothing consumed or produced: more input is
  // needed.
  virtual Step step(Bytes in, std::span<std::byte> out, bool is_end) = 0;
};

// Throws kOutOfMemory. For kNone: nullptr. `zstd_window_log`: of the largest window in bytes, to the base 2.
std::unique_ptr<Decompressor> make_decompressor(Compression compression,
                                                int zstd_window_log = Decompressor::kZstdWindowLog);

}  // namespace deberta

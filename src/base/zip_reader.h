// A zip archive of stored (uncompressed) entries, as PyTorch writes it, over bytes in memory; nothing is copied.
// Not a general reader: no compression, no encryption, no split archives, and every doubtful archive is refused, so
// that no other reader can see other contents in an accepted one.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"

namespace deberta {

struct ZipEntry {
  std::string_view name;  // as in the file
  uint32_t crc32 = 0;     // as the directory says; read() compares
  Bytes bytes;
};

class ZipReader {
 public:
  // Checks everything but the checksums. `where` (the file) opens each message; `file` must outlive the reader.
  // Throws kBin.
  ZipReader(Bytes file, std::string where);

  // The folder that holds all entries, with its slash: "archive/".
  std::string_view root() const { return root_; }
  const std::vector<ZipEntry>& entries() const { return entries_; }  // sorted by name
  // By name below the root; nullptr when absent.
  const ZipEntry* find(std::string_view name_below_root) const;
  // The bytes of the entry, once their CRC-32 is checked. Throws kBin.
  Bytes read(const ZipEntry& entry) const;

 private:
  std::string where_;
  std::string_view root_;
  std::vector<ZipEntry> entries_;
};

}  // namespace deberta

// A file itself, whatever it is called.
#pragma once
#include <sys/stat.h>
#include <sys/types.h>

#include <compare>

namespace deberta {

struct FileId {
  dev_t device;
  ino_t inode;
  auto operator<=>(const FileId&) const = default;
};

inline FileId id_of(const struct stat& status) {
  return {status.st_dev, status.st_ino};
}

}  // namespace deberta

// A file that grows at its end, by pieces that are there whole or not at all. Internal to the half: logs stand on it.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/file.h"

namespace deberta::train {

class AppendedFile {
 public:
  // How many of the bytes that are there stay.
  using KeptBytes = std::function<size_t(std::string_view)>;

  // Opens or makes the file, and cuts it. Throws kFileWrite, kFileRead, kFileType.
  AppendedFile(const std::string& path, const KeptBytes& kept_bytes);
  ~AppendedFile();
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;

  const std::string& path() const { return path_; }
  void append(Bytes bytes);  // handed to the system at once. Throws kFileWrite; nothing of it is then there
  void sync();               // throws kFileWrite

 private:
  std::string path_;
  int fd_ = -1;
};

// Up to the last end of a line.
size_t whole_lines(std::string_view text);

}  // namespace deberta::train

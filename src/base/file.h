// Files: read whole, mapped, or newly written. For files that a user names for output see output_file.h.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/checked.h"
#include "base/mapping_table.h"

namespace deberta {

// Mapped pages are shared between processes and loaded on use; a file that is truncated while in use kills the process
// with SIGBUS (mapping_table.h). Bytes that are read belong to the process.
enum class LoadMode { kMap, kRead };

// The bytes of a regular file. Movable; they live as long as the object.
// Throws kFileNotFound, kFileType, kFileRead, and with kRead kOutOfMemory.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path, LoadMode mode = LoadMode::kMap);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  Bytes bytes() const { return bytes_; }
  const std::string& path() const { return path_; }

 private:
  MappedFile() = default;
  void read(int fd, size_t size_bytes);
  void map(int fd, size_t size_bytes);

  std::string path_;
  Bytes bytes_;
  MappingEntry entry_;  // set for a mapped file
};

// Releases the memory of the mapped pages that lie entirely in `bytes`; they are loaded from the file again when
// used. Bytes outside mapped files stay as they are.
void release_pages(Bytes bytes) noexcept;

// A whole regular file. Throws like MappedFile, and kTooLarge above `max_bytes`.
std::string read_file(const std::string& path, uint64_t max_bytes);

bool is_regular_file(const std::string& path);
bool is_directory(const std::string& path);
bool is_stream(const std::string& path);             // a pipe, a device or a socket
std::string parent_folder(const std::string& path);  // "a/b" -> "a", "b" -> ".", "/b" -> "/"

// Receives parts of a file in order.
class FileWriter {
 public:
  virtual void write(Bytes bytes) = 0;
  void write(std::string_view text) { write(to_bytes(text)); }

 protected:
  ~FileWriter() = default;
};

// A new file, filled and synced. Removed again if anything fails. Throws kFileWrite.
void write_new_file(const std::string& path, const std::function<void(FileWriter&)>& fill);

// Makes the names in `folder` survive a crash of the machine. Throws kFileWrite.
void sync_folder(const std::string& folder);

}  // namespace deberta

// Memory that several processes fill with the same bytes, held once by the machine: its whole pages are replaced by
// those of a file that each of them maps.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace deberta {

class SharedPages {
 public:
  SharedPages() = default;
  // From here on nobody may write to the blocks, which must stay allocated. The file lies in the first of `folders`
  // that takes it; its name follows from the bytes, and what is mapped was compared with all of them. Where no folder
  // takes it the pages stay as they are. Throws kOutOfMemory.
  SharedPages(std::span<const std::span<std::byte>> blocks, const std::vector<std::string>& folders);
  // The pages are the process's own again, without their contents. The last process removes the file; what killed
  // processes left is removed by the next that shares pages.
  ~SharedPages();
  SharedPages(SharedPages&& other) noexcept;
  SharedPages& operator=(SharedPages&& other) noexcept;
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  size_t size_bytes() const { return size_bytes_; }  // 0: nothing is shared

  // The memory file system of the host, then the folder of temporary files.
  static std::vector<std::string> usual_folders();

 private:
  bool map() const;
  void release() noexcept;

  std::vector<std::span<std::byte>> pages_;  // whole ones
  std::string path_;
  int fd_ = -1;  // the file, locked by all that map it
  size_t size_bytes_ = 0;
};

}  // namespace deberta

// What a file is at a moment: its size, its times, its content.
#pragma once
#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace deberta::jobs {

int64_t nanoseconds(const struct timespec& time);

// While all of it is the same, so is the content: whatever writes to a file changes the last time, which no program can
// set, and what takes its place has another number.
struct FileStamp {
  uint64_t bytes = 0;
  uint64_t inode = 0;
  int64_t modified = 0;  // nanoseconds since 1970
  int64_t changed = 0;
  bool operator==(const FileStamp&) const = default;
};
// None where there is no such file.
std::optional<FileStamp> stamp_of(const std::string& path);

// Asks `check` between its parts, which may throw. Throws kFileNotFound, kFileType, kFileRead.
std::string sha256_of_file(const std::string& path, const std::function<void()>& check);

}  // namespace deberta::jobs

// Lines of a file descriptor, without waiting for more than are there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace deberta::cli {

class LineReader {
 public:
  // "-" is standard input. Throws kFileNotFound.
  explicit LineReader(const std::string& path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  static constexpr size_t kMaxLineBytes = size_t{16} << 20;

  enum class Status { kLine, kTooLong, kEnd };
  // The next line without its end (LF or CR LF); a byte order mark at the start is dropped. A line above kMaxLineBytes
  // is passed over (kTooLong). After Ctrl-C: kEnd. Throws kFileRead.
  Status next(std::string& line);

  // Whether next() would not have to wait.
  bool is_ready() const;

  std::optional<uint64_t> total_bytes() const { return total_bytes_; }  // of a regular file
  uint64_t read_bytes() const { return read_bytes_; }
  const std::string& path() const { return path_; }

 private:
  bool fill();  // false at the end

  std::string path_;
  int fd_ = 0;
  std::optional<uint64_t> total_bytes_;
  uint64_t read_bytes_ = 0;
  std::string buffer_;
  size_t position_ = 0;
  bool is_first_ = true;
  bool at_end_ = false;
};

}  // namespace deberta::cli

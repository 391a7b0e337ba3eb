// Lines of a byte source, without waiting for more than are available.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "data/byte_source.h"
#include "deberta/error.h"

namespace deberta {

class LineReader {
 public:
  explicit LineReader(ByteSource source) : source_(std::move(source)) {}

  static constexpr size_t kMaxLineBytes = size_t{16} << 20;

  enum class Status { kLine, kTooLong, kEnd };
  // The next line without its end (LF or CR LF; CR in a source without any LF). A line above kMaxLineBytes is skipped
  // (kTooLong). Once the source is stopped: kEnd. Throws what ByteSource::read throws.
  Status next(std::string& line);

  // Whether next() would not have to wait.
  bool is_ready() const;

  // The end of the line that next() returned last: "\n", "\r\n" or "\r".
  std::string_view line_end() const { return has_return_ ? "\r\n" : std::string_view(&line_end_, 1); }

  size_t number() const { return number_; }  // number of the line that next() returned last, from 1
  std::string where() const;                 // "name:number", for messages
  const ByteSource& source() const { return source_; }

  size_t repaired() const { return repaired_; }  // lines that read_text_line had to repair
  void count_repaired() { ++repaired_; }

 private:
  bool fill();  // false at the end
  bool finds_old_line_ends();

  ByteSource source_;
  std::string buffer_;
  size_t position_ = 0;
  size_t number_ = 0;
  size_t repaired_ = 0;
  char line_end_ = '\n';
  bool has_return_ = false;  // before the line feed
  bool is_at_end_ = false;
};

// A line as text: invalid UTF-8 becomes U+FFFD for each ill-formed part, a line above the limit is an error
// (kTooLarge).
struct TextLine {
  std::string where;
  std::string text;
  std::optional<Error> error;
};
// False at the end. Throws what LineReader::next throws.
bool read_text_line(LineReader& lines, TextLine& line);

}  // namespace deberta

// A buffer over the source; what it holds before `position_` has been returned.
#include "data/lines.h"

#include <fmt/core.h>

#include "base/utf8.h"

namespace deberta {

bool LineReader::fill() {
  if (is_at_end_) return false;
  constexpr size_t kChunkBytes = size_t{1} << 16;
  buffer_.erase(0, std::exchange(position_, 0));
  const size_t used = buffer_.size();
  buffer_.resize(used + kChunkBytes);
  size_t count = 0;
  try {
    count = source_.read(std::span(buffer_).subspan(used));
  } catch (...) {
    buffer_.clear();  // the unfinished line is lost with what should have followed
    is_at_end_ = true;
    throw;
  }
  buffer_.resize(used + count);
  is_at_end_ = count == 0;
  return !is_at_end_;
}

// A source with a carriage return and no line feed has old Macintosh line ends, as Excel still writes them.
bool LineReader::finds_old_line_ends() {
  if (number_ > 0 || line_end_ == '\r' || buffer_.find('\r', position_) == std::string::npos) return false;
  line_end_ = '\r';
  return true;
}

LineReader::Status LineReader::next(std::string& line) {
  size_t searched = 0;  // bytes after position_ known to hold no line end
  bool is_too_long = false;
  for (;;) {
    const size_t end = buffer_.find(line_end_, position_ + searched);
    if (end != std::string::npos) {
      line.assign(buffer_, position_, end - position_);
      position_ = end + 1;
      break;
    }
    searched = buffer_.size() - position_;
    if (searched > kMaxLineBytes && finds_old_line_ends()) {
      searched = 0;
      continue;
    }
    if (searched > kMaxLineBytes) {
      is_too_long = true;
      position_ = buffer_.size();
      searched = 0;
    }
    if (fill()) continue;
    if (position_ == buffer_.size() && !is_too_long) return Status::kEnd;
    if (source_.is_stopped()) return Status::kEnd;  // a line cut short is not a line
    if (finds_old_line_ends()) {
      searched = 0;
      continue;
    }
    line.assign(buffer_, position_);
    position_ = buffer_.size();
    break;
  }
  ++number_;
  has_return_ = line.ends_with('\r');
  if (has_return_) line.pop_back();
  return is_too_long || line.size() > kMaxLineBytes ? Status::kTooLong : Status::kLine;
}

bool LineReader::is_ready() const {
  return is_at_end_ || buffer_.find(line_end_, position_) != std::string::npos || source_.is_ready();
}

std::string LineReader::where() const {
  return fmt::format("{}:{}", source_.name(), number_);
}

bool read_text_line(LineReader& lines, TextLine& line) {
  const LineReader::Status status = lines.next(line.text);
  if (status == LineReader::Status::kEnd) return false;
  line.where = lines.where();
  line.error.reset();
  if (status == LineReader::Status::kTooLong) {
    line.text.clear();
    line.error = Error(ErrorCode::kTooLarge, line.where,
                       fmt::format("expected a line of at most {} bytes", LineReader::kMaxLineBytes));
  } else if (!is_valid_utf8(line.text)) {
    line.text = replace_invalid_utf8(line.text);
    lines.count_repaired();
  }
  return true;
}

}  // namespace deberta

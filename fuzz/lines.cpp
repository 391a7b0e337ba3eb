// Bytes to lines (the first byte chooses the compression, in place of a file name); whatever is read is written as
// lines and read back the same.
#include "data/lines.h"

#include <vector>

#include "deberta/error.h"
#include "fuzz.h"

namespace deberta::fuzz {
namespace {

// A decompression bomb gives endless lines; a few MiB of them are enough.
constexpr size_t kMaxBytes = size_t{4} << 20;

std::vector<std::string> lines_of(ByteSource source) {
  LineReader reader(std::move(source));
  std::vector<std::string> lines;
  std::string line;
  for (size_t bytes = 0; bytes < kMaxBytes && reader.next(line) != LineReader::Status::kEnd; bytes += line.size() + 1) {
    FUZZ_REQUIRE(line.size() <= LineReader::kMaxLineBytes && line.find('\n') == std::string::npos);
    lines.push_back(line);
    FUZZ_REQUIRE(reader.number() == lines.size());
  }
  return lines;
}

}  // namespace

void run(Bytes input) {
  Cutter cut(input);
  const auto compression = static_cast<Compression>(cut.byte() % 5);
  const auto lines = lines_of(ByteSource(to_bytes(cut.rest()), "in", compression));
  std::string text;
  for (const std::string& line : lines) text += line + (line.ends_with('\r') ? "\r\n" : "\n");
  text.insert(0, "\xEF\xBB\xBF");  // after it nothing is taken for another encoding
  FUZZ_REQUIRE(lines_of(ByteSource(to_bytes(text), "again")) == lines);
}

}  // namespace deberta::fuzz

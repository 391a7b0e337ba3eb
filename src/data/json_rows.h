// JSON as rows: JSON Lines, one value per line; and a document that is read as a whole.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "data/lines.h"

namespace deberta {

struct JsonRow {
  std::string where;
  Json value;
  std::optional<Error> error;  // kJson (with the column), kTooLarge
};

constexpr size_t kMaxJsonRowDepth = 32;
// Limits of a document that is an array of rows.
constexpr size_t kMaxJsonDocumentBytes = size_t{64} << 20;
constexpr size_t kMaxJsonDocumentValues = 10000000;

bool is_blank(std::string_view line);  // nothing but spaces and tabs

// The value of one line; an error of the line becomes the row's.
JsonRow parse_json_row(TextLine line);

class JsonLineReader {
 public:
  explicit JsonLineReader(LineReader lines) : lines_(std::move(lines)) {}

  static constexpr size_t kMaxDepth = kMaxJsonRowDepth;

  // False at the end. Blank lines are skipped. Throws what LineReader::next throws.
  bool next(JsonRow& row);

  size_t blank_lines() const { return blank_lines_; }
  const LineReader& lines() const { return lines_; }

 private:
  LineReader lines_;
  size_t blank_lines_ = 0;
};

// The whole source as one document; invalid UTF-8 is repaired. `limits.max_bytes` counts the bytes of the source.
// Throws kJson, kTooLarge, and what ByteSource::read throws.
Json read_json_document(ByteSource& source, const JsonLimits& limits, bool* is_repaired = nullptr);

}  // namespace deberta

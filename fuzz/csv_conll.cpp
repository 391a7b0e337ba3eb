// The first byte chooses: CSV, CSV without header, TSV, CoNLL. Accepted rows are written and read back the same.
#include "base/utf8.h"
#include "data/conll.h"
#include "data/table.h"
#include "deberta/error.h"
#include "fuzz.h"

namespace deberta::fuzz {
namespace {

std::string quoted(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    line += line.empty() ? "\"" : ",\"";
    for (const char c : cell) line += c == '"' ? "\"\"" : std::string(1, c);
    line += '"';
  }
  return line + "\n";
}

bool ends_lines_with_return(const std::string& text) {
  return text.find("\r\n") != std::string::npos;
}

void read_table(std::string_view text, const TableRules& rules) {
  TableReader reader(LineReader(ByteSource(to_bytes(text), "in")), rules);
  std::string written;
  for (TableRow row; reader.next(row);) {
    FUZZ_REQUIRE(row.error ? row.cells.empty() : row.cells.size() == reader.columns().size());
    for (const std::string& cell : row.cells) FUZZ_REQUIRE(is_valid_utf8(cell));
    if (!row.error) written += quoted(row.cells);
  }
  if (ends_lines_with_return(written)) return;  // comes back as a line feed
  TableReader again(LineReader(ByteSource(to_bytes(written), "again")),
                    {.separator = ',', .has_quotes = true, .has_header = false});
  std::string repeated;
  for (TableRow row; again.next(row); repeated += quoted(row.cells)) FUZZ_REQUIRE(!row.error);
  FUZZ_REQUIRE(repeated == written || written.starts_with("\xEF\xBB\xBF"));
}

void read_sentences(std::string_view text) {
  ConllReader reader(LineReader(ByteSource(to_bytes(text), "in")));
  for (ConllSentence sentence; reader.next(sentence);) {
    FUZZ_REQUIRE(sentence.error.has_value() == (sentence.tokens() == 0));
    FUZZ_REQUIRE(sentence.cells.size() == sentence.tokens() * sentence.columns);
    for (const std::string& cell : sentence.cells) FUZZ_REQUIRE(!cell.empty() && is_valid_utf8(cell));
  }
}

}  // namespace

void run(Bytes input) {
  Cutter cut(input);
  const uint8_t kind = cut.byte() % 4;
  if (kind == 3) return read_sentences(cut.rest());
  read_table(cut.rest(), {.separator = kind == 2 ? '\t' : ',', .has_quotes = kind != 2, .has_header = kind != 1});
}

}  // namespace deberta::fuzz

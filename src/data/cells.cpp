// Escapes and quotes for TSV and CSV, so that tabs, line breaks and quotation marks survive a round trip.
#include "data/cells.h"

#include <array>
#include <utility>

namespace deberta {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // at the start of a file it would be taken for one
constexpr std::string_view kMark = "\\:";
constexpr std::array<std::pair<char, char>, 5> kEscapes = {
    {{'\t', 't'}, {'\n', 'n'}, {'\r', 'r'}, {'\0', '0'}, {'\\', '\\'}}};
constexpr std::string_view kNotInCells("\t\n\r\0", 4);

}  // namespace

std::string tsv_cell(std::string_view text) {
  const bool is_plain = !text.starts_with(kMark) && !text.starts_with(kByteOrderMark);
  if (is_plain && text.find_first_of(kNotInCells) == std::string_view::npos) return std::string(text);
  std::string out(kMark);
  for (const char c : text) {
    char escape = 0;
    for (const auto& [meant, written] : kEscapes) escape = c == meant ? written : escape;
    if (escape != 0) out += '\\';
    out += escape != 0 ? escape : c;
  }
  return out;
}

std::string text_of_tsv_cell(std::string cell) {
  if (!cell.starts_with(kMark)) return cell;
  std::string text;
  for (size_t i = kMark.size(); i < cell.size(); ++i) {
    if (cell[i] != '\\') {
      text += cell[i];
      continue;
    }
    const char next = i + 1 < cell.size() ? cell[++i] : ' ';
    const size_t before = text.size();
    for (const auto& [meant, written] : kEscapes) {
      if (next == written) text += meant;
    }
    if (text.size() == before) return cell;
  }
  return text;
}

std::string csv_cell(std::string_view text) {
  const bool is_plain = text.find_first_of(",\"\r\n") == std::string_view::npos;
  if (is_plain && !text.starts_with(kByteOrderMark)) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

}  // namespace deberta

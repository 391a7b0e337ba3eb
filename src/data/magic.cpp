// The table of what turns up in place of text, and what to do about it.
#include "data/magic.h"

#include <fmt/format.h>

#include <algorithm>

#include "deberta/error.h"

namespace deberta {
namespace {

using namespace std::string_view_literals;

struct NoText {
  Magic magic;
  std::string_view what;
  std::string_view remedy;
};

constexpr std::string_view kArchive = "unpack it first";
constexpr std::string_view kTable = "save its rows as csv or jsonl";
constexpr std::string_view kPlain = "save its text as a .txt file";
constexpr std::string_view kTwice = "decompress it once";
constexpr std::string_view kNoTexts = "name the file that contains the texts";

constexpr NoText kNoText[] = {
    {{"PK\x03\x04"sv}, "a zip archive (such as .xlsx, .docx or .npz)", "unpack it first, or save the sheet as csv"},
    {{"PK\x05\x06"sv}, "an empty zip archive", kArchive},
    {{"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv}, "an old Office file (.xls, .doc)", "save the sheet as csv"},
    {{"7z\xBC\xAF\x27\x1C"sv}, "a 7z archive", kArchive},
    {{"Rar!\x1A\x07"sv}, "a rar archive", kArchive},
    {{"ustar"sv, 257}, "a tar archive", kArchive},
    {{"\x04\x22\x4D\x18"sv}, "lz4 data", "decompress it first, or use gzip, xz, zstd or bzip2"},
    {{"LZIP\x01"sv}, "lzip data", "decompress it first, or use gzip, xz, zstd or bzip2"},
    {{"\x1F\x9D"sv}, "compress data (.Z)", "decompress it first"},
    {{"\x1F\x8B\x08"sv}, "gzip data within compressed data", kTwice},
    {{"\xFD\x37zXZ\0"sv}, "xz data within compressed data", kTwice},
    {{"\x28\xB5\x2F\xFD"sv}, "zstd data within compressed data", kTwice},
    {{"BZh1\x31\x41\x59\x26\x53\x59"sv, 0, 3, 0xF0}, "bzip2 data within compressed data", kTwice},
    {{"\x93NUMPY"sv}, "a NumPy array (.npy)", kNoTexts},
    {{"PAR1\x15"sv}, "a Parquet file", kTable},
    {{"ARROW1\0\0"sv}, "an Arrow file (Feather)", kTable},
    {{"Obj\x01"sv}, "an Avro file", kTable},
    {{"SQLite format 3\0"sv}, "an SQLite database", kTable},
    {{"\x89HDF\r\n\x1A\n"sv}, "an HDF5 file", kNoTexts},
    {{"\x80\x02"sv}, "a Python pickle", kTable},
    {{"\x80\x03"sv}, "a Python pickle", kTable},
    {{"\x80\x04"sv}, "a Python pickle", kTable},
    {{"\x80\x05"sv}, "a Python pickle", kTable},
    {{"%PDF-"sv}, "a PDF", kPlain},
    {{"{\\rtf1"sv}, "an RTF document", kPlain},
    {{"\x89PNG\r\n\x1A\n"sv}, "an image (PNG)", kNoTexts},
    {{"\xFF\xD8\xFF"sv}, "an image (JPEG)", kNoTexts},
    {{"GIF89a"sv}, "an image (GIF)", kNoTexts},
    {{"\x7F"
      "ELF"sv},
     "an executable (ELF)",
     kNoTexts},
    {{"\xFF\xFE\0\0"sv}, "UTF-32", "convert it to UTF-8"},
    {{"\0\0\xFE\xFF"sv}, "UTF-32", "convert it to UTF-8"},
};

struct Mark {
  std::string_view bytes;
  TextEncoding encoding;
};
constexpr Mark kMarks[] = {{"\xEF\xBB\xBF"sv, TextEncoding::kUtf8},
                           {"\xFF\xFE"sv, TextEncoding::kUtf16Le},
                           {"\xFE\xFF"sv, TextEncoding::kUtf16Be}};

[[noreturn]] void refuse(const std::string& name, std::string_view what, std::string_view remedy) {
  throw Error(ErrorCode::kInput, name, fmt::format("expected text, got {}; {}", what, remedy));
}

}  // namespace

Match match(const Magic& magic, std::string_view bytes) {
  const size_t end = std::min(bytes.size(), magic.offset + magic.bytes.size());
  for (size_t i = magic.offset; i < end; ++i) {
    const size_t at = i - magic.offset;
    const unsigned mask = at == magic.masked ? magic.mask : 0xFFU;
    if (((static_cast<unsigned char>(bytes[i]) ^ static_cast<unsigned char>(magic.bytes[at])) & mask) != 0)
      return Match::kNo;
  }
  return bytes.size() >= magic.offset + magic.bytes.size() ? Match::kYes : Match::kTooShort;
}

TextEncoding encoding_of(std::string_view bytes, size_t& mark_bytes) {
  mark_bytes = 0;
  for (const Mark& mark : kMarks) {
    if (!bytes.starts_with(mark.bytes)) continue;
    mark_bytes = mark.bytes.size();
    return mark.encoding;
  }
  return TextEncoding::kUtf8;
}

void check_text(std::string_view bytes, const std::string& name) {
  for (const NoText& each : kNoText) {
    if (match(each.magic, bytes) == Match::kYes) refuse(name, each.what, each.remedy);
  }
  size_t mark_bytes = 0;
  if (encoding_of(bytes, mark_bytes) != TextEncoding::kUtf8) return;
  if (const size_t at = bytes.find('\0'); at != std::string_view::npos)
    refuse(name, fmt::format("a NUL byte at byte {}: binary data, or UTF-16 without a byte order mark", at),
           "convert it to UTF-8");
}

bool is_too_short_to_tell(std::string_view bytes) {
  const auto is_begun = [&](const Magic& magic) {
    return magic.offset == 0 && match(magic, bytes) == Match::kTooShort;  // do not wait for a mark that lies far behind
  };
  return std::any_of(std::begin(kNoText), std::end(kNoText),
                     [&](const NoText& each) { return is_begun(each.magic); }) ||
         std::any_of(std::begin(kMarks), std::end(kMarks), [&](const Mark& mark) { return is_begun({mark.bytes}); });
}

}  // namespace deberta

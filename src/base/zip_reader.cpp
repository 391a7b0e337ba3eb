// End record, then the central directory, then each local header against it. All numbers are little-endian.
#include "base/zip_reader.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/utf8.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr std::string_view kEndSignature = "PK\5\6";
constexpr std::string_view kEnd64Signature = "PK\6\6";
constexpr std::string_view kLocatorSignature = "PK\6\7";
constexpr std::string_view kCentralSignature = "PK\1\2";
constexpr std::string_view kLocalSignature = "PK\3\4";
constexpr std::string_view kDescriptorSignature = "PK\7\x8";
constexpr uint64_t kEndBytes = 22;
constexpr uint64_t kEnd64Bytes = 56;
constexpr uint64_t kLocatorBytes = 20;
constexpr uint64_t kMaxCommentBytes = 65535;
constexpr uint64_t kMaxEntries = 200000;
constexpr uint64_t kMax16 = 0xFFFF;      // "see the zip64 fields"
constexpr uint64_t kMax32 = 0xFFFFFFFF;  // the same
constexpr uint64_t kZip64Field = 1;
constexpr uint64_t kHasDescriptor = 0x0008;
constexpr uint64_t kHarmlessFlags = 0x080E;  // descriptor, UTF-8 names, and two that only a compressor reads
constexpr uint64_t kStored = 0;

// The reader of one archive while it is checked: a position, and messages that name the place.
class Cursor {
 public:
  Cursor(Bytes file, uint64_t begin, uint64_t size_bytes, const std::string& where, std::string what)
      : reader_(slice(file, begin, size_bytes)), where_(where), what_(std::move(what)) {}

  [[noreturn]] void refuse(const std::string& message) const {
    throw Error(ErrorCode::kBin, where_, fmt::format("zip: {}: {}", what_, message));
  }
  Bytes take(uint64_t count) {
    const auto bytes = reader_.take(count);
    if (!bytes) refuse(fmt::format("expected {} more bytes, got {}: truncated", count, reader_.left()));
    return *bytes;
  }
  uint64_t number(size_t size_bytes) {
    const Bytes bytes = take(size_bytes);
    return *Reader(bytes).take_little_endian(size_bytes);
  }
  std::string_view text(uint64_t count) { return to_text(take(count)); }
  void signature(std::string_view expected) {
    if (text(expected.size()) != expected) refuse("expected its signature");
  }
  void equal(std::string_view field, uint64_t expected, uint64_t got) const {
    if (expected != got) refuse(fmt::format("{}: expected {}, got {}", field, expected, got));
  }
  size_t left() const { return reader_.left(); }
  size_t position() const { return reader_.position(); }
  void rename(std::string what) { what_ = std::move(what); }

 private:
  static Bytes slice(Bytes file, uint64_t begin, uint64_t size_bytes) {
    if (begin > file.size()) return {};
    return file.subspan(static_cast<size_t>(begin), static_cast<size_t>(std::min(size_bytes, file.size() - begin)));
  }

  Reader reader_;
  const std::string& where_;
  std::string what_;
};

constexpr uint64_t kToTheEnd = std::numeric_limits<uint64_t>::max();

// Where the central directory is and what it must hold.
struct Directory {
  uint64_t entries = 0;
  uint64_t size_bytes = 0;
  uint64_t begin = 0;
  uint64_t end = 0;  // where the end records begin
};

// The one end record whose comment reaches the end of the file. Two of them, or a signature inside the comment, and
// readers disagree about which archive this is.
uint64_t find_end_record(Bytes file, const std::string& where) {
  const auto refuse = [&](std::string_view message) {
    throw Error(ErrorCode::kBin, where, fmt::format("zip: end record: {}", message));
  };
  const std::string_view text = to_text(file);
  if (text.size() < kEndBytes) refuse("expected one in the last 65557 bytes, got none: truncated");
  const uint64_t window = std::min<uint64_t>(text.size(), kMaxCommentBytes + kEndBytes);
  const uint64_t first = text.size() - window;
  std::optional<uint64_t> position;
  for (size_t at = text.find(kEndSignature, first); at != text.npos; at = text.find(kEndSignature, at + 1)) {
    if (position) refuse("expected one, got a second inside the comment of the first");
    if (text.size() - at < kEndBytes) continue;
    const uint64_t comment = *Reader(file.subspan(at + kEndBytes - 2)).take_little_endian(2);
    if (at + kEndBytes + comment == text.size()) position = at;
  }
  if (!position) refuse("expected one in the last 65557 bytes, with its comment up to the end of the file, got none");
  return *position;
}

// The zip64 end record, when its locator stands before the end record.
std::optional<Directory> read_zip64_end(Bytes file, const std::string& where, uint64_t end_record) {
  if (end_record < kLocatorBytes) return std::nullopt;
  Cursor locator(file, end_record - kLocatorBytes, kLocatorBytes, where, "zip64 locator");
  if (locator.text(4) != kLocatorSignature) return std::nullopt;
  locator.equal("disk", 0, locator.number(4));
  const uint64_t begin = locator.number(8);
  locator.equal("disks", 1, locator.number(4));
  const auto end = checked_add(begin, kEnd64Bytes);
  if (!end || *end != end_record - kLocatorBytes) {
    locator.refuse(fmt::format("expected the record {} bytes before it, got offset {}", kEnd64Bytes, begin));
  }
  Cursor record(file, begin, kEnd64Bytes, where, "zip64 end record");
  record.signature(kEnd64Signature);
  record.equal("size", kEnd64Bytes - 12, record.number(8));
  record.take(4);  // versions
  record.equal("disk", 0, record.number(4));
  record.equal("disk of the directory", 0, record.number(4));
  Directory directory;
  directory.entries = record.number(8);
  record.equal("entries", directory.entries, record.number(8));
  directory.size_bytes = record.number(8);
  directory.begin = record.number(8);
  directory.end = begin;
  return directory;
}

// The small fields and the zip64 record must agree.
uint64_t merge(const Cursor& cursor, std::string_view field, uint64_t small, uint64_t saturated,
               const std::optional<uint64_t>& large) {
  if (large && small != saturated) cursor.equal(field, *large, small);
  return large.value_or(small);
}

Directory find_directory(Bytes file, const std::string& where) {
  const uint64_t end_record = find_end_record(file, where);
  const auto large = read_zip64_end(file, where, end_record);
  const auto field = [&](uint64_t Directory::*member) { return large ? std::optional(*large.*member) : std::nullopt; };
  Cursor record(file, end_record, kEndBytes, where, "end record");
  record.signature(kEndSignature);
  record.equal("disk", 0, record.number(2));
  record.equal("disk of the directory", 0, record.number(2));
  const uint64_t entries = record.number(2);
  record.equal("entries", entries, record.number(2));
  Directory directory;
  directory.entries = merge(record, "entries", entries, kMax16, field(&Directory::entries));
  directory.size_bytes = merge(record, "directory size", record.number(4), kMax32, field(&Directory::size_bytes));
  directory.begin = merge(record, "directory offset", record.number(4), kMax32, field(&Directory::begin));
  directory.end = large ? large->end : end_record;
  const auto end = checked_add(directory.begin, directory.size_bytes);
  if (!end || *end != directory.end) {
    record.refuse(
        fmt::format("directory: expected to end at {}, where the end records start, got offset {} and size {}",
                    directory.end, directory.begin, directory.size_bytes));
  }
  if (directory.entries > kMaxEntries) {
    record.refuse(fmt::format("expected at most {} entries, got {}", kMaxEntries, directory.entries));
  }
  return directory;
}

std::string quote_entry(std::string_view name) {
  const std::string quoted = quote_json(replace_invalid_utf8(name.substr(0, 80)));
  return name.size() <= 80 ? quoted : quoted + "...";
}

void check_entry_name(const Cursor& cursor, std::string_view name) {
  const bool is_plain = !name.empty() && name.front() != '/' && name.find("..") == name.npos &&
                        name.find('\\') == name.npos && name.find('\0') == name.npos;
  if (!is_plain) cursor.refuse("expected a name without .., leading /, \\ and NUL");
}

// The fields that both headers have.
struct Header {
  uint64_t flags = 0;
  uint64_t method = 0;
  uint64_t crc32 = 0;
  uint64_t packed_bytes = 0;
  uint64_t size_bytes = 0;
};

Header read_common(Cursor& cursor) {
  Header header;
  header.flags = cursor.number(2);
  header.method = cursor.number(2);
  cursor.take(4);  // time and date
  header.crc32 = cursor.number(4);
  header.packed_bytes = cursor.number(4);
  header.size_bytes = cursor.number(4);
  return header;
}

// Replaces the saturated ones among `values`, in their order, by those of the zip64 extra field.
void read_zip64_extra(const Cursor& cursor, Bytes extra, std::initializer_list<uint64_t*> values) {
  Reader fields(extra);
  std::optional<Bytes> large;
  while (fields.left() > 0) {
    const auto id = fields.take_little_endian(2);
    const auto size_bytes = fields.take_little_endian(2);
    const auto content = size_bytes ? fields.take(*size_bytes) : std::nullopt;
    if (!id || !content) cursor.refuse("extra fields: truncated");
    if (*id != kZip64Field) continue;
    if (large) cursor.refuse("extra fields: expected one zip64 field, got two");
    large = *content;
  }
  Reader numbers(large.value_or(Bytes{}));
  for (uint64_t* value : values) {
    if (*value != kMax32) continue;
    const auto number = numbers.take_little_endian(8);
    if (!number) cursor.refuse("extra fields: expected the 64-bit sizes that the header announces");
    *value = *number;
  }
}

// An entry as the central directory lists it.
struct Listed {
  std::string_view name;
  Header header;
  uint64_t local_offset = 0;
};

Listed read_central_header(Cursor& cursor, uint64_t index) {
  cursor.rename(fmt::format("directory entry {}", index));
  cursor.signature(kCentralSignature);
  cursor.take(4);  // versions
  Listed listed;
  listed.header = read_common(cursor);
  const uint64_t name_bytes = cursor.number(2);
  const uint64_t extra_bytes = cursor.number(2);
  const uint64_t comment_bytes = cursor.number(2);
  cursor.equal("disk", 0, cursor.number(2));
  cursor.take(6);  // attributes
  listed.local_offset = cursor.number(4);
  listed.name = cursor.text(name_bytes);
  cursor.rename(quote_entry(listed.name));
  check_entry_name(cursor, listed.name);
  read_zip64_extra(cursor, cursor.take(extra_bytes),
                   {&listed.header.size_bytes, &listed.header.packed_bytes, &listed.local_offset});
  cursor.take(comment_bytes);
  if ((listed.header.flags & ~kHarmlessFlags) != 0)
    cursor.refuse(
        fmt::format("flags 0x{:04x}: expected a plain entry, got an encrypted or patched one", listed.header.flags));
  if (listed.header.method != kStored)
    cursor.refuse(fmt::format("expected a stored entry (method 0), got method {}", listed.header.method));
  cursor.equal("packed size", listed.header.size_bytes, listed.header.packed_bytes);
  return listed;
}

// The bytes that an entry takes from its local header to its descriptor.
struct Placed {
  ZipEntry entry;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// PyTorch's writer leaves CRC and sizes 0 in the local header and writes them after the data, with 4 or 8 bytes each.
uint64_t check_descriptor(const Cursor& cursor, Bytes file, uint64_t begin, const Header& header) {
  for (const size_t width : {size_t{4}, size_t{8}}) {
    const uint64_t size_bytes = 8 + 2 * width;
    if (begin > file.size() || file.size() - begin < size_bytes) continue;
    Reader reader(file.subspan(static_cast<size_t>(begin), static_cast<size_t>(size_bytes)));
    const bool agrees = to_text(*reader.take(4)) == kDescriptorSignature &&
                        *reader.take_little_endian(4) == header.crc32 &&
                        *reader.take_little_endian(width) == header.packed_bytes &&
                        *reader.take_little_endian(width) == header.size_bytes;
    if (agrees) return begin + size_bytes;
  }
  cursor.refuse("descriptor after the data: expected the directory's CRC-32 and sizes");
}

// CRC and sizes of the local header; those of an entry with a descriptor may be 0.
void check_local_sizes(const Cursor& cursor, const Header& local, const Header& central) {
  const bool may_be_zero = (central.flags & kHasDescriptor) != 0;
  const auto check = [&](std::string_view field, uint64_t expected, uint64_t got) {
    if (!(may_be_zero && got == 0)) cursor.equal(field, expected, got);
  };
  check("CRC-32 in the local header", central.crc32, local.crc32);
  check("packed size in the local header", central.packed_bytes, local.packed_bytes);
  check("size in the local header", central.size_bytes, local.size_bytes);
}

Placed read_local(Bytes file, const std::string& where, const Listed& listed) {
  Cursor cursor(file, listed.local_offset, kToTheEnd, where, quote_entry(listed.name));
  cursor.signature(kLocalSignature);
  cursor.take(2);  // version
  Header local = read_common(cursor);
  const uint64_t name_bytes = cursor.number(2);
  const uint64_t extra_bytes = cursor.number(2);
  if (cursor.text(name_bytes) != listed.name) cursor.refuse("expected the same name in the local header");
  read_zip64_extra(cursor, cursor.take(extra_bytes), {&local.size_bytes, &local.packed_bytes});
  cursor.equal("flags in the local header", listed.header.flags, local.flags);
  cursor.equal("method in the local header", listed.header.method, local.method);
  check_local_sizes(cursor, local, listed.header);
  Placed placed;
  placed.begin = listed.local_offset;
  placed.entry.name = listed.name;
  placed.entry.crc32 = static_cast<uint32_t>(listed.header.crc32);
  placed.entry.bytes = cursor.take(listed.header.size_bytes);
  placed.end = listed.local_offset + cursor.position();
  if ((listed.header.flags & kHasDescriptor) != 0)
    placed.end = check_descriptor(cursor, file, placed.end, listed.header);
  return placed;
}

// No byte belongs to two entries or to an entry and the directory: zip bombs need such overlaps.
void check_ranges(std::vector<Placed>& all, const Directory& directory, const std::string& where) {
  std::sort(all.begin(), all.end(), [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
  for (size_t i = 0; i < all.size(); ++i) {
    const uint64_t limit = i + 1 < all.size() ? all[i + 1].begin : directory.begin;
    if (all[i].end <= limit) continue;
    throw Error(ErrorCode::kBin, where,
                fmt::format("zip: {}: expected to end by {}, where the next part starts, got {} (they overlap)",
                            quote_entry(all[i].entry.name), limit, all[i].end));
  }
}

std::string_view check_names(const std::vector<ZipEntry>& sorted, const std::string& where) {
  const auto refuse = [&](std::string_view name, std::string_view message) {
    throw Error(ErrorCode::kBin, where, fmt::format("zip: {}: {}", quote_entry(name), message));
  };
  if (sorted.empty()) throw Error(ErrorCode::kBin, where, "zip: expected at least one entry");
  const std::string_view first = sorted.front().name;
  const std::string_view root = first.substr(0, first.find('/') + 1);
  if (root.empty()) refuse(first, "expected an entry inside a folder");
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (!sorted[i].name.starts_with(root))
      refuse(sorted[i].name, fmt::format("expected all entries inside {}", quote_entry(root)));
    if (i > 0 && sorted[i].name == sorted[i - 1].name) refuse(sorted[i].name, "expected each name once, got it twice");
  }
  return root;
}

}  // namespace

ZipReader::ZipReader(Bytes file, std::string where) : where_(std::move(where)) {
  const Directory directory = find_directory(file, where_);
  Cursor cursor(file, directory.begin, directory.size_bytes, where_, "directory");
  std::vector<Placed> all;
  for (uint64_t i = 0; i < directory.entries; ++i)
    all.push_back(read_local(file, where_, read_central_header(cursor, i)));
  cursor.rename("directory");
  if (cursor.left() > 0)
    cursor.refuse(fmt::format("expected {} entries, got {} bytes more", directory.entries, cursor.left()));
  check_ranges(all, directory, where_);
  for (const Placed& placed : all) entries_.push_back(placed.entry);
  std::sort(entries_.begin(), entries_.end(), [](const ZipEntry& a, const ZipEntry& b) { return a.name < b.name; });
  root_ = check_names(entries_, where_);
}

const ZipEntry* ZipReader::find(std::string_view name_below_root) const {
  const std::string name = std::string(root_) + std::string(name_below_root);
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name,
                                   [](const ZipEntry& entry, std::string_view wanted) { return entry.name < wanted; });
  return at != entries_.end() && at->name == name ? &*at : nullptr;
}

Bytes ZipReader::read(const ZipEntry& entry) const {
  const uLong got = ::crc32_z(0, reinterpret_cast<const Bytef*>(entry.bytes.data()), entry.bytes.size());
  if (got != entry.crc32) {
    throw Error(ErrorCode::kBin, where_,
                fmt::format("zip: {}: CRC-32: expected {:08x}, got {:08x}: the file is damaged",
                            quote_entry(entry.name), entry.crc32, got));
  }
  return entry.bytes;
}

}  // namespace deberta

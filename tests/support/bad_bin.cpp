// The tables of files that break the format, one rule each.
#include "support/bad_bin.h"

namespace deberta::test {
namespace {

using namespace std::string_literals;

// Offsets inside the records of a zip file.
constexpr size_t kLocalFlags = 6, kLocalMethod = 8, kLocalCrc = 14, kLocalSize = 22, kLocalName = 30;
constexpr size_t kCentralFlags = 8, kCentralMethod = 10, kCentralPacked = 20, kCentralSize = 24, kCentralDisk = 34,
                 kCentralOffset = 42, kCentralName = 46;
constexpr size_t kEndEntries = 8, kEndSize = 12, kEndOffset = 16, kEndComment = 20;
constexpr size_t kEnd64Entries = 24, kEnd64Size = 40, kEnd64Offset = 48;

const ZipForm kPlain{.has_descriptors = false, .is_zip64 = false, .comment = {}};

std::string u16(uint64_t value) {
  return little_endian(value, 2);
}
std::string u32(uint64_t value) {
  return little_endian(value, 4);
}

std::vector<ZipPart> two_parts() {
  return {{"r/a", "first"}, {"r/b", "second"}};
}

std::string named(const std::string& name) {
  return zip_bytes({{"r/a", "first"}, {name, "second"}});
}

// Both headers of the first entry, changed in the same way.
std::string both(const std::string& zip, size_t local_offset, size_t central_offset, const std::string& with) {
  return patched(patched(zip, local_at(zip, 0) + local_offset, with), central_at(zip, 0) + central_offset, with);
}

void add_end_records(std::vector<BadFile>& files) {
  const std::string zip = zip_bytes(two_parts());
  const std::string plain = zip_bytes(two_parts(), kPlain);
  const std::string end = plain.substr(end_at(plain));
  const auto with_comment = [](const std::string& comment) {
    return zip_bytes(two_parts(), {.is_zip64 = false, .comment = comment});
  };
  files.push_back({"no end record", plain.substr(0, end_at(plain)), "end record: expected one"});
  files.push_back({"end record alone", "PK\3\4" + end, "directory: expected to end at 4"});
  files.push_back({"two end records", plain + end, "directory: expected to end at"});
  files.push_back({"comment is an end record", with_comment(end), "a second inside the comment"});
  files.push_back({"comment has a fake record", with_comment("xPK\5\6"s + std::string(40, 'x')), "a second inside"});
  files.push_back({"comment longer than the file says", plain + "x", "up to the end of the file, got none"});
  files.push_back(
      {"comment shorter than the file says", patched(plain, end_at(plain) + kEndComment, u16(1)), "got none"});
  files.push_back({"end record beyond the window", with_comment(std::string(65535, 'c')) + "c", "65557 bytes"});
  files.push_back({"split archive", patched(plain, end_at(plain) + 4, u16(1)), "disk: expected 0, got 1"});
  files.push_back(
      {"one entry too many",
       patched(patched(plain, end_at(plain) + kEndEntries, u16(3)), end_at(plain) + kEndEntries + 2, u16(3)),
       "directory entry 2: expected 4 more bytes, got 0"});
  files.push_back(
      {"one entry too few",
       patched(patched(plain, end_at(plain) + kEndEntries, u16(1)), end_at(plain) + kEndEntries + 2, u16(1)),
       "directory: expected 1 entries"});
  files.push_back({"two counts", patched(plain, end_at(plain) + kEndEntries, u16(1)), "entries: expected 1, got 2"});
  files.push_back({"directory beyond the file", patched(plain, end_at(plain) + kEndOffset, u32(0xFFFFFFF0)),
                   "directory: expected"});
  files.push_back(
      {"directory too short", patched(plain, end_at(plain) + kEndSize, u32(10)), "directory: expected to end"});
  files.push_back({"no entries", zip_bytes({}), "at least one entry"});
  const size_t end64 = zip64_end_at(zip);
  const std::string many = little_endian(200001, 8);
  const std::string saturated = patched(zip, end_at(zip) + kEndEntries, u32(0xFFFFFFFF));
  files.push_back({"200,001 entries", patched(saturated, end64 + kEnd64Entries, many + many),
                   "at most 200000 entries, got 200001"});
  files.push_back(
      {"zip64 size 2^64 - 1",
       patched(patched(zip, end_at(zip) + kEndSize, u32(0xFFFFFFFF)), end64 + kEnd64Size, std::string(8, '\xFF')),
       "directory: expected to end"});
  files.push_back(
      {"zip64 offset that wraps",
       patched(patched(zip, end_at(zip) + kEndOffset, u32(0xFFFFFFFF)), end64 + kEnd64Offset, std::string(8, '\xFF')),
       "directory: expected to end"});
  files.push_back({"zip64 against the small record",
                   patched(zip, end64 + kEnd64Entries, little_endian(1, 8) + little_endian(1, 8)),
                   "entries: expected 1, got 2"});
  files.push_back({"zip64 record elsewhere", patched(zip, end_at(zip) - 12, std::string(8, '\0')),
                   "zip64 locator: expected the record 56 bytes before it"});
  files.push_back(
      {"zip64 record without signature", patched(zip, end64, "PK\6\5"), "zip64 end record: expected its signature"});
  const size_t locator = end_at(zip) - 20;
  files.push_back(
      {"zip64 locator on another disk", patched(zip, locator + 4, u32(1)), "zip64 locator: disk: expected 0, got 1"});
  files.push_back({"zip64 record of another size", patched(zip, end64 + 4, u32(45)),
                   "zip64 end record: size: expected 44, got 45"});
  files.push_back(
      {"zip64 record on another disk", patched(zip, end64 + 16, u32(1)), "zip64 end record: disk: expected 0, got 1"});
  files.push_back({"zip64 directory on another disk", patched(zip, end64 + 20, u32(1)),
                   "zip64 end record: disk of the directory: expected 0, got 1"});
  files.push_back({"zip64 with two counts", patched(zip, end64 + kEnd64Entries, little_endian(1, 8)),
                   "zip64 end record: entries: expected 1, got 2"});
  files.push_back({"directory on another disk", patched(plain, end_at(plain) + 6, u16(1)),
                   "disk of the directory: expected 0, got 1"});
  files.push_back({"zip64 with two disks", patched(zip, end_at(zip) - 4, u32(2)), "disks: expected 1, got 2"});
}

void add_entries(std::vector<BadFile>& files) {
  const std::string zip = zip_bytes(two_parts());
  const std::string plain = zip_bytes(two_parts(), kPlain);
  const size_t central = central_at(zip, 0);
  files.push_back({"deflated", both(zip, kLocalMethod, kCentralMethod, u16(8)),
                   "expected a stored entry (method 0), got method 8"});
  files.push_back({"encrypted", both(zip, kLocalFlags, kCentralFlags, u16(9)), "got an encrypted or patched one"});
  files.push_back(
      {"strongly encrypted", both(zip, kLocalFlags, kCentralFlags, u16(0x48)), "got an encrypted or patched one"});
  files.push_back(
      {"masked headers", both(zip, kLocalFlags, kCentralFlags, u16(0x2008)), "got an encrypted or patched one"});
  files.push_back(
      {"packed size differs", patched(zip, central + kCentralPacked, u32(4)), "packed size: expected 5, got 4"});
  files.push_back({"entry on another disk", patched(zip, central + kCentralDisk, u16(1)), "disk: expected 0, got 1"});
  files.push_back({"local header has another name", patched(zip, local_at(zip, 0) + kLocalName, "r/x"),
                   "the same name in the local header"});
  files.push_back({"local header has another method", patched(zip, local_at(zip, 0) + kLocalMethod, u16(8)),
                   "method in the local header: expected 0, got 8"});
  files.push_back({"local header has other flags", patched(zip, local_at(zip, 0) + kLocalFlags, u16(0)),
                   "flags in the local header: expected 8, got 0"});
  files.push_back({"local header has another CRC", patched(plain, local_at(plain, 0) + kLocalCrc, u32(1)),
                   "CRC-32 in the local header"});
  files.push_back({"local header has another size", patched(plain, local_at(plain, 0) + kLocalSize, u32(4)),
                   "size in the local header: expected 5, got 4"});
  files.push_back({"local header has another packed size", patched(plain, local_at(plain, 0) + kLocalSize - 4, u32(4)),
                   "packed size in the local header: expected 5, got 4"});
  files.push_back({"local size 0 without descriptor", patched(plain, local_at(plain, 0) + kLocalSize, u32(0)),
                   "size in the local header: expected 5, got 0"});
  files.push_back({"local size wrong with descriptor", patched(zip, local_at(zip, 0) + kLocalSize, u32(4)),
                   "size in the local header: expected 5, got 4"});
  files.push_back(
      {"descriptor has another CRC", patched(zip, zip.find("PK\7\x8") + 4, "\1"), "descriptor after the data"});
  files.push_back(
      {"descriptor has another size", patched(zip, zip.find("PK\7\x8") + 12, "\1"), "descriptor after the data"});
  files.push_back(
      {"descriptor without signature", patched(zip, zip.find("PK\7\x8"), "x"), "descriptor after the data"});
  files.push_back(
      {"no local header there", patched(zip, central + kCentralOffset, u32(1)), "\"r/a\": expected its signature"});
  files.push_back({"local header beyond the file", patched(zip, central + kCentralOffset, u32(0xFFFFFF00)),
                   "\"r/a\": expected 4 more bytes, got 0"});
  files.push_back({"two entries share their bytes", patched(zip, central_at(zip, 1) + kCentralOffset, u32(0)),
                   "the same name in the local header"});
  files.push_back({"size beyond the file", both(plain, kLocalSize, kCentralSize, u32(1 << 30)), "packed size"});
  files.push_back({"saturated size without zip64", both(plain, kLocalSize, kCentralSize, u32(0xFFFFFFFF)),
                   "64-bit sizes that the header announces"});
  files.push_back({"extra field cut off", patched(plain, plain.find("FB") + 2, u16(9)), "extra fields: truncated"});
  const std::string wide = zip_bytes(two_parts(), {.has_zip64_sizes = true, .comment = {}});
  files.push_back({"zip64 entry size 2^64 - 1",
                   patched(wide, central_at(wide, 0) + kCentralName + 3 + 4, std::string(16, '\xFF')),
                   "\"r/a\": expected 18446744073709551615 more bytes"});
  // The 24 bytes of the zip64 field, cut into two fields of 8 and 12.
  files.push_back({"two zip64 fields",
                   patched(patched(wide, central_at(wide, 0) + kCentralName + 3 + 2, u16(8)),
                           central_at(wide, 0) + kCentralName + 3 + 12, u16(1) + u16(12)),
                   "extra fields: expected one zip64 field, got two"});
  files.push_back({"zip64 offset 2^64 - 1",
                   patched(wide, central_at(wide, 0) + kCentralName + 3 + 20, std::string(8, '\xFF')),
                   "\"r/a\": expected 4 more bytes, got 0"});
}

// One local header inside the data of another: what a zip bomb of stored entries is made of.
void add_overlap(std::vector<BadFile>& files) {
  const std::string inner = zip_bytes({{"r/b", "second"}}, kPlain);
  const std::string local = inner.substr(0, central_at(inner, 0));
  const std::string outer = zip_bytes({{"r/a", local}, {"r/b", "second"}}, kPlain);
  const size_t nested = outer.find(local, 4);
  files.push_back(
      {"entry inside another", patched(outer, central_at(outer, 1) + kCentralOffset, u32(nested)), "(they overlap)"});
  // The last entry's data runs into the directory.
  std::string last = zip_bytes({{"r/a", "12345"}}, kPlain);
  last = both(last, kLocalSize, kCentralSize, u32(6));
  last = both(last, kLocalSize - 4, kCentralPacked, u32(6));
  files.push_back({"entry inside the directory", last, "(they overlap)"});
}

void add_names(std::vector<BadFile>& files) {
  const std::string plain_name = "expected a name without .., leading /, \\ and NUL";
  files.push_back({"name with ..", named("r/../b"), plain_name});
  files.push_back({"absolute name", named("/r/b"), plain_name});
  files.push_back({"name with backslash", named("r\\b"), plain_name});
  files.push_back({"name with NUL", named("r/b\0.pkl"s), plain_name});
  files.push_back({"empty name", named(""), plain_name});
  files.push_back({"two roots", named("s/b"), "expected all entries inside \"r/\""});
  files.push_back({"no root", zip_bytes({{"b", "second"}}), "expected an entry inside a folder"});
  files.push_back({"name twice", named("r/a"), "\"r/a\": expected each name once, got it twice"});
}

// ---- pickles

void add_opcodes(std::vector<BadFile>& files) {
  const std::string known = std::string(
      "\x80\x95.(1N\x88\x89JKMGX\x8cUhjqr\x94)]}\x8ft\x85\x86\x87"
      "aesuc\x93R\x81"
      "bQ\x8a"
      "CB\x8d\x8e\x96\x90\x91");
  for (int opcode = 0; opcode < 256; ++opcode) {
    if (known.find(static_cast<char>(opcode)) != known.npos) continue;
    const std::string digits = "0123456789abcdef";
    const std::string hex = {digits[static_cast<size_t>(opcode / 16)], digits[static_cast<size_t>(opcode % 16)]};
    files.push_back({"opcode 0x" + hex, pickle("N" + std::string(1, static_cast<char>(opcode))),
                     "opcode 0x" + hex + " at offset 3 is not data"});
  }
  files.push_back({"INST", pickle("(ios\nsystem\n"), "opcode 0x69 at offset 3 is not data"});
  files.push_back({"OBJ", pickle("(cos\nsystem\no"), "\"system\" of \"os\" is not data"});
  files.push_back({"EXT1", pickle("\x82\x01"), "opcode 0x82 at offset 2 is not data"});
  files.push_back({"NEWOBJ_EX", pickle("ccollections\nOrderedDict\n)}\x92"), "opcode 0x92"});
}

void add_globals(std::vector<BadFile>& files) {
  const auto refused = [&](const std::string& module, const std::string& name) {
    files.push_back({"GLOBAL " + module + " " + name, pickle(push_global(module, name)),
                     "GLOBAL at offset 2: \"" + name + "\" of \"" + module + "\" is not data"});
  };
  refused("os", "system");
  refused("builtins", "eval");
  refused("torch", "load");
  refused("torch", "storage");
  refused("torch._utils", "_rebuild_tensor");
  refused("collections", "OrderedDict.fromkeys");
  refused("collections ", "OrderedDict");
  refused("Torch", "FloatStorage");
  refused("", "");
  files.push_back({"GLOBAL with a system call", pickle("cos\nsystem\n" + push_tuple({push_text("true")}) + "R"),
                   "\"system\" of \"os\""});
  files.push_back({"GLOBAL without its lines",
                   "\x80\x02"
                   "cos\nsystem",
                   "expected a line: truncated"});
  files.push_back(
      {"STACK_GLOBAL", pickle("\x8c\x02os\x8c\x06system\x93"), "STACK_GLOBAL at offset 14: \"system\" of \"os\""});
  files.push_back({"STACK_GLOBAL from the memo",
                   pickle(push_text("os") + "q\x01" + push_text("system") + "q\x02" + "11h\x01h\x02\x93"), "POP_MARK"});
  files.push_back({"STACK_GLOBAL from pieces", pickle(push_text("system") + "q\x02" + push_text("os") + "h\x02\x93"),
                   "\"system\" of \"os\""});
  files.push_back({"STACK_GLOBAL of numbers", pickle("K\x01K\x02\x93"), "expected a string, got a integer"});
}

void add_calls(std::vector<BadFile>& files) {
  const std::string ordered = push_global("collections", "OrderedDict");
  files.push_back({"REDUCE on a string", pickle(push_text("os.system") + ")R"),
                   "REDUCE at offset 17: expected a global, got a string"});
  files.push_back({"REDUCE with a list", pickle(ordered + "]R"), "expected a tuple, got a list"});
  const std::string typed = push_global("torch._tensor", "_rebuild_from_type_v2");
  const std::string tensor_type = push_global("torch", "Tensor");
  files.push_back({"a typed tensor of three", pickle(typed + "(" + tensor_type + "NNtR"), "expected four arguments"});
  files.push_back({"a typed list", pickle(typed + "(" + tensor_type + tensor_type + ")NtR"),
                   "REDUCE at offset 71: expected a function that rebuilds a tensor"});
  files.push_back({"ADDITEMS on a list", pickle("](N\x90"), "expected a set, got a list"});
  files.push_back({"BINBYTES cut off", pickle("B\xff\xff\xff\x7f"), "BINBYTES at offset 2"});
  files.push_back({"OrderedDict with arguments", pickle(ordered + "]\x85R"), "OrderedDict: expected no arguments"});
  files.push_back(
      {"storage type called", pickle(push_global("torch", "FloatStorage") + ")R"), "FloatStorage is a type"});
  files.push_back(
      {"torch.Size of two", pickle(push_global("torch", "Size") + "))\x86R"), "torch.Size: expected one argument"});
  files.push_back(
      {"torch.Size of a list", pickle(push_global("torch", "Size") + "]\x85R"), "expected a tuple, got a list"});
  files.push_back({"NEWOBJ of a tensor", pickle(push_global("torch._utils", "_rebuild_tensor_v2") + ")\x81"),
                   "expected OrderedDict without arguments"});
  files.push_back({"NEWOBJ with arguments", pickle(ordered + "]\x85\x81"), "expected OrderedDict without arguments"});
  files.push_back({"BUILD on a dict", pickle("}}b"), "BUILD at offset 4: expected a OrderedDict, got a dict"});
  files.push_back({"BUILD with another attribute",
                   pickle(push_empty_ordered_dict() + "}" + push_text("__class__") + "NsbQ"),
                   "only the attribute _metadata"});
  files.push_back({"BUILD with two attributes",
                   pickle(push_empty_ordered_dict() + "}" + push_text("_metadata") + "Ns" + push_text("x") + "Nsb"),
                   "only the attribute _metadata"});
  files.push_back({"BUILD with a tuple", pickle(push_empty_ordered_dict() + ")b"), "expected a dict, got a tuple"});
  files.push_back({"persistent id is text", pickle(push_text("0") + "Q"), "BINPERSID at offset 8: expected a tuple"});
}

void add_stack(std::vector<BadFile>& files) {
  files.push_back({"empty pickle", "", "expected STOP within 64 MB, got the end"});
  files.push_back({"no PROTO", "}.", "expected PROTO first"});
  files.push_back({"protocol 1", "\x80\x01}.", "expected protocol 2 to 5, got 1"});
  files.push_back({"protocol 6", "\x80\x06}.", "expected protocol 2 to 5, got 6"});
  files.push_back({"PROTO twice", pickle("\x80\x02}"), "expected PROTO once"});
  files.push_back({"no STOP", "\x80\x02}", "expected STOP within 64 MB, got the end"});
  files.push_back({"STOP on nothing", pickle(""), "expected one value on the stack, got 0"});
  files.push_back({"STOP on two values", pickle("}}"), "expected one value on the stack, got 2"});
  files.push_back({"STOP with a mark", pickle("}("), "got 1 and 1 marks"});
  files.push_back({"mark missing", pickle("Nt"), "expected a mark on the stack, got none"});
  files.push_back({"POP_MARK on nothing", pickle("1"), "expected a mark on the stack, got none"});
  files.push_back({"value below the mark", pickle("]N(a"), "expected 1 values on the stack, got 0"});
  files.push_back({"list below the mark", pickle("](Na"), "expected a value on the stack, got none"});
  files.push_back({"tuple of too few", pickle("N\x86"), "expected 2 values on the stack, got 1"});
  files.push_back({"APPEND to a tuple", pickle(")Na"), "expected a list, got a tuple"});
  files.push_back({"SETITEM on a list", pickle("]NNs"), "expected a dict, got a list"});
  files.push_back({"SETITEMS of an odd number", pickle("}(Nu"), "expected keys with values, got an odd number"});
  files.push_back({"memo read before it is written", pickle("h\x05"), "expected an index stored earlier, got 5"});
  files.push_back(
      {"memo index 2^31", pickle("Nr" + u32(uint64_t{1} << 31)), "expected an index below 1000000, got 2147483648"});
  files.push_back({"memo read at 2^31", pickle("j" + u32(uint64_t{1} << 31)), "stored earlier, got 2147483648"});
  files.push_back({"memo of nothing", pickle("q\x01"), "expected a value on the stack, got none"});
  files.push_back({"string of 2^32 - 1 bytes", pickle("X\xFF\xFF\xFF\xFF"), "at most 16 MB, got 4294967295 bytes"});
  files.push_back({"string longer than the file", pickle("X" + u32(9)), "expected 9 more bytes, got 1: truncated"});
  files.push_back({"integer of 9 bytes as a key", pickle("}\x8a\x09" + std::string(9, '\x01') + "s"),
                   "expected a value on the stack, got none"});
  files.push_back({"frame longer than the file", pickle("\x95" + std::string(8, '\xFF') + "}"),
                   "expected at most 2 bytes, got 18446744073709551615"});
  files.push_back(
      {"a million and one values", pickle(std::string(1000001, 'N')), "at most 1000000 values on the stack"});
  files.push_back(
      {"a million and one marks", pickle(std::string(1000001, '(')), "at most 1000000 values on the stack"});
  std::string many;
  for (int i = 0; i < 5; ++i) many += "(" + std::string(900000, ']') + "1";
  files.push_back({"too many objects", pickle(many), "at most 4000000 values in total"});
  std::string items = "]q\x01";
  for (int i = 0; i < 5; ++i) items += "(" + std::string(900000, 'N') + "e";
  files.push_back({"too many items", pickle(items), "at most 4000000 values in total"});
}

}  // namespace

std::vector<BadFile> bad_zips() {
  std::vector<BadFile> files;
  add_end_records(files);
  add_entries(files);
  add_overlap(files);
  add_names(files);
  return files;
}

std::vector<BadFile> bad_pickles() {
  std::vector<BadFile> files;
  add_opcodes(files);
  add_globals(files);
  add_calls(files);
  add_stack(files);
  return files;
}

}  // namespace deberta::test

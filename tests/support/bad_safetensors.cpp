// The table of files that break the format, one rule each.
#include "support/bad_safetensors.h"

namespace deberta::test {
namespace {

constexpr uint64_t kTwoTo63 = uint64_t{1} << 63;

std::string bytes(size_t count) {
  return std::string(count, '\x01');
}

// A file with one tensor "a" whose entry is given.
std::string file_of(std::string_view entry_text, size_t data_bytes = 8) {
  return safetensors_bytes("{\"a\":" + std::string(entry_text) + "}", bytes(data_bytes));
}

// A file with two F32 vectors "a" and "b" at the ranges given, shapes to match.
std::string two(size_t a_begin, size_t a_end, size_t b_begin, size_t b_end, size_t data_bytes) {
  const auto vector = [](size_t begin, size_t end) {
    return entry("\"U8\"", "[" + std::to_string(end - begin) + "]",
                 "[" + std::to_string(begin) + "," + std::to_string(end) + "]");
  };
  return safetensors_bytes("{\"a\":" + vector(a_begin, a_end) + ",\"b\":" + vector(b_begin, b_end) + "}",
                           bytes(data_bytes));
}

std::string named(std::string_view json_name) {
  return safetensors_bytes("{" + std::string(json_name) + ":" + entry("\"F32\"", "[2]", "[0,8]") + "}", bytes(8));
}

std::string with_metadata(std::string_view metadata) {
  return safetensors_bytes(
      "{\"__metadata__\":" + std::string(metadata) + ",\"a\":" + entry("\"F32\"", "[2]", "[0,8]") + "}", bytes(8));
}

void add_lengths(std::vector<BadFile>& files) {
  files.push_back({"empty file", "", "expected at least 8 bytes, got 0"});
  files.push_back({"1 byte", bytes(1), "expected at least 8 bytes, got 1"});
  files.push_back({"7 bytes", bytes(7), "expected at least 8 bytes, got 7"});
  files.push_back({"8 bytes, header beyond", little_endian(2), "at most the 0 bytes left, got 2"});
  files.push_back({"length 0", little_endian(0) + "{}", "2 to 100000000 bytes, got 0"});
  files.push_back({"length 1", little_endian(1) + "{}", "2 to 100000000 bytes, got 1"});
  files.push_back({"length 2^63", little_endian(kTwoTo63) + "{}", "got 9223372036854775808"});
  files.push_back({"length 2^64 - 1", little_endian(~uint64_t{0}) + "{}", "got 18446744073709551615"});
  files.push_back({"length one too long", little_endian(3) + "{}", "at most the 2 bytes left, got 3"});
  files.push_back({"length above the limit", little_endian(100000001) + "{}", "got 100000001"});
  files.push_back({"length beyond the file", little_endian(1000) + "{}", "at most the 2 bytes left, got 1000"});
}

void add_json(std::vector<BadFile>& files) {
  files.push_back({"array", safetensors_bytes("[]"), "expected an object"});
  files.push_back({"null", safetensors_bytes("null"), "expected an object"});
  files.push_back({"open object", safetensors_bytes("{ "), "only spaces after the object"});
  files.push_back({"open entry", safetensors_bytes("{\"a\":{}"), "header: not valid JSON"});
  files.push_back({"a million brackets", safetensors_bytes(std::string(1000000, '[')), "expected an object"});
  files.push_back({"a million braces", safetensors_bytes([] {
                     std::string text;
                     for (int i = 0; i < 1000000; ++i) text += "{\"a\":";
                     return text + "}";
                   }()),
                   "at most 4 nested levels"});
  files.push_back({"byte order mark", safetensors_bytes("\xEF\xBB\xBF{}"), "expected an object"});
  files.push_back({"space first", safetensors_bytes(" {}"), "expected an object"});
  files.push_back({"newline last", safetensors_bytes("{}\n"), "only spaces after the object"});
  files.push_back({"NUL last", safetensors_bytes(std::string_view("{}\0", 3)), "only spaces after the object"});
  files.push_back({"second object", safetensors_bytes("{}{}"), "header: not valid JSON"});
  files.push_back({"invalid UTF-8", named("\"\xC3\x28\""), "not valid UTF-8"});
  files.push_back({"overlong UTF-8", named("\"\xC0\xAF\""), "not valid UTF-8"});
  files.push_back({"lone surrogate escape", named("\"\\ud800\""), "header: not valid JSON"});
  files.push_back({"comment", safetensors_bytes("{/**/}"), "header: not valid JSON"});
  files.push_back({"trailing comma", safetensors_bytes("{\"a\":" + entry("\"F32\"", "[2]", "[0,8]") + ",}", bytes(8)),
                   "not valid JSON"});
  const std::string a = "\"a\":" + entry("\"U8\"", "[4]", "[0,4]");
  const std::string again = "\"a\":" + entry("\"U8\"", "[4]", "[4,8]");
  files.push_back({"tensor twice", safetensors_bytes("{" + a + "," + again + "}", bytes(8)), "\"a\" appears twice"});
  files.push_back({"key twice in an entry",
                   file_of("{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"),
                   "\"dtype\" appears twice"});
}

void add_entries(std::vector<BadFile>& files) {
  files.push_back({"entry is a number", file_of("3"), "exactly the keys"});
  files.push_back({"entry is an array", file_of("[]"), "exactly the keys"});
  files.push_back({"entry has another key", file_of("{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}"),
                   "exactly the keys"});
  files.push_back({"dtype missing", file_of("{\"shape\":[2],\"data_offsets\":[0,8]}"), "exactly the keys"});
  files.push_back({"shape missing", file_of("{\"dtype\":\"F32\",\"data_offsets\":[0,8]}"), "exactly the keys"});
  files.push_back({"offsets missing", file_of("{\"dtype\":\"F32\",\"shape\":[2]}"), "exactly the keys"});
  files.push_back({"dtype F33", file_of(entry("\"F33\"", "[2]", "[0,8]")), "got \"F33\""});
  files.push_back({"dtype f32", file_of(entry("\"f32\"", "[2]", "[0,8]")), "got \"f32\""});
  files.push_back({"dtype below a byte", file_of(entry("\"F4\"", "[16]", "[0,8]")), "got \"F4\""});
  files.push_back({"dtype of 6 bits", file_of(entry("\"F6_E2M3\"", "[4]", "[0,3]"), 3), "got \"F6_E2M3\""});
  files.push_back({"dtype is a number", file_of(entry("32", "[2]", "[0,8]")), "got 32"});
  files.push_back({"dtype is null", file_of(entry("null", "[2]", "[0,8]")), "got null"});
  files.push_back({"shape is a number", file_of(entry("\"F32\"", "2", "[0,8]")), "shape: expected an array"});
  files.push_back(
      {"shape of 9 dimensions", file_of(entry("\"F32\"", "[2,1,1,1,1,1,1,1,1]", "[0,8]")), "at most 8 dimensions"});
  files.push_back({"dimension -1", file_of(entry("\"F32\"", "[-1]", "[0,8]")), "got -1"});
  files.push_back({"dimension 1.5", file_of(entry("\"F32\"", "[1.5]", "[0,8]")), "got 1.5"});
  files.push_back({"dimension 2.0", file_of(entry("\"F32\"", "[2.0]", "[0,8]")), "got 2.0"});
  files.push_back({"dimension is text", file_of(entry("\"F32\"", "[\"2\"]", "[0,8]")), "got \"2\""});
  files.push_back({"dimension 2^53", file_of(entry("\"U8\"", "[9007199254740992]", "[0,8]")), "2^53 - 1"});
  files.push_back(
      {"2^32 x 2^32", file_of(entry("\"F32\"", "[4294967296,4294967296]", "[0,8]")), "less than 2^48 bytes"});
  files.push_back({"2^62 x 4 bytes, wraps to 0", file_of(entry("\"F32\"", "[2147483648,2147483648]", "[0,0]"), 0),
                   "less than 2^48 bytes"});
  files.push_back(
      {"2^63 x 2 x 0", file_of(entry("\"F32\"", "[9223372036854775808,2,0]", "[0,0]"), 0), "64 signed bits"});
  files.push_back({"overflow before the 0",
                   file_of(entry("\"F32\"", "[4503599627370496,4503599627370496,0]", "[0,0]"), 0), "less than 2^48"});
  files.push_back(
      {"2^48 bytes", file_of(entry("\"U8\"", "[281474976710656]", "[0,281474976710656]")), "less than 2^48 bytes"});
}

void add_offsets(std::vector<BadFile>& files) {
  const auto offsets = [](std::string_view text) { return file_of(entry("\"F32\"", "[2]", text)); };
  files.push_back({"offsets reversed", offsets("[8,0]"), "begin <= end, got 8 and 0"});
  files.push_back({"offsets negative", offsets("[-8,0]"), "two integers >= 0"});
  files.push_back({"offsets are fractions", offsets("[0.0,8.0]"), "two integers >= 0"});
  files.push_back({"offset 1e20", offsets("[0,1e20]"), "two integers >= 0"});
  files.push_back({"offset 2^63", offsets("[0,9223372036854775808]"), "64 signed bits"});
  files.push_back({"offsets are text", offsets("[\"0\",\"8\"]"), "two integers >= 0"});
  files.push_back({"offsets in one text", offsets("\"0,8\""), "two integers >= 0"});
  files.push_back({"one offset", offsets("[8]"), "two integers >= 0"});
  files.push_back({"three offsets", offsets("[0,4,8]"), "two integers >= 0"});
  files.push_back({"range too short", offsets("[0,7]"), "expected the 8 bytes of F32 [2], got 7"});
  files.push_back(
      {"range too long", file_of(entry("\"F32\"", "[2]", "[0,9]"), 9), "expected the 8 bytes of F32 [2], got 9"});
  files.push_back({"first range not at 0", file_of(entry("\"U8\"", "[7]", "[1,8]")),
                   "start at 0, where the previous tensor ends, got 1 (a gap)"});
  files.push_back({"overlap of 1 byte", two(0, 4, 3, 8, 8), "got 3 (they overlap)"});
  files.push_back({"hole of 1 byte", two(0, 4, 5, 8, 8), "got 5 (a gap)"});
  files.push_back({"two tensors over one region", two(0, 8, 0, 8, 8), "got 0 (they overlap)"});
  files.push_back({"one tensor inside another", two(0, 8, 2, 4, 8), "got 2 (they overlap)"});
  files.push_back({"data short by 1", two(0, 4, 4, 8, 7), "within the 7 bytes of data, got 8"});
  files.push_back({"no data", two(0, 4, 4, 8, 0), "within the 0 bytes of data, got 4"});
  files.push_back({"1 byte more", two(0, 4, 4, 8, 9), "got 1 more bytes"});
  files.push_back({"data without tensors", safetensors_bytes("{}", bytes(1)), "got 1 more bytes"});
}

void add_names(std::vector<BadFile>& files) {
  files.push_back({"name with NUL", named("\"a\\u0000b\""), "without control characters"});
  files.push_back({"name with newline", named("\"a\\nb\""), "without control characters"});
  files.push_back({"name with a raw newline", named("\"a\nb\""), "not valid JSON"});
  files.push_back({"empty name", named("\"\""), "a name of 1 to 1024 bytes, got 0"});
  files.push_back(
      {"name of 1025 bytes", named("\"" + std::string(1025, 'n') + "\""), "a name of 1 to 1024 bytes, got 1025"});
  files.push_back(
      {"name of 1 MB", named("\"" + std::string(1 << 20, 'n') + "\""), "a name of 1 to 1024 bytes, got 1048576"});
  files.push_back({"100,001 tensors", safetensors_bytes(header_of_many(100001)), "at most 100000 tensors, got 100001"});
  files.push_back({"metadata value is a number", with_metadata("{\"step\":3}"),
                   "__metadata__: \"step\": expected a string, got 3"});
  files.push_back({"metadata value is an object", with_metadata("{\"x\":{}}"), "expected a string, got an object"});
  files.push_back({"metadata is text", with_metadata("\"pt\""), "__metadata__: expected an object"});
  files.push_back({"metadata key twice", with_metadata("{\"x\":\"1\",\"x\":\"2\"}"), "\"x\" appears twice"});
  files.push_back({"metadata too large", with_metadata("{\"x\":\"" + std::string((1 << 20) + 1, 'm') + "\"}"),
                   "at most 1048576 bytes"});
  files.push_back({"too deep", with_metadata("{\"x\":[[[1]]]}"), "at most 4 nested levels"});
}

}  // namespace

std::string little_endian(uint64_t value) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += static_cast<char>(value >> 8 * i & 0xFF);
  return text;
}

std::string safetensors_bytes(std::string_view header, std::string_view data) {
  return little_endian(header.size()) + std::string(header) + std::string(data);
}

std::string entry(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  std::string text = "{\"dtype\":";
  text += dtype;
  text += ",\"shape\":";
  text += shape;
  text += ",\"data_offsets\":";
  text += offsets;
  return text + "}";
}

std::string small_safetensors() {
  return safetensors_bytes("{\"__metadata__\":{\"format\":\"pt\"},\"weight\":" + entry("\"F32\"", "[2,3]", "[0,24]") +
                               ",\"bias\":" + entry("\"F16\"", "[3]", "[24,30]") + "}",
                           bytes(30));
}

std::string header_of_many(size_t count) {
  std::string header = "{";
  for (size_t i = 0; i < count; ++i) {
    header += (i == 0 ? "\"t" : ",\"t") + std::to_string(i) + "\":" + entry("\"F32\"", "[0]", "[0,0]");
  }
  return header + "}";
}

std::vector<BadFile> bad_safetensors() {
  std::vector<BadFile> files;
  add_lengths(files);
  add_json(files);
  add_entries(files);
  add_offsets(files);
  add_names(files);
  return files;
}

std::vector<GoodFile> unusual_safetensors() {
  const std::string nan = "\xFF\xFF\xFF\xFF";
  return {
      {"no tensors", safetensors_bytes("{}"), 0},
      {"header padded with spaces", safetensors_bytes("{}      "), 0},
      {"metadata only", safetensors_bytes("{\"__metadata__\":{}}"), 0},
      {"rank 0", file_of(entry("\"F32\"", "[]", "[0,4]"), 4), 1},
      {"size 0", file_of(entry("\"F32\"", "[2,0,3]", "[0,0]"), 0), 1},
      {"8 dimensions", file_of(entry("\"U8\"", "[1,1,1,1,1,1,1,8]", "[0,8]")), 1},
      {"size 0 between two",
       safetensors_bytes("{\"a\":" + entry("\"U8\"", "[4]", "[0,4]") + ",\"e\":" + entry("\"I64\"", "[0]", "[4,4]") +
                             ",\"b\":" + entry("\"U8\"", "[4]", "[4,8]") + "}",
                         bytes(8)),
       3},
      {"size 0 at both ends",
       safetensors_bytes("{\"z\":" + entry("\"U8\"", "[0]", "[4,4]") + ",\"a\":" + entry("\"U8\"", "[4]", "[0,4]") +
                             ",\"e\":" + entry("\"U8\"", "[0]", "[0,0]") + "}",
                         bytes(4)),
       3},
      {"order of the header is not that of the bytes", two(4, 8, 0, 4, 8), 2},
      {"values at odd addresses",
       safetensors_bytes(
           "{\"a\":" + entry("\"U8\"", "[1]", "[0,1]") + ",\"b\":" + entry("\"F64\"", "[1]", "[1,9]") + "}", bytes(9)),
       2},
      {"NaN in the data", safetensors_bytes("{\"a\":" + entry("\"F32\"", "[1]", "[0,4]") + "}", nan), 1},
      {"name of 1024 bytes", named("\"" + std::string(1024, 'n') + "\""), 1},
      {"name beyond ASCII", named("\"\xC3\xA9\""), 1},
      {"100,000 tensors", safetensors_bytes(header_of_many(100000)), 100000},
  };
}

}  // namespace deberta::test

// Sizes at the limits of zip archives and pickles: the largest is read, one more is refused.
#include <gtest/gtest.h>

#include "base/pickle_machine.h"
#include "base/zip_reader.h"
#include "checkpoint/bin_storages.h"
#include "support/bad_bin.h"
#include "support/expect_error.h"

namespace deberta::limits_test {
namespace {

using namespace std::string_literals;

void read_pickle(std::string_view body) {
  const std::string bytes = test::pickle(body);
  parse_pickle(to_bytes(bytes), "w.bin", tensor_globals());
}

// A count with all bits set in the end record says that the real one is in the zip64 record.
std::string zip_of(size_t entries) {
  std::vector<test::ZipPart> parts;
  for (size_t i = 0; i < entries; ++i) parts.push_back({"r/" + std::to_string(i), ""});
  const std::string bytes = test::zip_bytes(parts);
  return test::patched(bytes, test::end_at(bytes) + 8, "\xFF\xFF\xFF\xFF");
}

TEST(Limits, AZipHas200000Entries) {
  const std::string most = zip_of(200000), more = zip_of(200001);
  EXPECT_EQ(ZipReader(to_bytes(most), "w.bin").entries().size(), 200000u);
  EXPECT_ERROR(ZipReader(to_bytes(more), "w.bin"), kBin, "at most 200000 entries, got 200001");
}

TEST(Limits, APickleHasAMillionValuesOnItsStack) {
  // A mark counts as a value; POP_MARK takes all of them away.
  EXPECT_NO_THROW(read_pickle("(" + std::string(999999, 'N') + "1}"));
  EXPECT_ERROR(read_pickle("(" + std::string(1000000, 'N') + "1}"), kBin, "at most 1000000 values on the stack");
}

TEST(Limits, APickleHasAMillionPlacesInItsMemo) {
  EXPECT_NO_THROW(read_pickle("Nr\x3F\x42\x0F\x00"s));
  EXPECT_ERROR(read_pickle("Nr\x40\x42\x0F\x00"s), kBin, "expected an index below 1000000, got 1000000");
}

TEST(Limits, APickleHasFourMillionValuesInAll) {
  const auto list = [](size_t items) { return "](" + std::string(items, 'N') + "e"; };         // and the list itself
  const std::string almost = "(" + list(999000) + list(999000) + list(999000) + list(999000);  // 3,996,004
  EXPECT_NO_THROW(read_pickle(almost + list(3995) + "1N"));
  EXPECT_ERROR(read_pickle(almost + list(3996) + "1N"), kBin, "at most 4000000 values in total");
}

}  // namespace
}  // namespace deberta::limits_test

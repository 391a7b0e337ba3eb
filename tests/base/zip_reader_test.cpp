// Archives: every rule has one that breaks it; the same entries are read the same, whether PyTorch or another program
// wrote them.
#include "base/zip_reader.h"

#include <gtest/gtest.h>

#include "support/bad_bin.h"
#include "support/expect_error.h"

namespace deberta::zip_reader_test {
namespace {

using test::ZipForm;
using test::ZipPart;

const std::vector<ZipPart> kParts = {{"r/b", "second"}, {"r/a", ""}, {"r/data/0", std::string(100, '\x01')}};

TEST(ZipReader, RefusesEveryBrokenArchiveWithItsRule) {
  for (const test::BadFile& file : test::bad_zips()) {
    SCOPED_TRACE(file.name);
    EXPECT_ERROR(ZipReader(to_bytes(file.bytes), "w.bin"), kBin, file.part);
    EXPECT_ERROR(ZipReader(to_bytes(file.bytes), "w.bin"), kBin, "w.bin: zip: ");
  }
}

TEST(ZipReader, ReadsEveryFormOfTheSameEntries) {
  for (const bool has_descriptors : {false, true}) {
    for (const bool has_wide_descriptors : {false, true}) {
      for (const bool is_zip64 : {false, true}) {
        for (const bool has_zip64_sizes : {false, true}) {
          const ZipForm form{.has_descriptors = has_descriptors,
                             .has_wide_descriptors = has_wide_descriptors,
                             .is_zip64 = is_zip64,
                             .has_zip64_sizes = has_zip64_sizes,
                             .comment = is_zip64 ? "" : "a comment"};
          const std::string bytes = test::zip_bytes(kParts, form);
          const ZipReader zip(to_bytes(bytes), "w.bin");
          EXPECT_EQ(zip.root(), "r/");
          ASSERT_EQ(zip.entries().size(), 3u);
          EXPECT_EQ(zip.entries()[0].name, "r/a");
          for (const ZipPart& part : kParts) {
            const ZipEntry* entry = zip.find(std::string_view(part.name).substr(2));
            ASSERT_NE(entry, nullptr);
            EXPECT_EQ(to_text(zip.read(*entry)), part.data);
          }
          EXPECT_EQ(zip.find("c"), nullptr);
          EXPECT_EQ(zip.find("r/a"), nullptr);
        }
      }
    }
  }
}

TEST(ZipReader, GivesViewsOfTheFile) {
  const std::string bytes = test::zip_bytes(kParts);
  const ZipReader zip(to_bytes(bytes), "w.bin");
  EXPECT_EQ(to_text(zip.find("b")->bytes).data(), bytes.data() + bytes.find("second"));
}

TEST(ZipReader, TakesSizesInLocalHeadersBesideADescriptor) {
  std::string bytes = test::zip_bytes({{"r/a", "first"}});
  const std::string central = bytes.substr(test::central_at(bytes, 0) + 16, 12);  // CRC and sizes
  bytes = test::patched(bytes, test::local_at(bytes, 0) + 14, central);
  EXPECT_EQ(ZipReader(to_bytes(bytes), "w.bin").entries().size(), 1u);
}

TEST(ZipReader, TakesBytesOfNoEntry) {
  std::string bytes = test::zip_bytes({{"r/a", "first"}}, {.has_wide_descriptors = true, .comment = {}});
  EXPECT_EQ(ZipReader(to_bytes(bytes), "w.bin").entries().size(), 1u);
  const std::string comment(65535, 'c');
  bytes = test::zip_bytes({{"r/a", "first"}}, {.comment = comment});
  EXPECT_EQ(ZipReader(to_bytes(bytes), "w.bin").entries().size(), 1u);
}

TEST(ZipReader, RefusesChangedBytesOfAnEntryWhenItIsRead) {
  std::string bytes = test::zip_bytes(kParts);
  bytes[bytes.find("second")] = 'S';
  const ZipReader zip(to_bytes(bytes), "w.bin");
  EXPECT_EQ(zip.read(*zip.find("a")).size(), 0u);
  EXPECT_ERROR(zip.read(*zip.find("b")), kBin, "w.bin: zip: \"r/b\": CRC-32: expected ");
}

}  // namespace
}  // namespace deberta::zip_reader_test

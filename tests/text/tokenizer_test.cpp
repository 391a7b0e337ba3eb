// The whole tokenizer on small models made in code; ids of real models: golden_test.cpp.
#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include "support/bad_spm.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::test {
namespace {

using Ids = std::vector<int32_t>;

// Ids: 4 "▁", 5 "▁a", 6 "▁b", 7 "b", 8 "c", 9 "ab"
SpmSpec letters() {
  return small_spm({{"▁", -4}, {"▁a", -2}, {"▁b", -2}, {"b", -3}, {"c", -3}, {"ab", -3}});
}

struct Folder {
  explicit Folder(const SpmSpec& spec) { write_text(files.path("spm.model"), make_spm(spec)); }
  Tokenizer load() const { return Tokenizer::load(files.path()); }
  TemporaryFolder files;
};

TEST(Tokenizer, AloneASpmModelGivesTheSpecialIdsAndAMaskAfterThePieces) {
  const Tokenizer tokenizer = Folder(letters()).load();
  EXPECT_EQ(tokenizer.special().pad, 0);
  EXPECT_EQ(tokenizer.special().cls, 1);
  EXPECT_EQ(tokenizer.special().sep, 2);
  EXPECT_EQ(tokenizer.special().unk, 3);
  EXPECT_EQ(tokenizer.special().mask, 10);
  EXPECT_EQ(tokenizer.size(), 11U);
  EXPECT_EQ(tokenizer.piece(10), "[MASK]");
}

TEST(Tokenizer, AFolderWithoutAModelNamesTheFilesLookedFor) {
  const TemporaryFolder empty;
  EXPECT_ERROR(Tokenizer::load(empty.path()), kFileNotFound, "spm.model, spiece.model");
}

TEST(Tokenizer, TheTemplatesOfOneTextAndOfAPair) {
  const Tokenizer tokenizer = Folder(letters()).load();
  const Encoding one = tokenizer.encode("a b");
  EXPECT_EQ(one.ids, (Ids{1, 5, 6, 2}));
  EXPECT_EQ(one.is_special, (std::vector<uint8_t>{1, 0, 0, 1}));
  EXPECT_EQ(one.words, (Ids{-1, 0, 1, -1}));
  const Encoding pair = tokenizer.encode_pair("a b", "b");
  EXPECT_EQ(pair.ids, (Ids{1, 5, 6, 2, 6, 2}));
  EXPECT_EQ(pair.type_ids, (Ids{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(pair.bytes[4], (Offset{0, 1}));
}

}  // namespace
}  // namespace deberta::test

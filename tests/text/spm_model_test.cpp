// Which spm.model files are read, and that every other one is refused with a message.
#include "text/spm/spm_model.h"

#include <gtest/gtest.h>

#include "deberta/tokenizer.h"
#include "support/bad_spm.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "text/spm/normalizer.h"
#include "text/spm/unigram.h"
#include "text/spm/wire.h"

namespace deberta::test::spm_model_test {
namespace {

// Everything that loading does with the bytes.
void read(const std::string& bytes) {
  const SpmModel model = parse_spm_model(bytes, "spm.model");
  const Normalizer normalizer(model, "spm.model");
  const Unigram unigram(model);
  unigram.split(normalizer.normalize("a text\n with \xE3\x80\x80 many [things]").text());
}

TEST(SpmModel, ReadsPiecesAndSettings) {
  SpmSpec spec = with_bytes(small_spm({{"a", -1.5F}, {"b", 0, kUserDefined}, {"c", -3, kUnused}}));
  spec.add_dummy_prefix = false;
  const SpmModel model = parse_spm_model(make_spm(spec), "spm.model");
  ASSERT_EQ(model.pieces.size(), 4U + 3 + 256);
  EXPECT_EQ(model.pieces[4].text, "a");
  EXPECT_EQ(model.pieces[4].score, -1.5F);
  EXPECT_EQ(model.pieces[5].type, PieceType::kUserDefined);
  EXPECT_EQ(model.unk_id, 3);
  EXPECT_TRUE(model.byte_fallback);
  EXPECT_EQ(model.byte_ids[0x41], 7 + 0x41);
  EXPECT_FALSE(model.add_dummy_prefix);
  EXPECT_TRUE(model.remove_extra_whitespaces);
  EXPECT_TRUE(model.escape_whitespaces);
  EXPECT_EQ(model.id_of("c"), 6);
  EXPECT_EQ(model.id_of("d"), std::nullopt);
}

TEST(SpmModel, MissingFieldsHaveTheDefaultsOfTheFormat) {
  const std::string bytes = make_piece({"[UNK]", 0, kUnknown}) + wire_bytes(1, wire_bytes(1, "a"));
  const SpmModel model = parse_spm_model(bytes, "spm.model");
  EXPECT_EQ(model.pieces[1].type, PieceType::kNormal);
  EXPECT_EQ(model.pieces[1].score, 0.0F);
  EXPECT_FALSE(model.byte_fallback);
  EXPECT_TRUE(model.add_dummy_prefix && model.remove_extra_whitespaces && model.escape_whitespaces);
}

TEST(SpmModel, UnknownFieldsAreSkipped) {
  const std::string extra = wire_varint(99, UINT64_MAX) + wire_bytes(100, "x") + wire_float(101, 1) +
                            std::string("\xB1\x06") + std::string(8, 'f');  // field 102, eight bytes
  const SpmModel model = parse_spm_model(extra + make_spm(small_spm({{"a", -1}})) + extra, "spm.model");
  EXPECT_EQ(model.pieces.size(), 5U);
}

TEST(SpmModel, APieceMayHoldNulAndIsThenNeverFound) {
  const std::string with_nul("a\0b", 3);
  const SpmModel model = parse_spm_model(make_spm(small_spm({{with_nul, -1}, {"▁", -1}})), "spm.model");
  EXPECT_EQ(model.id_of(with_nul), 4);
  const auto tokens = Unigram(model).split(" " + with_nul);
  ASSERT_EQ(tokens.size(), 2U);
  EXPECT_EQ(tokens[1].id, 3);
}

TEST(SpmModel, APieceMayHave1024Bytes) {
  const std::string longest(1024, 'a');
  const SpmModel model = parse_spm_model(make_spm(small_spm({{longest, -1}})), "spm.model");
  const auto tokens = Unigram(model).split(longest);
  ASSERT_EQ(tokens.size(), 1U);
  EXPECT_EQ(tokens[0].id, 4);
}

TEST(SpmModel, HostileFilesAreRefusedWithTheirReason) {
  const std::vector<HostileFile> files = hostile_spm_files();
  EXPECT_GE(files.size(), 60U);
  for (const HostileFile& file : files) {
    SCOPED_TRACE(file.name);
    if (file.is_unsupported) {
      EXPECT_ERROR(read(file.bytes), kUnsupported, file.part);
    } else {
      EXPECT_ERROR(read(file.bytes), kTokenizerFile, file.part);
    }
  }
}

// Any prefix is refused or, where it ends between two fields, gives a smaller model: never anything else.
TEST(SpmModel, AFileCutAtAnyByteIsSafe) {
  SpmSpec spec = small_spm({{"a", -1}, {"▁b", -2}, {"c", 0, kUserDefined}});
  spec.charsmap = make_charsmap({{"A", "a"}});
  const std::string whole = make_spm(spec);
  size_t refused = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    try {
      // A copy of exactly its size, so that AddressSanitizer sees a read beyond it.
      read(std::string(whole.data(), size));
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kTokenizerFile) << size << ": " << error.what();
      ++refused;
    }
  }
  EXPECT_GE(refused, whole.size() - 6);  // the last pieces and parts may be missing
  EXPECT_NO_THROW(read(whole));
}

TEST(SpmModel, AFileWithAnyByteChangedIsSafe) {
  SpmSpec spec = small_spm({{"a", -1}, {"▁b", -2}, {"c", 0, kUserDefined}});
  spec.charsmap = make_charsmap({{"A", "a"}, {"\n", " "}});
  const std::string whole = make_spm(spec);
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      try {
        read(changed);
      } catch (const Error&) {
        continue;
      }
    }
  }
}

TEST(SpmModel, FilesAboveTheLimitAreRefusedUnread) {
  EXPECT_ERROR(parse_spm_model(std::string(kMaxSpmFileBytes + 1, '\0'), "spm.model"), kTokenizerFile, "67108864 bytes");
}

TEST(SpmModel, MorePiecesThanTheLimitAreRefused) {
  std::string bytes;
  const std::string piece = wire_bytes(1, wire_bytes(1, "a"));
  for (size_t i = 0; i <= kMaxPieces; ++i) bytes += piece;
  EXPECT_ERROR(parse_spm_model(bytes, "spm.model"), kTokenizerFile, "at most 1048576 pieces");
}

}  // namespace
}  // namespace deberta::test::spm_model_test

// Bodies with a Content-Encoding: what they stand for, how much of it there may be, and what is refused.
#include "serve/coded_body.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "serve/api_error.h"
#include "support/compressed.h"

namespace deberta::serve::coded_body_test {
namespace {

using test::compressed;

constexpr Compression kBoth[] = {Compression::kGzip, Compression::kZstd};
constexpr size_t kPlenty = 1 << 20;

Compression coding(const std::vector<std::string>& values) {
  HttpRequest head;
  for (const std::string& value : values) head.headers.emplace_back("content-encoding", value);
  return coding_of(head);
}

std::string refusal(const auto& run) {
  try {
    run();
  } catch (const ApiError& error) {
    return std::string(info_of(error.code).name) + " | " + error.message;
  }
  return "none";
}

std::string decoded(Compression compression, const std::string& coded, size_t most = kPlenty) {
  return decoded_body(compression, coded, most, [](size_t) {});
}

std::string refusal_of(Compression compression, const std::string& coded, size_t most = kPlenty) {
  return refusal([&] { decoded(compression, coded, most); });
}

std::string words(size_t bytes) {
  std::mt19937 random(1);
  std::string text;
  while (text.size() < bytes) text += "word" + std::to_string(random() % 100000) + " ";
  text.resize(bytes);
  return text;
}

TEST(CodedBody, CodingsAreKnownByTheirNames) {
  EXPECT_EQ(coding({}), Compression::kNone);
  EXPECT_EQ(coding({"identity"}), Compression::kNone);
  EXPECT_EQ(coding({"gzip"}), Compression::kGzip);
  EXPECT_EQ(coding({"X-GZip"}), Compression::kGzip);
  EXPECT_EQ(coding({"zstd"}), Compression::kZstd);
  for (const char* other : {"br", "deflate", "xz", "bzip2", "plain", "", "gzip, gzip", "gzip,identity", "gzip;q=1"})
    EXPECT_EQ(refusal([&] { coding({other}); }),
              "media_type | Content-Encoding: expected one of gzip, zstd and identity, got " + header_text(other));
  EXPECT_EQ(refusal([] {
              coding({"gzip", "gzip"});
            }),
            "media_type | Content-Encoding: expected one of gzip, zstd and identity, got several");
}

TEST(CodedBody, AreWhatWasCompressed) {
  for (const Compression compression : kBoth) {
    for (const size_t size : {size_t{0}, size_t{1}, kPieceBytes - 1, kPieceBytes, kPieceBytes + 1, kPlenty}) {
      const std::string text = words(size);
      EXPECT_EQ(decoded(compression, compressed(text, compression)), text) << to_string(compression) << " " << size;
    }
  }
}

TEST(CodedBody, OfSeveralStreamsAreAllOfThem) {
  for (const Compression compression : kBoth)
    EXPECT_EQ(decoded(compression,
                      compressed("one ", compression) + compressed("", compression) + compressed("two", compression)),
              "one two");
}

TEST(CodedBody, HaveAsManyBytesAsThereMayBeAndNoMore) {
  for (const Compression compression : kBoth) {
    for (const size_t most : {size_t{100}, kPieceBytes, kPieceBytes + 1, 3 * kPieceBytes}) {
      EXPECT_EQ(decoded(compression, compressed(words(most), compression), most).size(), most);
      const std::string expected =
          "too_large | body: expected at most " + std::to_string(most) + " bytes once it is decompressed";
      EXPECT_EQ(refusal_of(compression, compressed(words(most + 1), compression), most), expected);
      EXPECT_EQ(refusal_of(compression, compressed(std::string(100 * most, 'a'), compression), most), expected);
    }
  }
}

// What is counted is what is taken, and a bomb is given up before it takes more than the limit allows.
TEST(CodedBody, HoldNoMoreMemoryThanTheLimitAllows) {
  for (const Compression compression : kBoth) {
    const std::string bomb = compressed(std::string(size_t{64} << 20, ' '), compression);
    size_t largest = 0;
    EXPECT_NE(refusal([&] {
                decoded_body(compression, bomb, kPlenty, [&](size_t bytes) { largest = std::max(largest, bytes); });
              }),
              "none");
    EXPECT_LE(largest, bomb.size() + 2 * (kPlenty + 1)) << to_string(compression);
    EXPECT_EQ(refusal([&] {
                decoded_body(compression, bomb, kPlenty, [&](size_t bytes) {
                  if (bytes > bomb.size() + 4 * kPieceBytes) throw ApiError(ApiCode::kOverloaded, "no room");
                });
              }),
              "overloaded | no room");
  }
}

TEST(CodedBody, HoldWhatTheyHaveOnceTheyAreDecompressed) {
  const std::string text = words(1000);
  size_t held = 0;
  decoded_body(Compression::kGzip, compressed(text, Compression::kGzip), kPlenty, [&](size_t bytes) { held = bytes; });
  EXPECT_GE(held, text.size());
  EXPECT_LE(held, 2 * kPieceBytes);
}

TEST(CodedBody, ThatEndEarlyOrGoOnAreRefused) {
  const std::string text = words(3000);
  for (const Compression compression : kBoth) {
    const std::string coded = compressed(text, compression), name(to_string(compression));
    for (size_t size = 0; size < coded.size(); size += 1 + coded.size() / 50)
      EXPECT_EQ(refusal_of(compression, coded.substr(0, size)),
                "bad_request | body: expected a whole " + name + " stream, got only its beginning")
          << size;
    EXPECT_TRUE(refusal_of(compression, coded + "behind it").starts_with("bad_request | body: damaged " + name));
    EXPECT_TRUE(refusal_of(compression, "{\"inputs\": \"a\"}").starts_with("bad_request | body: damaged " + name));
  }
}

TEST(CodedBody, WithAnyByteChangedAreRefusedOrOfTheSameSize) {
  const std::string text = words(2000);
  for (const Compression compression : kBoth) {
    const std::string coded = compressed(text, compression);
    for (size_t i = 0; i < coded.size(); ++i) {
      std::string changed = coded;
      changed[i] = static_cast<char>(changed[i] ^ 0x20);
      try {
        EXPECT_LE(decoded(compression, changed).size(), kPlenty);
      } catch (const ApiError& error) {
        EXPECT_TRUE(error.code == ApiCode::kBadRequest || error.code == ApiCode::kTooLarge) << error.message;
      }
    }
  }
}

TEST(CodedBody, NeedNoLargeWindow) {
  const std::string text = words(kPlenty);
  EXPECT_EQ(decoded(Compression::kZstd, test::zstd_with_window(text, 23)), text);
  EXPECT_EQ(refusal_of(Compression::kZstd, test::zstd_with_window(text, 24)),
            "too_large | body: zstd: expected a window of at most 8 MiB");
}

}  // namespace
}  // namespace deberta::serve::coded_body_test

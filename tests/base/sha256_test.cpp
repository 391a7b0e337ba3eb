// The vectors of FIPS 180-4 and of its validation programme, however the input is split.
#include "base/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace deberta::sha256_test {
namespace {

struct Vector {
  std::string text, digest;
};
const Vector kVectors[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    {"\xbd", "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b"},
    {"\xc9\x8c\x8e\x55", "7abc22c0ae5af26ce93dbb94433a0e0b2e119d014f8e7f65bd56c61ccccd9504"},
    {std::string(1000000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    {std::string(1000000, '\0'), "d29751f2649b32ff572b5e0a9f541ea660a50f94ff0beedfb0b692b924cc8025"},
};

TEST(Sha256, GivesThePublishedDigests) {
  for (const Vector& vector : kVectors) EXPECT_EQ(sha256_of(to_bytes(vector.text)), vector.digest);
}

TEST(Sha256, IsTheSameHoweverTheBytesAreHandedIn) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  for (size_t length = 0; length <= text.size(); ++length) {
    const std::string_view part = std::string_view(text).substr(0, length);
    for (const size_t step : {1u, 63u, 64u, 65u}) {
      Sha256 hash;
      for (size_t at = 0; at < length; at += step) hash.update(to_bytes(part.substr(at, step)));
      EXPECT_EQ(hash.finish(), sha256_of(to_bytes(part))) << length << " bytes in steps of " << step;
    }
  }
}

}  // namespace
}  // namespace deberta::sha256_test

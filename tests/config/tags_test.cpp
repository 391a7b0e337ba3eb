// Labels of token heads as tags: the scheme shows in all of them together.
#include "config/tags.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/expect_error.h"

namespace deberta::tags_test {
namespace {

using Names = std::vector<std::string>;

// "O B:PER I:PER", where a letter is a place.
std::string read(const Names& labels) {
  constexpr std::string_view kPlaces = "OBIES";
  const TagSet set(labels);
  std::string text;
  for (const std::string& label : labels) {
    const Tag& tag = set.of(label);
    text += (text.empty() ? "" : " ") + std::string(1, kPlaces[static_cast<size_t>(tag.place)]);
    if (tag.place != TagPlace::kOutside) text += ":" + tag.kind;
  }
  return text;
}

TEST(TagSet, ReadsEightSchemes) {
  const std::vector<std::pair<Names, std::string>> cases = {
      {{"O", "B-PER", "I-PER", "B-LOC", "I-LOC"}, "O B:PER I:PER B:LOC I:LOC"},                 // BIO
      {{"O", "I-PER", "B-PER", "I-LOC"}, "O I:PER B:PER I:LOC"},                                // IOB1
      {{"O", "I-PER", "I-LOC"}, "O I:PER I:LOC"},                                               // IO
      {{"O", "B-PER", "I-PER", "E-PER", "S-PER", "S-LOC"}, "O B:PER I:PER E:PER S:PER S:LOC"},  // BIOES
      {{"O", "B-PER", "I-PER", "L-PER", "U-PER", "U-LOC"}, "O B:PER I:PER E:PER S:PER S:LOC"},  // BILOU
      {{"O", "B_PER", "M_PER", "E_PER", "W_PER"}, "O B:PER I:PER E:PER S:PER"},                 // BMEWO
      {{"o", "b-per", "i-per", "e-per", "s-per"}, "O B:per I:per E:per S:per"},                 // in lower case
      {{"O", "PER", "LOC"}, "O I:PER I:LOC"},                                                   // none
      {{"O", "B", "I"}, "O B:_ I:_"},                                                           // one kind
  };
  for (const auto& [labels, expected] : cases) EXPECT_EQ(read(labels), expected);
}

TEST(TagSet, ALabelThatOnlyLooksLikeATagStaysWhole) {
  const std::vector<std::pair<Names, std::string>> cases = {
      {{"O", "e-mail", "x-ray", "phone"}, "O I:e-mail I:x-ray I:phone"},
      {{"O", "e-mail", "s-corp"}, "O I:e-mail I:s-corp"},
      {{"O", "i-beam", "pipe"}, "O I:i-beam I:pipe"},
      {{"O", "B-PER", "I-PER", "e-mail"}, "O B:PER I:PER I:e-mail"},
      {{"O", "B-PER", "I-PER", "E-MAIL"}, "O B:PER I:PER I:E-MAIL"},
      {{"O", "B-PER", "I-PER", "S-CORP", "U_BOAT"}, "O B:PER I:PER I:S-CORP I:U_BOAT"},
      {{"O", "B-PER", "I-PER", "E-PER", "S-PER", "u_boat"}, "O B:PER I:PER E:PER S:PER I:u_boat"},
      {{"O", "B-e-mail", "I-e-mail"}, "O B:e-mail I:e-mail"},
      {{"O", "LABEL_1", "W-2"}, "O I:LABEL_1 I:W-2"},
  };
  for (const auto& [labels, expected] : cases) EXPECT_EQ(read(labels), expected);
}

TEST(TagSet, TheKindOIsNotTheTagO) {
  EXPECT_EQ(read({"O", "B-O", "I-O"}), "O B:O I:O");
}

TEST(TagSet, HoldsItsOwnLabelsAlone) {
  EXPECT_ERROR(TagSet({"O"}).of("B-PER"), kInternal, "B-PER is not in the set");
}

TEST(Tags, GoOnWithinAnEntityOfTheirKind) {
  const TagSet set({"O", "B-X", "I-X", "E-X", "S-X", "I-Y", "B-Y"});
  const auto follows = [&](const char* before, const char* tag) { return continues(set.of(before), set.of(tag)); };
  for (const char* open : {"B-X", "I-X"}) {
    EXPECT_TRUE(follows(open, "I-X") && follows(open, "E-X"));
    for (const char* other : {"O", "B-X", "S-X", "I-Y"}) EXPECT_FALSE(follows(open, other)) << other;
  }
  for (const char* closed : {"O", "E-X", "S-X"}) EXPECT_FALSE(follows(closed, "I-X") || follows(closed, "E-X"));
}

}  // namespace
}  // namespace deberta::tags_test

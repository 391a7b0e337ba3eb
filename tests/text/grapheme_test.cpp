// Grapheme clusters: one case for each rule of UAX 29.
#include "text/unicode/grapheme.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace deberta::grapheme_test {
namespace {

using Clusters = std::vector<std::string>;

Clusters clusters_of(const std::string& text) {
  Clusters clusters;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = end_of_grapheme(text, begin);
    clusters.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return clusters;
}

TEST(Graphemes, LinesAndControlsStandAlone) {
  EXPECT_EQ(clusters_of("a\r\n\n\r\u0301b"), (Clusters{"a", "\r\n", "\n", "\r", "\u0301", "b"}));
  EXPECT_EQ(clusters_of("a\u200Bb"), (Clusters{"a", "\u200B", "b"}));
}

TEST(Graphemes, MarksAndJoinersBelongToWhatIsBefore) {
  EXPECT_EQ(clusters_of("e\u0301\u0302x\u200Dy\u200Cz"), (Clusters{"e\u0301\u0302", "x\u200D", "y\u200C", "z"}));
  EXPECT_EQ(clusters_of("\u0915\u0903a"), (Clusters{"\u0915\u0903", "a"}));
  EXPECT_EQ(clusters_of("\u0600a\u0600\n"), (Clusters{"\u0600a", "\u0600", "\n"}));
}

TEST(Graphemes, SyllablesOfHangulAreWhole) {
  EXPECT_EQ(clusters_of("\u1100\u1100\u1161\u11A8\u11A8\u1161"),
            (Clusters{"\u1100\u1100\u1161\u11A8\u11A8", "\u1161"}));
  EXPECT_EQ(clusters_of("\uAC00\u11A8\uAC01\u1161"), (Clusters{"\uAC00\u11A8", "\uAC01", "\u1161"}));
}

TEST(Graphemes, ConsonantsAreJoinedByALinkerOnly) {
  EXPECT_EQ(clusters_of("\u0915\u094D\u0937"), (Clusters{"\u0915\u094D\u0937"}));
  EXPECT_EQ(clusters_of("\u0915\u094D\u200D\u0937\u0937"), (Clusters{"\u0915\u094D\u200D\u0937", "\u0937"}));
  EXPECT_EQ(clusters_of("\u0915\u0903\u094D\u0937"), (Clusters{"\u0915\u0903\u094D", "\u0937"}));
  EXPECT_EQ(clusters_of("a\u094D\u0937"), (Clusters{"a\u094D", "\u0937"}));
}

TEST(Graphemes, PictographsAreJoinedByAJoiner) {
  EXPECT_EQ(clusters_of("\u00A9\u200D\u00A9a"), (Clusters{"\u00A9\u200D\u00A9", "a"}));
  EXPECT_EQ(clusters_of("\u00A9\uFE0F\u200D\u00A9\u00A9"), (Clusters{"\u00A9\uFE0F\u200D\u00A9", "\u00A9"}));
  EXPECT_EQ(clusters_of("\u00A9\u200D\u200D\u00A9"), (Clusters{"\u00A9\u200D\u200D", "\u00A9"}));
  EXPECT_EQ(clusters_of("a\u200D\u00A9"), (Clusters{"a\u200D", "\u00A9"}));
}

TEST(Graphemes, RegionalIndicatorsGoInPairs) {
  const std::string r = "\U0001F1E6";
  EXPECT_EQ(clusters_of(r + r + r + "a" + r), (Clusters{r + r, r, "a", r}));
  EXPECT_EQ(clusters_of(r + "\u0301" + r), (Clusters{r + "\u0301", r}));
}

}  // namespace
}  // namespace deberta::grapheme_test

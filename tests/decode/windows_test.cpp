// Windows over long texts, and which of them a token is read from.
#include "decode/windows.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/problem_of.h"

namespace deberta::windows_test {
namespace {

TEST(MakeWindows, ATextThatFitsIsOneWindow) {
  EXPECT_EQ(make_windows(5, 8, 2), (std::vector<Window>{{0, 5}}));
  EXPECT_EQ(make_windows(8, 8, 2), (std::vector<Window>{{0, 8}}));
  EXPECT_EQ(make_windows(0, 8, 2), (std::vector<Window>{{0, 0}}));
}

TEST(MakeWindows, EachSharesTheOverlapWithTheOneBeforeAndTheLastEndsWithTheText) {
  EXPECT_EQ(make_windows(9, 4, 1), (std::vector<Window>{{0, 4}, {3, 7}, {6, 9}}));
  EXPECT_EQ(make_windows(10, 4, 1), (std::vector<Window>{{0, 4}, {3, 7}, {6, 10}}));
  EXPECT_EQ(make_windows(8, 4, 0), (std::vector<Window>{{0, 4}, {4, 8}}));
}

TEST(MakeWindows, AnOverlapWithoutRoomIsRefused) {
  EXPECT_ERROR(make_windows(9, 4, 4), kUsage, "stride: expected less than the 4 tokens");
  const Problem problem = test::problem_of([] { make_windows(9, 4, 4); });
  EXPECT_EQ(problem.argument, "stride");
  EXPECT_EQ(problem.limit, 4u);
}

TEST(ChooseWindows, ATokenIsReadWhereItIsFarthestFromACut) {
  const std::vector<Window> windows = make_windows(9, 6, 3);  // 0..6, 3..9
  EXPECT_EQ(choose_windows(windows, 9), (std::vector<size_t>{0, 0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(ChooseWindows, TheEndsOfTheTextAreNotCuts) {
  const std::vector<Window> windows{{0, 4}, {3, 5}};
  EXPECT_EQ(choose_windows(windows, 5), (std::vector<size_t>{0, 0, 0, 0, 1}));
}

TEST(ChooseWindows, EveryTokenIsReadFromAWindowThatHoldsIt) {
  for (size_t tokens = 1; tokens < 60; ++tokens) {
    for (size_t room = 1; room < 12; ++room) {
      for (size_t overlap = 0; overlap < room; ++overlap) {
        const std::vector<Window> windows = make_windows(tokens, room, overlap);
        const std::vector<size_t> chosen = choose_windows(windows, tokens);
        for (size_t t = 0; t < tokens; ++t) {
          const Window& window = windows.at(chosen[t]);
          ASSERT_TRUE(window.first <= t && t < window.last) << tokens << " " << room << " " << overlap << " " << t;
        }
      }
    }
  }
}

Encoding text_of(std::vector<int32_t> ids, int32_t word = 0) {
  Encoding e;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto at = static_cast<uint32_t>(i);
    e.chars.push_back({at, at + 1});
    e.bytes.push_back({2 * at, 2 * at + 2});
    e.words.push_back(word + static_cast<int32_t>(i));
  }
  e.is_special.assign(ids.size(), 0);
  e.type_ids.assign(ids.size(), 0);
  e.ids = std::move(ids);
  return e;
}

TEST(WindowEncoding, KeepsOffsetsBetweenClsAndSep) {
  const Encoding window = window_encoding(text_of({10, 11, 12, 13}), {1, 3}, {});
  EXPECT_EQ(window.ids, (std::vector<int32_t>{1, 11, 12, 2}));
  EXPECT_EQ(window.is_special, (std::vector<uint8_t>{1, 0, 0, 1}));
  EXPECT_EQ(window.chars[1], (Offset{1, 2}));
  EXPECT_EQ(window.bytes[2], (Offset{4, 6}));
  EXPECT_EQ(window.words, (std::vector<int32_t>{-1, 1, 2, -1}));
  EXPECT_EQ(window.type_ids, (std::vector<int32_t>{0, 0, 0, 0}));
}

TEST(WindowEncoding, APrefixIsTheFirstText) {
  const Encoding window = window_encoding(text_of({7, 8}), text_of({10, 11, 12}, 5), {2, 3}, {});
  EXPECT_EQ(window.ids, (std::vector<int32_t>{1, 7, 8, 2, 12, 2}));
  EXPECT_EQ(window.type_ids, (std::vector<int32_t>{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(window.words, (std::vector<int32_t>{-1, 0, 1, -1, 7, -1}));
}

}  // namespace
}  // namespace deberta::windows_test

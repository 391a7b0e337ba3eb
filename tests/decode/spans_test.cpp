// From start and end logits to answers.
#include "decode/spans.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "decode/span_answers.h"
#include "decode/windows.h"
#include "support/expect_error.h"

namespace deberta::spans_test {
namespace {

double softmax(const std::vector<double>& logits, size_t at) {
  double sum = 0;
  for (const double x : logits) sum += std::exp(x);
  return std::exp(logits[at]) / sum;
}

const SpanLogits kWindow{{1, 5, 2}, {0, 1, 4}, -1, 0.5f};

TEST(FindSpans, ThePairOfTheLargestSumWinsWithTheProductOfItsProbabilities) {
  const SpanCandidates result = find_spans({&kWindow, 1}, {});
  EXPECT_EQ(result.spans.at(0).first_token, 1u);
  EXPECT_EQ(result.spans.at(0).last_token, 2u);
  EXPECT_DOUBLE_EQ(result.spans[0].logit, 9);
  EXPECT_NEAR(result.spans[0].score, softmax({-1, 1, 5, 2}, 2) * softmax({0.5, 0, 1, 4}, 3), 1e-12);
  EXPECT_NEAR(result.null_score, softmax({-1, 1, 5, 2}, 0) * softmax({0.5, 0, 1, 4}, 0), 1e-12);
  EXPECT_DOUBLE_EQ(result.null_logit, -0.5);
}

TEST(FindSpans, AnEndBeforeItsStartIsNoSpan) {
  const SpanLogits window{{0, 0, 9}, {9, 0, 0}, 0, 0};
  for (const TokenSpan& span : find_spans({&window, 1}, {.count = 20}).spans)
    EXPECT_LE(span.first_token, span.last_token);
  EXPECT_EQ(find_spans({&window, 1}, {.count = 20}).spans.size(), 6u);
  EXPECT_EQ(find_spans({&window, 1}, {.count = 2}).spans.size(), 2u);
}

TEST(FindSpans, SpansAreNoLongerThanAsked) {
  const SpanLogits window{{9, 0, 0, 0}, {0, 0, 0, 9}, 0, 0};
  for (const TokenSpan& span : find_spans({&window, 1}, {.max_answer_tokens = 3}).spans)
    EXPECT_LE(span.last_token - span.first_token, 2u);
}

TEST(FindSpans, WindowsCompareByTheirLogits) {
  const SpanLogits windows[] = {{{3}, {3}, 9, 9}, {{2}, {2}, -9, -9}};
  const SpanCandidates result = find_spans(windows, {});
  ASSERT_EQ(result.spans.size(), 2u);
  EXPECT_GT(result.spans[0].score, result.spans[1].score);
  EXPECT_DOUBLE_EQ(result.null_logit, -18);  // that of the window where it is lowest
  const SpanCandidates alone = find_spans(windows, {.normalizes_windows = true});
  EXPECT_LT(alone.spans[0].score, alone.spans[1].score);  // a span is unlikely where "no answer" is likely
  EXPECT_NEAR(alone.spans[1].score, 1, 1e-4);
}

TEST(FindSpans, ALogitThatIsNoNumberIsAnError) {
  const SpanLogits window{{std::numeric_limits<float>::quiet_NaN()}, {1}, 0, 0};
  EXPECT_ERROR(find_spans({&window, 1}, {}), kNotFinite, "a logit is NaN or infinite");
  EXPECT_ERROR(find_spans({}, {}), kInput, "expected at least one window");
}

// "the Cat cat" after the question "who"; `Cat` is two pieces.
struct Case {
  std::string context = "the Cat cat";
  std::vector<Encoding> windows;
  Case() {
    Encoding e;
    e.ids = {1, 5, 2, 10, 11, 12, 13, 2};
    e.type_ids = {0, 0, 0, 1, 1, 1, 1, 1};
    e.bytes = {{}, {0, 3}, {}, {0, 3}, {4, 5}, {5, 7}, {8, 11}, {}};
    e.chars = e.bytes;
    e.words = {-1, 0, -1, 0, 1, 1, 2, -1};
    e.is_special = {1, 0, 1, 0, 0, 0, 0, 1};
    windows.push_back(e);
  }
};

SpanCandidates candidates(std::vector<TokenSpan> spans, double null_score = 0.1, double null_logit = 0) {
  return {std::move(spans), null_score, null_logit};
}

SpanAnswerRules best_of(size_t count, bool allows_none = false) {
  SpanAnswerRules rules;
  rules.count = count;
  rules.allows_none = allows_none;
  return rules;
}

TEST(SpanAnswers, BeginAndEndWithWords) {
  const Case c;
  const auto answers = span_answers(c.context, c.windows, candidates({{0, 2, 2, 0.5, 1}}), {});
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].text, "Cat");
  EXPECT_EQ(answers[0].bytes, (Offset{4, 7}));
  SpanAnswerRules by_tokens;
  by_tokens.aligns_to_words = false;
  EXPECT_EQ(span_answers(c.context, c.windows, candidates({{0, 2, 2, 0.5, 1}}), by_tokens)[0].text, "at");
}

TEST(SpanAnswers, TheSameWordsInAnyCaseAreOneAnswer) {
  const Case c;
  const auto answers = span_answers(c.context, c.windows,
                                    candidates({{0, 3, 3, 0.25, 1}, {0, 1, 2, 0.5, 2}, {0, 0, 0, 0.6, 3}}), best_of(3));
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].text, "Cat");  // the more likely place
  EXPECT_FLOAT_EQ(answers[0].score, 0.75f);
  EXPECT_EQ(answers[1].text, "the");
}

// `marked`: the pieces that begin with the word-start mark.
SpanAnswerRules as_transformers(const std::set<int32_t>& marked = {10, 11, 13}) {
  SpanAnswerRules rules = best_of(3);
  rules.as_transformers = true;
  rules.takes_space = [marked](int32_t id) { return marked.contains(id); };
  return rules;
}

TEST(SpanAnswers, AsTransformersEqualWordsAreOneBehindTheSameSpaceInTheFirstPlace) {
  Case c;
  const SpanCandidates span_candidates = candidates({{0, 3, 3, 0.25, 1}, {0, 1, 2, 0.5, 2}});
  const auto same = span_answers(c.context, c.windows, span_candidates, as_transformers());
  ASSERT_EQ(same.size(), 1u);
  EXPECT_EQ(same[0].text, "cat");
  EXPECT_FLOAT_EQ(same[0].score, 0.75f);
  c.context = "the\nCat cat";
  EXPECT_EQ(span_answers(c.context, c.windows, span_candidates, as_transformers()).size(), 2u);
  EXPECT_EQ(span_answers(c.context, c.windows, span_candidates, best_of(3)).size(), 1u);
}

TEST(SpanAnswers, AsTransformersTheSpaceBelongsToAMarkOfItsOwn) {
  Case c;
  c.context = "cat at  cat";  // the second `cat` is two pieces: the mark and `cat`
  c.windows[0].bytes[4] = {0, 3};
  c.windows[0].bytes[5] = {8, 8};
  SpanAnswerRules rules = as_transformers({10, 12});
  const SpanCandidates span_candidates = candidates({{0, 1, 1, 0.5, 2}, {0, 3, 3, 0.25, 1}});
  EXPECT_EQ(span_answers(c.context, c.windows, span_candidates, rules).size(), 2u);
  rules.aligns_to_words = false;
  EXPECT_EQ(span_answers(c.context, c.windows, span_candidates, rules).size(), 1u);
}

TEST(SpanAnswers, AsTransformersAWordStaysCutByTheEdgeOfItsWindow) {
  Case c;
  Encoding& e = c.windows[0];  // begins within `Cat`
  e.ids = {1, 5, 2, 12, 13, 2};
  e.type_ids = {0, 0, 0, 1, 1, 1};
  e.bytes = {{}, {0, 3}, {}, {5, 7}, {8, 11}, {}};
  e.chars = e.bytes;
  const SpanCandidates span_candidates = candidates({{0, 0, 0, 0.5, 2}});
  EXPECT_EQ(span_answers(c.context, c.windows, span_candidates, as_transformers())[0].text, "at");
  EXPECT_EQ(span_answers(c.context, c.windows, span_candidates, best_of(1))[0].text, "Cat");
}

TEST(SpanAnswers, NoAnswerIsACandidateByItsScore) {
  const Case c;
  const auto spans = candidates({{0, 0, 0, 0.3, 1}, {0, 3, 3, 0.05, -1}});
  EXPECT_EQ(span_answers(c.context, c.windows, spans, best_of(5)).size(), 2u);
  const auto answers = span_answers(c.context, c.windows, spans, best_of(5, true));
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[1].text, "");
  EXPECT_EQ(answers[1].bytes, (Offset{0, 0}));
}

TEST(SpanAnswers, AThresholdDecidesForOrAgainstNoAnswer) {
  const Case c;
  const auto spans = candidates({{0, 0, 0, 0.3, 1}}, 0.1, 0);
  const auto first = [&](float threshold) {
    SpanAnswerRules rules = best_of(1, true);
    rules.null_threshold = threshold;
    return span_answers(c.context, c.windows, spans, rules)[0].text;
  };
  EXPECT_EQ(first(-1.5f), "");  // 0 - 1 > -1.5
  EXPECT_EQ(first(-0.5f), "the");
}

TEST(SpanAnswers, AContextWithoutTokensHasNone) {
  const Case c;
  EXPECT_TRUE(span_answers("", c.windows, candidates({}), {}).empty());
  SpanAnswerRules rules = best_of(1, true);
  rules.null_threshold = 0.0f;
  EXPECT_EQ(span_answers("", c.windows, candidates({}), rules).size(), 1u);
}

}  // namespace
}  // namespace deberta::spans_test

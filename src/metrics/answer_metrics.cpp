// Normalisation and overlap of answers.
#include "metrics/answer_metrics.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/unicode/unicode.h"

namespace deberta {
namespace {

constexpr char32_t kSigma = 0x3A3, kSmallSigma = 0x3C3, kFinalSigma = 0x3C2;

std::u32string code_points_of(std::string_view text) {
  std::u32string points;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    points += point.value;
    at += point.size_bytes;
  }
  return points;
}

// Scripts with upper and lower case lie here, except for rare ones.
bool has_case(char32_t point) {
  return point < 0x600 && is_letter(point);
}
// What may stand between a letter and the sigma that ends its word.
bool is_passed_over(char32_t point) {
  constexpr std::u32string_view kMarks = U"'.:^`\u00A8\u00AD\u00AF\u00B4\u00B7\u00B8\u2018\u2019\u2024\u2027";
  return kMarks.find(point) != std::u32string_view::npos || (point >= 0x300 && point <= 0x36F);
}

// Whether the first character in a direction that is not passed over is a letter.
bool is_letter_near(std::u32string_view points, size_t at, int step) {
  const auto count = static_cast<std::ptrdiff_t>(points.size());
  for (auto i = static_cast<std::ptrdiff_t>(at) + step; i >= 0 && i < count; i += step) {
    const char32_t point = points[static_cast<size_t>(i)];
    if (!is_passed_over(point)) return has_case(point);
  }
  return false;
}

std::u32string to_lower(std::u32string_view points) {
  std::u32string lower;
  for (size_t i = 0; i < points.size(); ++i) {
    if (points[i] == kSigma) {
      lower += is_letter_near(points, i, -1) && !is_letter_near(points, i, 1) ? kFinalSigma : kSmallSigma;
      continue;
    }
    lower += deberta::to_lower(points[i]);
    if (points[i] == kCapitalIWithDot) lower += kDotAbove;
  }
  return lower;
}

bool is_ascii_punctuation(char32_t point) {
  return point < 0x7F && point > 0x20 && !(point >= '0' && point <= '9') && !(point >= 'A' && point <= 'Z') &&
         !(point >= 'a' && point <= 'z');
}

bool is_of_word(char32_t point) {
  return is_letter(point) || is_number(point);
}

std::u32string without_articles(std::u32string_view points) {
  std::u32string result;
  for (size_t begin = 0; begin < points.size();) {
    size_t end = begin;
    while (end < points.size() && is_of_word(points[end])) ++end;
    const std::u32string_view word = points.substr(begin, end - begin);
    if (word == U"a" || word == U"an" || word == U"the")
      result += U' ';
    else
      result += word;
    if (end < points.size()) result += points[end];
    begin = end + 1;
  }
  return result;
}

std::vector<std::string_view> sorted_words(std::string_view normal) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; begin < normal.size();) {
    const size_t end = std::min(normal.find(' ', begin), normal.size());
    words.push_back(normal.substr(begin, end - begin));
    begin = end + 1;
  }
  std::sort(words.begin(), words.end());
  return words;
}

size_t count_common(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  size_t common = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j])
      ++common, ++i, ++j;
    else if (a[i] < b[j])
      ++i;
    else
      ++j;
  }
  return common;
}

}  // namespace

std::string normalize_answer(std::string_view text) {
  std::u32string points = to_lower(code_points_of(text));
  points.erase(std::remove_if(points.begin(), points.end(), is_ascii_punctuation), points.end());
  std::string normal;
  bool is_space = true;
  for (const char32_t point : without_articles(points)) {
    if (!is_white_space(point)) {
      if (is_space && !normal.empty()) normal += ' ';
      append_utf8(normal, point);
    }
    is_space = is_white_space(point);
  }
  return normal;
}

AnswerScore score_answer(std::string_view predicted, std::string_view gold, EmptyRule rule) {
  const std::string a = normalize_answer(predicted), b = normalize_answer(gold);
  const std::vector<std::string_view> a_words = sorted_words(a), b_words = sorted_words(b);
  AnswerScore score{a == b ? 1.0 : 0.0, 0};
  if (rule == EmptyRule::kEqual && (a_words.empty() || b_words.empty())) {
    score.f1 = a_words.empty() && b_words.empty() ? 1 : 0;
    return score;
  }
  const size_t common = count_common(a_words, b_words);
  if (common == 0) return score;
  const double precision = static_cast<double>(common) / static_cast<double>(a_words.size());
  const double recall = static_cast<double>(common) / static_cast<double>(b_words.size());
  score.f1 = 2 * precision * recall / (precision + recall);
  return score;
}

AnswerScore best_score(std::string_view predicted, const std::vector<std::string>& golds, EmptyRule rule) {
  AnswerScore best;
  for (const std::string& gold : golds) {
    const AnswerScore score = score_answer(predicted, gold, rule);
    best = {std::max(best.exact, score.exact), std::max(best.f1, score.f1)};
  }
  return best;
}

}  // namespace deberta

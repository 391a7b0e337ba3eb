// How close an answer is to a gold answer, as the evaluation of SQuAD defines it (Rajpurkar et al. 2016, 2018);
// ReCoRD's is the first of these. Text is compared as Python compares it: lower case, words and white space of Unicode.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace deberta {

// Lower case, without the punctuation of ASCII and the words a, an, the; one space between words, none around them.
std::string normalize_answer(std::string_view text);

struct AnswerScore {
  double exact = 0;
  double f1 = 0;  // of words, each as often as it occurs
};
enum class EmptyRule {
  kNoWords,  // 1.1: without a word in common F1 is 0, also between two empty answers
  kEqual,    // 2.0: where either is empty, F1 is 1 when both are
};
AnswerScore score_answer(std::string_view predicted, std::string_view gold, EmptyRule rule);
// The best of each over several gold answers; zeros if there are none.
AnswerScore best_score(std::string_view predicted, const std::vector<std::string>& golds, EmptyRule rule);

}  // namespace deberta

// How close an answer is to a gold answer, as the evaluation of SQuAD defines it (Rajpurkar et al. 2016, 2018);
// ReCoRD's is the first of these. Text is compared as Python compares it: lower case, words and white space of Unicode.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace deberta {

// Lower case, without ASCII punctuation and the words a, an, the; one space between words, none around them.
std::string normalize_answer(std::string_view text);

struct AnswerScore {
  double exact = 0;
  double f1 = 0;  // over bags of words
};
enum class EmptyRule {
  kNoWords,  // 1.1: without a word in common F1 is 0, even between two empty answers
  kEqual,    // 2.0: if either is empty, F1 is 1 exactly when both are
};
AnswerScore score_answer(std::string_view predicted, std::string_view gold, EmptyRule rule);
// The best of each over several gold answers; zeros if there are none.
AnswerScore best_score(std::string_view predicted, const std::vector<std::string>& golds, EmptyRule rule);

}  // namespace deberta

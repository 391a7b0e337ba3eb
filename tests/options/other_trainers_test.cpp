// What other trainers call options: an answer only where this program has no such option.
#include "options/other_trainers.h"

#include <gtest/gtest.h>

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "options/options.h"

namespace deberta::other_trainers_test {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(OtherTrainers, NoAnswerHidesAnOption) {
  for (const OtherTrainersOption& row : other_trainers_options()) {
    for (const std::string& verb : words_of(row.verbs)) {
      ASSERT_NE(find_verb(verb), nullptr) << verb;
      for (const std::string& name : words_of(row.names)) {
        EXPECT_FALSE(has_option(verb, name)) << verb << ' ' << name;
        EXPECT_EQ(find_alias(verb, name), nullptr) << verb << ' ' << name;
        EXPECT_EQ(answer_to(name, verb), row.answer) << verb << ' ' << name;
      }
    }
  }
}

TEST(OtherTrainers, AnswersInAnySpellingAndToTheVerbThatWasAsked) {
  EXPECT_EQ(answer_to("do_train", "finetune"), answer_to("do-train", "pretrain"));
  EXPECT_NE(answer_to("do-eval", "finetune"), answer_to("do-eval", "pretrain"));
  EXPECT_EQ(answer_to("do-train", "classify"), "");
  EXPECT_EQ(answer_to("do", "finetune"), "");
  EXPECT_EQ(answer_to("", "finetune"), "");
}

}  // namespace
}  // namespace deberta::other_trainers_test

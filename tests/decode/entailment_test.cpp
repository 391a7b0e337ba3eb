// Every class of an entailment model has exactly one role, or is declared to have none.
#include "decode/entailment.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.h"

namespace deberta::entailment_test {
namespace {

using Names = std::vector<std::string>;

// "entailment=2 neutral=1", in the order of an answer.
std::string relations_of(const Names& labels, const Names& map = {}) {
  std::string text;
  for (const Relation& relation : find_relations(labels, map.empty() ? labels.size() : map.size(), map))
    text += (text.empty() ? "" : " ") + relation.name + "=" + std::to_string(relation.index);
  return text;
}

TEST(Relations, GoByNameInAnyOrderAndCase) {
  const std::vector<std::pair<Names, std::string>> cases = {
      {{"contradiction", "neutral", "entailment"}, "entailment=2 neutral=1 contradiction=0"},
      {{"entailment", "neutral", "contradiction"}, "entailment=0 neutral=1 contradiction=2"},
      {{"CONTRADICTION", "Neutral", "ENTAILMENT"}, "entailment=2 neutral=1 contradiction=0"},
      {{"entails", "neutral", "contradicts"}, "entailment=0 neutral=1 contradiction=2"},
      {{"contra", "entailed", "neutral"}, "entailment=1 neutral=2 contradiction=0"},
      {{"not_entailment", "entailment"}, "entailment=1 not_entailment=0"},
      {{"entailment", "not-entailment"}, "entailment=0 not_entailment=1"},
      {{"Not Entailed", "Entailed"}, "entailment=1 not_entailment=0"},
      {{"non_entailment", "entailment"}, "entailment=1 not_entailment=0"},
      {{"contradiction", "entailment"}, "entailment=1 contradiction=0"},
      {{"neutral", "entailment"}, "entailment=1 neutral=0"},
  };
  for (const auto& [labels, expected] : cases) EXPECT_EQ(relations_of(labels), expected) << labels.front();
}

TEST(Relations, AClassWithoutARoleIsRefusedByItsName) {
  const std::vector<std::pair<Names, std::string>> cases = {
      {{"other", "entailment"}, "got \"other\" among other, entailment"},
      {{"entailment", "unknown"}, "\"unknown\""},
      {{"refuted", "neutral", "entailment"}, "\"refuted\""},
      {{"entailment", "neutral", "not_enough_info"}, "\"not_enough_info\""},
      {{"not_entailment", "neutral", "entailment"}, "\"not_entailment\""},
      {{"contradiction", "neutral", "entailment", "other"}, "\"other\""},
      {{"LABEL_0", "LABEL_1", "LABEL_2"}, "\"LABEL_0\""},
      {{"0", "1"}, "\"0\""},
      {{"no", "yes"}, "\"no\""},
      {{"", "entailment"}, "\"\""},
  };
  for (const auto& [labels, expected] : cases) EXPECT_ERROR(relations_of(labels), kTask, expected);
  EXPECT_ERROR(relations_of({"other", "entailment"}), kTask,
               "expected classes named entailment, neutral, contradiction or not_entailment");
}

TEST(Relations, NoTwoClassesHaveOneRole) {
  EXPECT_ERROR(relations_of({"entailment", "neutral", "entailed"}), kTask,
               "expected one class of each kind, got \"entailment\" and \"entailed\"");
  EXPECT_ERROR(relations_of({"contradiction", "not_entailment"}), kTask,
               "got \"contradiction\" and \"not_entailment\"");
  EXPECT_ERROR(relations_of({"neutral", "contradiction"}), kTask, "expected a label named entailment");
}

TEST(Relations, AMapStandsInsteadOfTheNames) {
  EXPECT_EQ(relations_of({"LABEL_0", "LABEL_1"}, {"entailment", "not_entailment"}), "entailment=0 not_entailment=1");
  EXPECT_EQ(relations_of({}, {"contradiction", "neutral", "entailment"}), "entailment=2 neutral=1 contradiction=0");
  EXPECT_ERROR(find_relations({}, 3), kTask, "expected 3 label names, got 0");
  EXPECT_ERROR(find_relations({"a", "b", "c"}, 3, {"entailment", "neutral"}), kTask, "expected 3 label names, got 2");
  EXPECT_ERROR(relations_of({"a", "b"}, {"entailment", "b"}), kTask, "got \"b\"");
}

TEST(Relations, AClassThatIsSaidToHaveNoRoleKeepsItsName) {
  EXPECT_EQ(relations_of({"other", "entailment"}, {"none", "entailment"}), "entailment=1 other=0");
  EXPECT_EQ(relations_of({"a", "b", "c", "d"}, {"none", "entailment", "none", "contradiction"}),
            "entailment=1 contradiction=3 a=0 c=2");
  EXPECT_EQ(relations_of({}, {"none", "entailment"}), "entailment=1 LABEL_0=0");
  EXPECT_EQ(relations_of({"other", "entailment"}, {" none", "entailment "}), "entailment=1 other=0");
  EXPECT_EQ(relations_of({}, {"\tnot_entailment", " entailment"}), relations_of({}, {"not_entailment", "entailment"}));
  // A name that the answer has already would stand there twice.
  EXPECT_EQ(relations_of({"entailment", "label", "yes"}, {"none", "none", "entailment"}),
            "entailment=2 LABEL_0=0 LABEL_1=1");
  EXPECT_ERROR(relations_of({"none", "entailment"}), kTask, "got \"none\"");  // only a map says so
}

}  // namespace
}  // namespace deberta::entailment_test

// Plans: what a cell's options are, which are the same cells, and every problem of a plan at once.
#include "train/ablation/plan.h"

#include <gtest/gtest.h>

#include "deberta/error.h"
#include "support/expect_error.h"
#include "train/ablation/forms.h"

namespace deberta::train::plan_test {
namespace {

Plan plan_of(const std::string& text) {
  return parse_plan(parse_json(text, "plan"), "plan.json");
}

constexpr const char* kPlan = R"({
  "corpora": ["a.txt"],
  "pretrain": {"objective": "mlm", "config-overrides": "num_hidden_layers=2", "max-steps": 5},
  "finetune": {"learning-rate": 1e-4},
  "tasks": {"cola": {"metric": "matthews_correlation", "train-file": "cola.tsv"}, "rte": {"metric": "accuracy", "learning-rate": 2e-4}},
  "seeds": [1, 2],
  "forms": {"full": {}, "no c2p": {"form": "-C2P", "seeds": [3], "pretrain": {"max-steps": 7}}}})";

const Json* option(const JsonObject& options, const std::string& name) {
  const Json* member = nullptr;
  for (const auto& [key, value] : options) {
    if (key == name) member = &value;
  }
  return member;
}

TEST(Plans, CellsHaveTheOptionsOfThePlanTheFormAndTheSeed) {
  const Plan plan = plan_of(kPlan);
  EXPECT_EQ(plan.reference, "full");
  const std::vector<Cell> cells = cells_of(plan);
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[0].name, "full-seed1");
  EXPECT_EQ(cells[2].name, "no-c2p-seed3");
  EXPECT_EQ(option(cells[0].pretrain, "config-overrides")->as_string(), "num_hidden_layers=2");
  EXPECT_EQ(option(cells[2].pretrain, "config-overrides")->as_string(), "num_hidden_layers=2,pos_att_type=p2c");
  EXPECT_EQ(option(cells[2].pretrain, "max-steps")->as_integer(), 7);
  EXPECT_EQ(option(cells[2].pretrain, "seed")->as_integer(), 3);
  ASSERT_EQ(cells[2].finetune.size(), 2u);
  EXPECT_EQ(cells[2].finetune[0].first, "cola");
  EXPECT_EQ(option(cells[2].finetune[0].second, "task")->as_string(), "cola");
  EXPECT_EQ(option(cells[2].finetune[0].second, "learning-rate")->as_number(), 1e-4);
  EXPECT_EQ(option(cells[2].finetune[1].second, "learning-rate")->as_number(), 2e-4);
  EXPECT_EQ(option(cells[2].finetune[1].second, "seed")->as_integer(), 3);
  EXPECT_EQ(option(cells[2].finetune[1].second, "metric"), nullptr);
}

TEST(Plans, ACellIsTheSameWhileItsOptionsAre) {
  const std::vector<Cell> cells = cells_of(plan_of(kPlan));
  EXPECT_NE(cells[0].hash, cells[1].hash);
  std::string text = kPlan;
  text.replace(text.find("\"objective\": \"mlm\", "), 20, "");
  text.replace(text.find("\"max-steps\": 5"), 14, "\"max-steps\": 5, \"objective\": \"mlm\"");
  EXPECT_EQ(cells_of(plan_of(text))[0].hash, cells[0].hash) << "the order of options means nothing";
  std::string other = kPlan;
  other.replace(other.find("2e-4"), 4, "3e-4");
  EXPECT_NE(cells_of(plan_of(other))[0].hash, cells[0].hash);
  std::string corpus = kPlan;
  corpus.replace(corpus.find("a.txt"), 5, "b.txt");
  EXPECT_NE(cells_of(plan_of(corpus))[0].hash, cells[0].hash);
  std::string more = kPlan;
  more.replace(more.find("\"full\": {},"), 11, "\"full\": {}, \"more\": {\"form\": \"BERT\"},");
  EXPECT_EQ(cells_of(plan_of(more))[0].hash, cells[0].hash) << "another form changes no cell";
}

TEST(Plans, FoldsOfATaskArePartOfTheCellAndNoOptionOfItsRuns) {
  std::string text = kPlan;
  text.replace(text.find("\"metric\": \"accuracy\""), 20, "\"metric\": \"accuracy\", \"folds\": 5");
  const Plan plan = plan_of(text);
  EXPECT_EQ(plan.tasks[0].folds, 0u);
  EXPECT_EQ(plan.tasks[1].folds, 5u);
  const Cell cell = cells_of(plan)[0];
  EXPECT_EQ(option(cell.finetune[1].second, "folds"), nullptr);
  EXPECT_NE(cell.hash, cells_of(plan_of(kPlan))[0].hash);
  text.replace(text.find("\"folds\": 5"), 10, "\"folds\": 6");
  EXPECT_NE(cell.hash, cells_of(plan_of(text))[0].hash);
  text.replace(text.find("\"folds\": 6"), 10, "\"folds\": 1");
  EXPECT_ERROR(plan_of(text), kUsage, "tasks.rte.folds: expected a number from 2 to 100, got 1");
}

TEST(Plans, RowsAreHeldOutInOneWay) {
  const std::string begin = R"({"model": "m", "seeds": [1], "tasks": {"rte": {"metric": "accuracy", "folds": 5)";
  EXPECT_ERROR(plan_of(begin + R"(, "validation-file": "dev.tsv"}}, "forms": {"a": {}}})"), kUsage,
               "tasks.rte.validation-file: expected none, as the task rte has folds");
  EXPECT_ERROR(plan_of(begin + R"(}}, "forms": {"a": {"finetune": {"validation-split": 0.1}}}})"), kUsage,
               "forms.a.finetune.validation-split: expected none, as the task rte has folds");
}

constexpr const char* kPlanOfModel = R"({
  "model": "m", "finetune": {"learning-rate": 1e-4, "cls-dropout": 0.2},
  "tasks": {"rte": {"metric": "accuracy", "learning-rate": 2e-4}}, "seeds": [1],
  "forms": {"plain": {}, "SiFT": {"finetune": {"adversarial": "sift", "learning-rate": 3e-4}}}})";

TEST(Plans, OfAModelFineTuneAlone) {
  const Plan plan = plan_of(kPlanOfModel);
  EXPECT_EQ(plan.model, "m");
  const std::vector<Cell> cells = cells_of(plan);
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_TRUE(cells[0].pretrain.empty());
  EXPECT_EQ(option(cells[0].finetune[0].second, "learning-rate")->as_number(), 2e-4);
  EXPECT_EQ(option(cells[1].finetune[0].second, "learning-rate")->as_number(), 3e-4) << "the form's, over the task's";
  EXPECT_EQ(option(cells[1].finetune[0].second, "cls-dropout")->as_number(), 0.2);
  std::string other = kPlanOfModel;
  other.replace(other.find("\"m\""), 3, "\"n\"");
  EXPECT_NE(cells_of(plan_of(other))[0].hash, cells[0].hash);
}

TEST(Plans, EveryProblemIsToldAtOnce) {
  std::string all;
  try {
    plan_of(
        R"({"corpora": [], "pretrain": 5, "tasks": {"cola": {}}, "seeds": [1, 1, -2], "reference": "none", "fors": 1,
                "forms": {"a": {"form": "ELEKTRA"}, "b": {"form": "XLNet"}, "A b": {"foo": 1}, "a-b": {}, "A-b": {}}})");
    ADD_FAILURE() << "expected an error, got none";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    for (const Problem& problem : error.problems()) all += problem.where + ": " + problem.message + "\n";
  }
  for (const char* part :
       {"corpora: expected a list", "pretrain: expected an object", "tasks.cola.metric: expected",
        "seeds: expected whole", "reference: expected", "fors: expected one of",
        "forms.a.form: expected one of full, -EMD", "got \"ELEKTRA\"", "forms.b.form: XLNet: permutation",
        "forms.A b.foo: expected one of", "forms.A-b: expected a name"})
    EXPECT_NE(all.find(part), std::string::npos) << part << "\n" << all;
}

TEST(Plans, OfAModelHaveNothingToPretrain) {
  std::string all;
  try {
    plan_of(R"({"model": 5, "corpora": ["a"], "seeds": [1], "forms": {"a": {"form": "-C2P"}}})");
    ADD_FAILURE() << "expected an error, got none";
  } catch (const Error& error) {
    for (const Problem& problem : error.problems()) all += problem.message + "\n";
  }
  EXPECT_NE(all.find("corpora: expected none beside model"), std::string::npos) << all;
  EXPECT_NE(all.find("model: expected a folder"), std::string::npos) << all;
  EXPECT_EQ(all.find("forms.a"), std::string::npos) << "the plan has no model to speak of";
  EXPECT_ERROR(plan_of(R"({"model": "m", "seeds": [1], "forms": {"a": {"form": "-C2P"}}})"), kUsage,
               "forms.a: expected only options of finetune");
}

TEST(Forms, AreOptionsOrRefusedWithTheReason) {
  for (const Form& form : all_forms()) {
    EXPECT_EQ(find_form(form.name), &form);
    EXPECT_NE(form.about.empty(), form.refusal.empty()) << form.name;
    EXPECT_TRUE(form.options.empty() || parse_json(form.options, form.name).is_object()) << form.name;
  }
  EXPECT_EQ(find_form("bert"), nullptr);
}

}  // namespace
}  // namespace deberta::train::plan_test

// The table of tasks: names, labels, readers, text forms, averages.
#include "metrics/task_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "metrics/benchmarks.h"
#include "metrics/task_inputs.h"
#include "metrics/task_labels.h"
#include "metrics/task_rows.h"
#include "options/options.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::task_table_test {
namespace {

TEST(TaskTable, NamesAndAliasesAreUnique) {
  std::set<std::string> names;
  for (const TaskRow& task : task_table()) {
    EXPECT_TRUE(names.insert(std::string(task.name)).second) << task.name;
    for (const std::string& alias : split_words(task.aliases)) EXPECT_TRUE(names.insert(alias).second) << alias;
    EXPECT_FALSE(task.metrics.empty() || task.what.empty() || task.input.empty() || task.tensors.empty()) << task.name;
  }
}

TEST(TaskTable, ATaskIsFoundByAnyNameInAnyCase) {
  EXPECT_EQ(find_task("SST_2").name, "sst-2");
  EXPECT_EQ(find_task("STSB").name, "sts-b");
  EXPECT_EQ(find_task("conll2003").name, "ner");
  EXPECT_EQ(find_task("sick").name, "nli");
  EXPECT_EQ(look_up_task("nothing"), nullptr);
  EXPECT_ERROR(find_task("sst-3"), kUsage, "did you mean sst-2?");
}

TEST(TaskTable, TheHelpOfTheOptionNamesEveryTask) {
  for (const OptionRow* row : options_of("eval")) {
    if (row->name != "task") continue;
    std::string names;
    for (const TaskRow& task : task_table()) names += " " + std::string(task.name);
    EXPECT_TRUE(row->help.ends_with(":" + names)) << names;
    return;
  }
  FAIL() << "eval has no option --task";
}

TEST(TaskTable, EveryMetricOfEveryTaskCanBeComputed) {
  for (const TaskRow& task : task_table()) {
    const bool has_other_rows = !has_rows_of_fields(task) || predicts_pieces(task);
    if (has_other_rows) continue;  // each has a test of its own
    const bool is_score = task.target == TaskTarget::kScore;
    TaskRows rows(task, is_score ? TaskLabels(task) : TaskLabels(std::vector<std::string>{"a", "b"}));
    Example example;
    example.text = "t";
    example.group = "g";
    example.choices = {"x", "y"};
    example.label = task.target == TaskTarget::kScore || task.kind == TaskKind::kYesNo || task.kind == TaskKind::kChoice
                        ? "1"
                        : "a";
    example.answers = {"t"};
    example.relevance = {1, 0};
    rows.add(example);
    rows.add(example);
    ASSERT_FALSE(rows.golds()[0].error) << task.name << ": " << rows.golds()[0].error->what();
    TaskAnswer answer;
    answer.documents = {0.5, 2};
    if (is_score) answer.values = {0};
    const std::vector<std::optional<TaskAnswer>> answers(2, answer);
    std::vector<std::string> names;
    for (const Metric& metric : evaluate(*rows.evaluate(answers), {.samples = 2})) names.push_back(metric.name);
    EXPECT_EQ(names, split_words(task.metrics)) << task.name;
  }
}

// ---- labels

TEST(TaskLabels, AreFoundByAnyNameInAnyCase) {
  TaskLabels labels(find_task("sst-2"));
  EXPECT_EQ(labels.names(), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(labels.find("POSITIVE"), 1u);
  EXPECT_EQ(labels.find("1"), 1u);
  EXPECT_FALSE(labels.find("good"));
  EXPECT_ERROR(labels.label_of("good", "in:3"), kInput, "in:3: label: expected one of 0, 1, got \"good\"");
}

TEST(TaskLabels, NumbersAreNotUsedWhereTheirOrderIsNotAgreed) {
  EXPECT_FALSE(TaskLabels(find_task("rte")).find("0"));
  EXPECT_FALSE(TaskLabels(find_task("mnli")).find("0"));
  EXPECT_EQ(TaskLabels(find_task("wnli")).find("1"), 1u);
}

TEST(TaskLabels, ATaskWithoutLabelsTakesThoseThatItMeets) {
  TaskLabels labels(find_task("classification"));
  EXPECT_EQ(labels.label_of("spam", ""), 0u);
  EXPECT_EQ(labels.label_of("ham", ""), 1u);
  EXPECT_EQ(labels.label_of("SPAM", ""), 0u);
  TaskLabels closed(std::vector<std::string>{"spam"});
  EXPECT_ERROR(closed.label_of("ham", "in:1"), kInput, "expected one of spam, got \"ham\"");
}

std::vector<size_t> mapped(const char* task, const std::vector<std::string>& names,
                           const std::vector<std::string>& map = {}) {
  return map_classes(TaskLabels(find_task(task)), names, names.size(), map);
}

TEST(TaskLabels, ModelsAreReadByTheirNames) {
  EXPECT_EQ(mapped("mnli", {"ENTAILMENT", "Neutral", "contradiction"}), (std::vector<size_t>{2, 1, 0}));
  EXPECT_EQ(mapped("sst-2", {"negative", "positive"}), (std::vector<size_t>{0, 1}));
}

TEST(TaskLabels, MeaninglessNamesFollowTheTasksOrder) {
  EXPECT_EQ(mapped("sst-2", {"LABEL_0", "LABEL_1"}), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(mapped("qqp", {"0", "1"}), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(map_classes(TaskLabels(find_task("mrpc")), {}, 2, {}), (std::vector<size_t>{0, 1}));
}

// Published models have the classes of these in several orders.
TEST(TaskLabels, MeaninglessNamesOfEntailmentTasksAreRefused) {
  for (const char* task : {"mnli", "nli", "cb"})
    EXPECT_ERROR(mapped(task, {"LABEL_0", "LABEL_1", "LABEL_2"}), kTask, "with label_map");
  for (const char* task : {"rte", "qnli", "wnli"}) {
    EXPECT_ERROR(mapped(task, {"0", "1"}), kTask, "with label_map");
    EXPECT_ERROR(map_classes(TaskLabels(find_task(task)), {}, 2, {}), kTask, "with label_map");
  }
}

TEST(TaskLabels, AMapMayHaveClassesOfNoRole) {
  const std::vector<std::string> four{"a", "b", "c", "d"};
  EXPECT_EQ(mapped("mnli", four, {"entailment", "none", "neutral", "contradiction"}),
            (std::vector<size_t>{2, kNoTaskLabel, 1, 0}));
  EXPECT_ERROR(mapped("mnli", four, {"entailment", "other", "neutral", "contradiction"}), kTask, "got 4 classes");
  EXPECT_ERROR(mapped("sst-2", {"a", "b", "c"}, {"0", "none", "1"}), kTask, "got 3 classes");
  EXPECT_ERROR(mapped("mnli", {"none", "neutral", "entailment"}), kTask, "got 3 classes");
}

TEST(TaskLabels, AMapOverridesTheNames) {
  EXPECT_EQ(mapped("mnli", {"x", "y", "z"}, {"entailment", "neutral", "contradiction"}),
            (std::vector<size_t>{2, 1, 0}));
}

TEST(TaskLabels, AMismatchShowsBothLists) {
  EXPECT_ERROR(mapped("sst-2", {"good", "bad"}), kTask,
               "classes 0, 1, got 2 classes: good, bad; give the task's labels");
  EXPECT_ERROR(mapped("rte", {"contradiction", "neutral", "entailment"}), kTask,
               "classes not_entailment, entailment, got 3 classes: contradiction, neutral, entailment");
  EXPECT_ERROR(mapped("sst-2", {"positive", "1"}), kTask, "positive, 1");
  EXPECT_ERROR(mapped("sst-2", {"a", "b"}, {"positive"}), kTask,
               "give the task's labels in the model's order with label_map");
  EXPECT_ERROR(map_classes(TaskLabels(find_task("sst-2")), {}, 3, {}), kTask, "got 3 classes;");
}

// ---- rows

Example labelled(const std::string& label) {
  Example example;
  example.where = "in:1";
  example.text = "t";
  example.label = label;
  return example;
}

TEST(TaskRows, CellsWithoutALabelAreNotCounted) {
  TaskRows rows(find_task("mnli"), TaskLabels(find_task("mnli")));
  for (const char* label : {"-", "", "-1", "neutral"}) rows.add(labelled(label));
  rows.add(Example{});
  rows.add(labelled("maybe"));
  std::string shown;
  for (const TaskGold& gold : rows.golds()) shown += gold.error ? 'E' : gold.is_labelled ? 'L' : '-';
  EXPECT_EQ(shown, "---L-E");
  const std::vector<std::optional<TaskAnswer>> answers(6, TaskAnswer{});
  EXPECT_EQ(rows.evaluate(answers)->units(), 1u);
}

TEST(TaskRows, ALabelOfAnotherTaskStopsTheRunWithTheLabelsThere) {
  TaskRows right(find_task("sst-2"), TaskLabels(find_task("sst-2")));
  for (const char* label : {"0", "-1", "positive"}) right.add(labelled(label));
  EXPECT_FALSE(right.has_unknown_labels());
  EXPECT_NO_THROW(right.check_labels());

  TaskRows rows(find_task("sst-2"), TaskLabels(find_task("sst-2")));
  for (const char* label : {"1", "2", "1", "2", "x"}) rows.add(labelled(label));
  EXPECT_TRUE(rows.has_unknown_labels());
  EXPECT_ERROR(
      rows.check_labels(), kTask,
      "in:1: label: expected one of 0, 1, got \"2\"; the same holds for 3 of 5 rows, whose labels are 1 (2), 2 (2), "
      "x (1); is this a file of the task sst-2?");
  TaskRows own(find_task("classification"), TaskLabels(std::vector<std::string>{"ham", "spam"}));
  own.add(labelled("0"));
  EXPECT_ERROR(own.check_labels(), kTask,
               "give the file's names for the model's classes ham, spam, in this order, with label_map");
  TaskRows signs(find_task("classification"), TaskLabels(std::vector<std::string>{"-1", "1"}));
  signs.add(labelled("-1"));
  EXPECT_TRUE(signs.golds()[0].is_labelled);
}

TEST(TaskRows, ScoresAreFiniteNumbers) {
  TaskRows rows(find_task("sts-b"), TaskLabels(find_task("sts-b")));
  for (const char* label : {"4.5", "-1", "nan", "inf", "4.5x", ""}) rows.add(labelled(label));
  std::string shown;
  for (const TaskGold& gold : rows.golds()) shown += gold.error ? 'E' : gold.is_labelled ? 'L' : '-';
  EXPECT_EQ(shown, "L-EEE-");
  EXPECT_EQ(rows.golds()[0].answer.values, std::vector<double>{4.5});
  TaskRows own(find_task("regression"), TaskLabels(find_task("regression")));
  own.add(labelled("-1"));
  EXPECT_EQ(own.golds()[0].answer.values, std::vector<double>{-1});  // in sts-b it marks a row without a score
  EXPECT_EQ(rows.to_text(rows.parse(0, "0.1", "p")), "0.1");
  EXPECT_ERROR(rows.parse(0, "x", "p:2"), kInput, "p:2: expected a number, got \"x\"");
}

Example with_values(std::vector<NamedNumber> values) {
  Example example;
  example.where = "in:1";
  example.text = "t";
  example.values = std::move(values);
  return example;
}

TEST(TaskRows, SeveralScoresGoByTheirNames) {
  TaskRows rows(find_task("regression"), TaskLabels(std::vector<std::string>{"a", "b"}));
  rows.add(with_values({{"b", 2}, {"a", 1}}));
  rows.add(with_values({{"a", 3}, {"b", 8}}));
  EXPECT_EQ(rows.golds()[0].answer.values, (std::vector<double>{1, 2}));
  const TaskAnswer parsed = rows.parse(0, "2, 4.5", "p:1");
  EXPECT_EQ(rows.to_text(parsed), "2,4.5");
  EXPECT_ERROR(rows.parse(0, "2", "p:1"), kInput, "p:1: expected 2 numbers between commas, of a, b, got \"2\"");
  const std::vector<std::optional<TaskAnswer>> answers = {parsed, rows.parse(1, "3,8", "p:2")};
  const std::vector<Metric> metrics = evaluate(*rows.evaluate(answers), {.samples = 0});
  ASSERT_EQ(metrics.size(), 9u);
  EXPECT_EQ(metrics[2].name, "mse");
  EXPECT_DOUBLE_EQ(*metrics[2].value, (0.5 + 6.25 / 2) / 2) << "the mean over both";
  EXPECT_EQ(metrics[5].name, "mse_a");
  EXPECT_DOUBLE_EQ(*metrics[5].value, 0.5);
  EXPECT_EQ(metrics[6].name, "pearson_b");
  EXPECT_DOUBLE_EQ(*metrics[8].value, 6.25 / 2);
}

TEST(TaskRows, AMeanOverScoresIsNotDefinedWhereOneIsNot) {
  TaskRows rows(find_task("regression"), TaskLabels(std::vector<std::string>{"a", "b"}));
  for (const double value : {1.0, 2.0}) rows.add(with_values({{"a", value}, {"b", 5}}));
  const std::vector<std::optional<TaskAnswer>> answers = {rows.parse(0, "1,2", "p"), rows.parse(1, "2,1", "p")};
  const std::vector<Metric> metrics = evaluate(*rows.evaluate(answers), {.samples = 0});
  EXPECT_FALSE(metrics[0].value);
  EXPECT_EQ(metrics[0].note, "not defined: all values are the same");
  EXPECT_TRUE(metrics[2].value && metrics[3].value && !metrics[6].value);
}

// Cross-entropy with the shares; the class with the largest share is the right one.
TEST(TaskRows, SharesOfClassesHaveALossAndALargestClass) {
  TaskRows rows(find_task("classification"), TaskLabels(std::vector<std::string>{"x", "y", "z"}));
  rows.add(with_values({{"z", .75}, {"X", .25}}));
  EXPECT_EQ(rows.golds()[0].answer.label, 2u);
  TaskAnswer answer;
  answer.label = 2;
  answer.logits = {std::log(.5), std::log(.125), std::log(.375)};
  const std::vector<std::optional<TaskAnswer>> answers = {answer};
  const std::vector<Metric> metrics =
      evaluate(*rows.evaluate(answers, {}, {.metrics = {"accuracy", "log_loss"}}), {.samples = 0});
  EXPECT_EQ(metrics[0].value, 1);
  EXPECT_DOUBLE_EQ(*metrics[1].value, -.25 * std::log(.5) - .75 * std::log(.375));
  rows.add(with_values({{"other", 1}}));
  EXPECT_ERROR(rows.check_labels(), kTask, "label: expected one of x, y, z, got \"other\"");
}

TEST(TaskTable, SeveralFieldsOfALabelAreOfTasksOfOnesOwn) {
  EXPECT_NO_THROW(check_label_fields(find_task("regression"), {"a", "b"}));
  EXPECT_NO_THROW(check_label_fields(find_task("classification"), {"a", "b"}));
  EXPECT_NO_THROW(check_label_fields(find_task("sst-2"), {"a"}));
  for (const char* task : {"sst-2", "multi-label", "race"})
    EXPECT_ERROR(check_label_fields(find_task(task), {"a", "b"}), kUsage, "expected one name for the task");
  EXPECT_ERROR(check_label_fields(find_task("regression"), {"a", "b", "A"}), kUsage,
               "expected names that differ in more than capitals, got a and A");
  const ExampleRules rules = example_rules(find_task("classification"), {}, {"a", "b"});
  EXPECT_EQ(rules.value_fields, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(rules.has_shares && !rules.needs_label);
  EXPECT_FALSE(example_rules(find_task("regression"), {}, {"a", "b"}).has_shares);
}

TEST(TaskRows, ChoicesAreCountedAsThePublishedFilesCountThem) {
  const auto shown = [](const char* task, const char* text) {
    TaskRows rows(find_task(task), TaskLabels(find_task(task)));
    Example example;
    example.choices = {"a", "b"};
    example.label = "1";
    rows.add(example);
    const TaskAnswer answer = rows.parse(0, text, "p:2");
    return std::to_string(answer.label) + rows.to_text(answer);
  };
  EXPECT_EQ(shown("race", "B"), "1B");
  EXPECT_EQ(shown("race", "1"), "1B");
  EXPECT_EQ(shown("swag", "0"), "00");
  EXPECT_EQ(shown("alphanli", "2"), "12");
  EXPECT_EQ(shown("copa", "1"), "11");
  EXPECT_ERROR(shown("alphanli", "0"), kInput,
               "p:2: expected the number of one of 2 choices, counted from 1, got \"0\"");
  EXPECT_ERROR(shown("copa", "B"), kInput, "counted from 0, got \"B\"");
  EXPECT_ERROR(shown("race", "C"), kInput, "got \"C\"");
}

TEST(TaskRows, SetsOfClassesAreNamesWithCommas) {
  TaskRows rows(find_task("multi-label"), TaskLabels(find_task("multi-label")));
  rows.add(labelled("b,a,b"));
  rows.add(labelled(""));
  EXPECT_EQ(rows.golds()[0].answer.labels, (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(rows.golds()[1].is_labelled) << "no class holds";
  EXPECT_EQ(rows.to_text(rows.parse(0, "a", "p")), "a");
}

Example sliced(const std::string& label, const std::optional<std::string>& slice) {
  Example example = labelled(label);
  example.slice = slice;
  return example;
}

TEST(TaskRows, SlicesHoldTheRowsThatCount) {
  TaskRows rows(find_task("sst-2"), TaskLabels(find_task("sst-2")));
  rows.add(sliced("1", "b"));
  rows.add(sliced("", "b"));  // no label
  rows.add(sliced("0", "a"));
  rows.add(sliced("1", std::nullopt));
  rows.add(sliced("1", "c"));
  rows.add(sliced("0", "c"));
  rows.add(sliced("", "d"));
  const std::vector<std::optional<TaskAnswer>> answers(7, TaskAnswer{});
  const RowSlices slices = rows.slices(answers);
  EXPECT_EQ(slices.rows, 5u);
  EXPECT_EQ(slices.without, 1u);
  ASSERT_EQ(slices.slices.size(), 3u) << "no row of d counts";
  EXPECT_EQ(slices.slices[0].value, "c");
  EXPECT_EQ(slices.slices[0].rows, 2u);
  EXPECT_EQ(slices.slices[0].units, (std::vector<uint32_t>{3, 4}));
  EXPECT_EQ(slices.slices[1].value, "a");
  EXPECT_EQ(slices.slices[1].units, (std::vector<uint32_t>{1}));
  EXPECT_EQ(slices.slices[2].value, "b");
  EXPECT_EQ(slices.slices[2].units, (std::vector<uint32_t>{0}));
}

TEST(TaskRows, AQuestionIsOneUnitOfItsSlice) {
  TaskRows rows(find_task("multirc"), TaskLabels(find_task("multirc")));
  for (const char* group : {"p", "q", "q", "r"}) {
    Example example = sliced("1", group == std::string("p") ? "x" : "y");
    example.group = group;
    rows.add(example);
  }
  const std::vector<std::optional<TaskAnswer>> answers(4, TaskAnswer{});
  const RowSlices slices = rows.slices(answers);
  EXPECT_EQ(slices.slices.at(0).value, "y");
  EXPECT_EQ(slices.slices.at(0).rows, 3u);
  EXPECT_EQ(slices.slices.at(0).units, (std::vector<uint32_t>{1, 2}));
}

TEST(TaskRows, SlicesAreBounded) {
  TaskRows rows(find_task("sst-2"), TaskLabels(find_task("sst-2")));
  for (size_t i = 0; i < 2 * kMostSlices; ++i) rows.add(sliced("1", std::to_string(i % kMostSlices)));
  EXPECT_ERROR(rows.add(sliced("1", "more")), kInput,
               "in:1: expected at most 100 different values to group the metrics by, got one more: \"more\"");
}

TEST(TaskRows, TheLogLossIsThatOfTheTruth) {
  TaskRows rows(find_task("sst-2"), TaskLabels(find_task("sst-2")));
  rows.add(labelled("1"));
  rows.add(labelled("0"));
  std::vector<std::optional<TaskAnswer>> answers(2, TaskAnswer{});
  answers[0]->logits = {std::log(.25), std::log(.75)};
  answers[1]->logits = {std::log(.1), std::log(.9)};
  const auto loss = rows.evaluate(answers, {}, {.metrics = {"log_loss"}});
  EXPECT_DOUBLE_EQ(*evaluate(*loss, {.samples = 0})[0].value, -(std::log(.75) + std::log(.1)) / 2);

  TaskRows sets(find_task("multi-label"), TaskLabels(std::vector<std::string>{"a", "b"}));
  sets.add(labelled("b"));
  sets.add(labelled(""));
  answers[0]->logits = {1, -3};
  answers[1]->logits = {-2000, 2000};
  const double first = std::log(1 + std::exp(1.0)) + std::log(1 + std::exp(3.0)), second = 2000;
  const auto of_sets = sets.evaluate(answers, {}, {.metrics = {"log_loss"}});
  EXPECT_DOUBLE_EQ(*evaluate(*of_sets, {.samples = 0})[0].value, (first + second) / 2 / 2);
}

TEST(TaskRows, TheOrderOfScoresIsThatOfThePositiveClass) {
  TaskRows rows(find_task("sst-2"), TaskLabels(find_task("sst-2")));
  for (const char* label : {"1", "0", "0"}) rows.add(labelled(label));
  std::vector<std::optional<TaskAnswer>> answers(3, TaskAnswer{});
  answers[0]->scores = {.1f, .5f};
  answers[1]->scores = {.2f, .4f};
  answers[2]->scores = {.3f, .6f};
  const auto area = rows.evaluate(answers, {}, {.metrics = {"roc_auc"}});
  EXPECT_DOUBLE_EQ(*evaluate(*area, {.samples = 0})[0].value, .5);
}

TEST(TaskRows, ThresholdsAreThoseOfTheClass) {
  TaskRows rows(find_task("multi-label"), TaskLabels(std::vector<std::string>{"a", "b"}));
  for (const char* label : {"a", "b", ""}) rows.add(labelled(label));
  std::vector<std::optional<TaskAnswer>> answers(3, TaskAnswer{});
  answers[0]->scores = {.9f, .4f};
  answers[1]->scores = {.1f, .5f};
  answers[2]->scores = {.3f, .6f};
  const MetricPlan plan{.thresholds = {.precisions = {.5}}, .scored_labels = {1}};
  std::string shown;
  for (const Metric& metric : evaluate(*rows.evaluate(answers, {}, plan), {.samples = 0}))
    shown += metric.name + " " + std::to_string(metric.value.value_or(-1)) + "\n";
  EXPECT_NE(shown.find("threshold@precision=0.5/b 0.500000\nprecision@precision=0.5/b 0.500000\nrecall@"), shown.npos)
      << shown;
  EXPECT_EQ(shown.find("/a"), shown.npos);
}

// ---- what the model is shown

TEST(TaskInputs, WordsOfWicAndWscAreMarked) {
  Example wic;
  wic.text = "A caf\u00E9 .";
  wic.pair = "Caf\u00E9s";
  wic.text_spans = {{2, 6, 2, 7}};
  wic.pair_spans = {{0, 5, 0, 6}};
  const TaskInput marked = input_of(find_task("wic"), wic);
  EXPECT_EQ(marked.text, "A *caf\u00E9* .");
  EXPECT_EQ(marked.pair, "*Caf\u00E9s*");
  Example wsc;
  wsc.text = "he saw Ann";
  wsc.text_spans = {{7, 10, 7, 10}, {0, 2, 0, 2}};
  EXPECT_EQ(input_of(find_task("wsc"), wsc).text, "#he# saw *Ann*");
}

TEST(TaskInputs, TheObservationsOfAStoryAreOneText) {
  Example story;
  story.text = "One.";
  story.pair = "Two.";
  story.choices = {"a", "b"};
  const TaskInput input = input_of(find_task("alphanli"), story);
  EXPECT_EQ(input.text, "One. Two.");
  EXPECT_FALSE(input.pair);
  EXPECT_EQ(input.choices.size(), 2u);
}

// ---- averages

TEST(Benchmarks, ThePublishedAveragesFollowFromThePublishedScores) {
  const std::unordered_map<std::string, TaskResults> bert = {{"cola", {{"matthews_correlation", 60.5}}},
                                                             {"sst-2", {{"accuracy", 94.9}}},
                                                             {"mrpc", {{"f1", 89.3}, {"accuracy", 85.4}}},
                                                             {"sts-b", {{"pearson", 87.6}, {"spearmanr", 86.5}}},
                                                             {"qqp", {{"f1", 72.1}, {"accuracy", 89.3}}},
                                                             {"mnli", {{"accuracy", 86.7}}},
                                                             {"mnli-mm", {{"accuracy", 85.9}}},
                                                             {"qnli", {{"accuracy", 92.7}}},
                                                             {"rte", {{"accuracy", 70.1}}},
                                                             {"wnli", {{"accuracy", 65.1}}}};
  EXPECT_NEAR(*benchmark_scores(bert)[0].value, 80.5, 0.05);
  const std::unordered_map<std::string, TaskResults> v3_large = {{"cola", {{"matthews_correlation", 75.3}}},
                                                                 {"sst-2", {{"accuracy", 96.9}}},
                                                                 {"mrpc", {{"accuracy", 92.2}}},
                                                                 {"sts-b", {{"pearson", 93.0}}},
                                                                 {"qqp", {{"accuracy", 93.0}}},
                                                                 {"mnli", {{"accuracy", 91.8}}},
                                                                 {"mnli-mm", {{"accuracy", 91.9}}},
                                                                 {"qnli", {{"accuracy", 96.0}}},
                                                                 {"rte", {{"accuracy", 92.7}}}};
  const auto scores = benchmark_scores(v3_large);
  EXPECT_EQ(scores[1].name, "GLUE-8");
  EXPECT_NEAR(*scores[1].value, 91.37, 0.005);
  EXPECT_FALSE(scores[0].value);
  EXPECT_EQ(scores[0].missing, (std::vector<std::string>{"mrpc f1", "sts-b spearmanr", "qqp f1", "wnli"}));
  const std::unordered_map<std::string, TaskResults> super = {{"boolq", {{"accuracy", 77.4}}},
                                                              {"cb", {{"f1_macro", 75.7}, {"accuracy", 83.6}}},
                                                              {"copa", {{"accuracy", 70.6}}},
                                                              {"multirc", {{"f1", 70.0}, {"exact_match", 24.1}}},
                                                              {"record", {{"f1", 72.0}, {"exact_match", 71.3}}},
                                                              {"rte", {{"accuracy", 71.7}}},
                                                              {"wic", {{"accuracy", 69.6}}},
                                                              {"wsc", {{"accuracy", 64.4}}}};
  EXPECT_NEAR(*benchmark_scores(super)[2].value, 69.0, 0.05);
}

}  // namespace
}  // namespace deberta::task_table_test

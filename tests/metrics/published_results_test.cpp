// The table of published results: every figure is of a task and a metric that `eval` has, and says where it stands.
#include "metrics/published_results.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "config/published_sizes.h"
#include "metrics/benchmarks.h"
#include "metrics/task_table.h"

namespace deberta::published_results_test {
namespace {

double value_of(std::string_view model, std::string_view task, std::string_view metric) {
  for (const PublishedResult& result : published_results()) {
    if (result.model == model && result.task == task && result.metric == metric) return result.value;
  }
  return 0;
}

TEST(PublishedResults, AreOfTasksAndMetricsThatEvalHas) {
  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> seen;
  for (const PublishedResult& result : published_results()) {
    SCOPED_TRACE(std::string(result.model) + " " + std::string(result.task));
    const std::vector<std::string> metrics = split_words(find_task(result.task).metrics);
    EXPECT_NE(std::ranges::find(metrics, result.metric), metrics.end()) << result.metric;
    EXPECT_TRUE(result.value > 50 && result.value < 100) << result.value;
    EXPECT_FALSE(result.source.empty());
    EXPECT_TRUE(result.size.empty() || find_published_size(result.size) != nullptr) << result.size;
    EXPECT_TRUE(seen.emplace(result.model, result.task, result.metric).second) << "twice";
  }
}

TEST(PublishedResults, HoldWhatThePapersSay) {
  EXPECT_EQ(value_of("BERT large", "sst-2", "accuracy"), 93.2);
  EXPECT_EQ(value_of("RoBERTa large", "qnli", "accuracy"), 93.9);
  EXPECT_EQ(value_of("DeBERTa large", "qnli", "accuracy"), 95.3);
  EXPECT_EQ(value_of("DeBERTa large (paper)", "mnli", "accuracy"), 91.1);
  EXPECT_EQ(value_of("DeBERTa large", "mnli", "accuracy"), 91.3);
  EXPECT_EQ(value_of("DeBERTa large", "mnli-mm", "accuracy"), 91.1);
  EXPECT_EQ(value_of("DeBERTa v3-large", "sst-2", "accuracy"), 96.9);
  EXPECT_EQ(value_of("DeBERTa v3-large", "squad2", "f1"), 91.5);
  EXPECT_EQ(value_of("DeBERTa v3-large", "squad2", "exact"), 89.0);
  EXPECT_EQ(value_of("-P2C", "squad2", "f1"), 80.8);
  for (const PublishedResult& result : published_results())
    EXPECT_EQ(result.is_ablation, result.source.ends_with("Table 4")) << result.model;
}

TEST(TaskRecipes, AreOfPublishedSizes) {
  for (const SizedRecipe& recipe : sized_recipes({}))
    EXPECT_NE(find_published_size(recipe.size), nullptr) << recipe.size;
}

// The average that its paper gives, from the figures of its tasks.
TEST(PublishedResults, OfVersion3sLargeModelHaveItsAverage) {
  std::unordered_map<std::string, TaskResults> results;
  for (const PublishedResult& result : published_results()) {
    if (result.model == "DeBERTa v3-large") results[std::string(result.task)].emplace(result.metric, result.value);
  }
  const auto scores = benchmark_scores(results);
  const auto glue = std::ranges::find(scores, "GLUE-8", &BenchmarkScore::name);
  ASSERT_NE(glue, scores.end());
  ASSERT_TRUE(glue->value.has_value());
  EXPECT_NEAR(*glue->value, 91.37, 0.01);
}

}  // namespace
}  // namespace deberta::published_results_test

// What Triton's clients are told of a model: each figure is one that was counted.
#include "serve/metrics.h"

#include <gtest/gtest.h>

namespace deberta::serve::metrics_test {
namespace {

RequestFacts answered() {
  RequestFacts facts{.route = "/predict", .model = "a", .failure = {}};
  facts.items = 3;
  facts.total_s = 1;
  facts.tokenization_s = 0.125;
  facts.queue_s = 0.25;
  facts.inference_s = 0.5;
  facts.output_s = 0.0625;
  facts.has_run = true;
  facts.is_inference = true;
  return facts;
}

TEST(Statistics, AreOfRequestsThatRanOrFailed) {
  Metrics metrics;
  EXPECT_EQ(metrics.statistics("a").last_ms, 0);
  metrics.count(answered());
  RequestFacts refused = answered();
  refused.failure = "validation";
  metrics.count(refused);
  RequestFacts tokens_alone = answered();
  tokens_alone.has_run = false;
  metrics.count(tokens_alone);
  RequestFacts explained = answered();
  explained.is_inference = false;
  metrics.count(explained);
  const ModelStatistics found = metrics.statistics("a");
  EXPECT_GT(found.last_ms, 0);
  EXPECT_EQ(found.items, 3u);
  EXPECT_EQ(found.answered.count, 1u);
  EXPECT_EQ(found.answered.nanoseconds, 1000000000u);
  EXPECT_EQ(found.failed.count, 1u);
  EXPECT_EQ(found.read.nanoseconds, 125000000u);
  EXPECT_EQ(found.queued.nanoseconds, 250000000u);
  EXPECT_EQ(found.computed.nanoseconds, 500000000u);
  EXPECT_EQ(found.made.nanoseconds, 62500000u);
  EXPECT_EQ(metrics.statistics("b").answered.count, 0u);
}

TEST(Statistics, HaveTheBatchesByTheirSequences) {
  Metrics metrics;
  metrics.count_batch("a", 4, 100, 0.5, 0.25);
  metrics.count_batch("a", 4, 90, 0.5, 0.5);
  metrics.count_batch("a", 1, 10, 0.5, 0.125);
  const ModelStatistics found = metrics.statistics("a");
  EXPECT_EQ(found.batches, 3u);
  ASSERT_EQ(found.by_sequences.size(), 2u);
  EXPECT_EQ(found.by_sequences.at(4).count, 2u);
  EXPECT_EQ(found.by_sequences.at(4).nanoseconds, 750000000u);
  EXPECT_EQ(found.by_sequences.at(1).count, 1u);
}

TEST(MetricsText, CountsEachKindOfRequestApart) {
  Metrics metrics;
  RequestFacts refused{.route = "/predict", .model = "a", .is_batch = true, .status = 422, .failure = "validation"};
  RequestFacts other_model = answered();
  other_model.model = "b";
  for (const RequestFacts& facts : {answered(), answered(), refused, other_model}) metrics.count(facts);
  const std::string text = metrics.text({});
  for (const std::string line :
       {R"(deberta_request_total{model="a",route="/predict",method="single",status="200"} 2)",
        R"(deberta_request_total{model="a",route="/predict",method="batch",status="422"} 1)",
        R"(deberta_request_total{model="b",route="/predict",method="single",status="200"} 1)",
        R"(deberta_request_success_total{model="a",route="/predict",method="single"} 2)",
        R"(deberta_request_success_total{model="a",route="/predict",method="batch"} 0)",
        R"(deberta_request_failure_total{model="a",route="/predict",method="batch",reason="validation"} 1)",
        R"(deberta_items_total{model="a",route="/predict",method="single"} 6)",
        R"(deberta_overhead_duration_seconds_count{model="a",route="/predict",method="single"} 2)",
        R"(deberta_request_duration_seconds_sum{model="b",route="/predict",method="single"} 1)"})
    EXPECT_NE(text.find("\n" + line + "\n"), std::string::npos) << line << "\n" << text;
  EXPECT_EQ(text.find(R"(overhead_duration_seconds_count{model="a",route="/predict",method="batch"})"),
            std::string::npos)
      << "none of them has run";
}

}  // namespace
}  // namespace deberta::serve::metrics_test

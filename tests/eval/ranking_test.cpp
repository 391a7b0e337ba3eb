// Queries with documents against predictions and against a model.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "eval/eval_case.h"
#include "eval/examples.h"
#include "support/expect_error.h"

namespace deberta::ranking_test {
namespace {

constexpr const char* kQueries =
    "{\"query\": \"it rained\", \"documents\": [\"a\", \"it rained and rained\", \"dry\"], \"labels\": [0, 1, 0]}\n"
    "{\"query\": \"cat\", \"positive\": \"a cat sat\", \"negative\": \"a dog\"}\n";

class Ranking : public test::EvalCase {
 protected:
  ExampleSettings settings(const std::string& predictions = "") {
    ExampleSettings settings{.input = {.files = {write("dev.jsonl", kQueries)}}};
    if (!predictions.empty()) settings.predictions = write("answers.tsv", "index\tprediction\n" + predictions);
    return settings;
  }
  const TaskRow& task_ = find_task("ranking");
};

TEST_F(Ranking, PredictionsAreTheScoresOfAQuerysDocuments) {
  const AnsweredRows rows = answer_examples(task_, settings("0\t0.5,0.25,-1\n1\t3, 2\n"), {}, hooks());
  EXPECT_EQ(written(rows), "index\tprediction\n0\t0.5,0.25,-1\n1\t3,2\n");
  const EvalResult result = score(rows, {.samples = 0}, hooks());
  EXPECT_EQ(value(result, "mrr@10"), 0.75);
  EXPECT_EQ(value(result, "map"), 0.75);
  EXPECT_ERROR(answer_examples(task_, settings("0\t0.5,0.25\n1\t3,2\n"), {}), kInput,
               "answers.tsv:2: expected 3 scores between commas, one for each document, got 2");
  EXPECT_ERROR(answer_examples(task_, settings("0\t0.5,x,1\n1\t3,2\n"), {}), kInput, "expected a number, got \"x\"");
}

TEST_F(Ranking, AModelsScoresAreThoseOfRerankByTheOrderOfTheFile) {
  const OpenModel open = model(Head::kSequence, {"LABEL_0"});
  const AnsweredRows rows = answer_examples(task_, settings(), open, hooks());
  const std::vector<std::string> of_rain = {"a", "it rained and rained", "dry"}, of_cat = {"a cat sat", "a dog"};
  const std::vector<TextInput> inputs = {{.text = "it rained", .items = of_rain}, {.text = "cat", .items = of_cat}};
  const std::vector<RankAnswer> expected = rerank(*pipeline_, inputs);
  std::vector<std::vector<double>> logits;
  for (const RankAnswer& answer : expected) {
    logits.emplace_back(answer.documents.size());
    for (const RankedDocument& document : answer.documents) logits.back()[document.index] = double{document.logit};
  }
  const std::string text = written(rows);
  size_t at = text.find('\n');
  for (const std::vector<double>& query : logits) {
    at = text.find('\t', at);
    for (const double logit : query) {
      EXPECT_NEAR(std::stod(text.substr(at + 1)), logit, 1e-5);
      at = text.find_first_of(",\n", at + 1);
    }
  }
}

TEST_F(Ranking, WantsAHeadWithOneScore) {
  EXPECT_ERROR(answer_examples(task_, settings(), model(Head::kSequence, {"a", "b"})), kTask,
               "expected a head with one class, got 2");
}

// Rows of one query are in one part.
TEST_F(Ranking, AQueryIsHeldOutAsAWhole) {
  std::string text;
  for (int n = 0; n < 40; ++n)
    text +=
        "{\"query\": \"q" + std::to_string(n % 4) + "\", \"pos\": [\"a\"], \"neg\": [\"" + std::to_string(n) + "\"]}\n";
  const ExampleInput input{.files = {write("train.jsonl", text)}, .part = RowPart{.share = 0.5, .is_held_out = true}};
  std::map<std::string, size_t> rows;
  ExampleFiles files(input, task_, [] { return false; });
  for (Example example; files.next(example);) ++rows[example.text];
  ASSERT_EQ(rows.size(), 2u);
  for (const auto& [query, count] : rows) EXPECT_EQ(count, 10u) << query;
}

}  // namespace
}  // namespace deberta::ranking_test

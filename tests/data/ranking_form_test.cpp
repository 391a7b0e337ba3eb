// Queries with documents: the forms that files of them have, and what is wrong with them.
#include <gtest/gtest.h>

#include "data/examples.h"
#include "support/expect_error.h"

namespace deberta::ranking_form_test {
namespace {

using Texts = std::vector<std::string>;
using Numbers = std::vector<double>;

std::vector<Example> read_queries(const std::string& text, const std::string& name = "in.jsonl") {
  ExampleRules rules{ExampleForm::kRanking, {}, {}};
  rules.fields = {{{"query", "question"}}, {{"documents", "document"}}, {{"labels", "label"}}, {}, {"id"}};
  ExampleReader reader(ByteSource(to_bytes(text), name), rules);
  std::vector<Example> queries;
  for (Example query; reader.next(query);) queries.push_back(query);
  return queries;
}

Example read_query(const std::string& row) {
  const std::vector<Example> queries = read_queries(row + "\n");
  EXPECT_EQ(queries.size(), 1u);
  EXPECT_FALSE(queries.at(0).error) << queries.at(0).error->what();
  return queries.at(0);
}

std::string refusal_of(const std::string& row) {
  const std::vector<Example> queries = read_queries(row + "\n");
  return queries.front().error ? queries.front().error->what() : "no error";
}

TEST(RankingForm, AListOfDocumentsWithLabelsAndScores) {
  const Example query = read_query(
      R"({"id": 7, "query": "q", "documents": ["a", {"text": "b"}], "labels": [0, 2], "scores": [-1.5, 3]})");
  EXPECT_EQ(query.text, "q");
  EXPECT_EQ(query.id, "7");
  EXPECT_EQ(query.choices, (Texts{"a", "b"}));
  EXPECT_EQ(query.relevance, (Numbers{0, 2}));
  EXPECT_EQ(query.teacher_scores, (Numbers{-1.5, 3}));
  EXPECT_TRUE(read_query(R"({"query": "q", "documents": ["a", "b"]})").relevance.empty());
  EXPECT_TRUE(read_query(R"({"query": "q", "documents": ["a", "b"], "labels": null})").relevance.empty());
}

TEST(RankingForm, PositiveAndNegativeDocuments) {
  const Example lists =
      read_query(R"({"query": "q", "pos": ["a", "b"], "neg": ["c"], "pos_scores": [3, 2], "neg_scores": [-1]})");
  EXPECT_EQ(lists.choices, (Texts{"a", "b", "c"}));
  EXPECT_EQ(lists.relevance, (Numbers{1, 1, 0}));
  EXPECT_EQ(lists.teacher_scores, (Numbers{3, 2, -1}));
  const Example texts = read_query(R"({"question": "q", "positive": "a", "negatives": ["b", "c"], "score": "none"})");
  EXPECT_EQ(texts.choices, (Texts{"a", "b", "c"}));
  EXPECT_TRUE(texts.teacher_scores.empty());  // a score is a margin beside one negative document alone
  EXPECT_EQ(read_query(R"({"query": "q", "pos": ["a"]})").relevance, (Numbers{1}));
}

TEST(RankingForm, AMarginIsHowFarTheRightDocumentIsAboveTheOther) {
  for (const char* name : {"margin", "score"}) {
    const Example triple =
        read_query(std::string(R"({"query": "q", "positive": "a", "negative": "b", ")") + name + R"(": -0.5})");
    EXPECT_EQ(triple.relevance, (Numbers{1, 0}));
    EXPECT_EQ(triple.teacher_scores, (Numbers{-0.5, 0}));
  }
  const std::vector<Example> table = read_queries("query,positive,negative,margin\nq,a,b,2\nr,c,d,\n", "in.csv");
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[0].teacher_scores, (Numbers{2, 0}));
  EXPECT_TRUE(table[1].teacher_scores.empty());
}

TEST(RankingForm, RowsOfOneDocumentEachAreOneQueryWhileTheyFollowEachOther) {
  const std::vector<Example> queries =
      read_queries("query,document,label,score\nq,a,1,.5\nq,b,0,-2\nr,c,0.25,1\nq2,d,,\n", "in.csv");
  ASSERT_EQ(queries.size(), 3u);
  EXPECT_EQ(queries[0].choices, (Texts{"a", "b"}));
  EXPECT_EQ(queries[0].relevance, (Numbers{1, 0}));
  EXPECT_EQ(queries[0].teacher_scores, (Numbers{0.5, -2}));
  EXPECT_EQ(queries[0].where, "in.csv:2");
  EXPECT_EQ(queries[0].row, 1u);
  EXPECT_EQ(queries[1].choices, (Texts{"c"}));
  EXPECT_EQ(queries[1].row, 3u);
  EXPECT_TRUE(queries[2].relevance.empty());
}

TEST(RankingForm, ABadRowBetweenThoseOfAQueryComesAfterItsOthers) {
  const std::vector<Example> queries = read_queries("query,document,label\nq,a,1\nq,b,nan\nq,c,0\nr,d,1\n", "in.csv");
  ASSERT_EQ(queries.size(), 3u);
  EXPECT_EQ(queries[0].choices, (Texts{"a", "c"}));
  ASSERT_TRUE(queries[1].error);
  EXPECT_STREQ(queries[1].error->what(), "in.csv:3: label: expected a number, got \"nan\" (string)");
  EXPECT_EQ(queries[2].text, "r");
}

TEST(RankingForm, RowsOfAQueryThatAreNotTogetherAreRefused) {
  const std::vector<Example> queries = read_queries("query,document,label\nq,a,1\nr,b,0\nq,c,0\n", "in.csv");
  ASSERT_EQ(queries.size(), 3u);
  EXPECT_FALSE(queries[0].error);
  EXPECT_EQ(queries[2].error->code(), ErrorCode::kInput);
  EXPECT_NE(std::string(queries[2].error->what()).find("in.csv:4: expected the rows of a query together"),
            std::string::npos);
}

TEST(RankingForm, SaysWhatIsWrong) {
  EXPECT_EQ(refusal_of(R"({"query": "q", "documents": []})"), "in.jsonl:1: documents: expected at least one, got none");
  EXPECT_EQ(refusal_of(R"({"query": "q", "documents": ["a"], "labels": [1, 2]})"),
            "in.jsonl:1: labels: expected 1 numbers, one for each document, got 2");
  EXPECT_EQ(refusal_of(R"({"query": "q", "documents": ["a"], "labels": [-1]})"),
            "in.jsonl:1: label: expected a number of at least 0, got -1");
  EXPECT_EQ(refusal_of(R"({"query": "q", "documents": ["a"], "labels": ["inf"]})"),
            "in.jsonl:1: labels: expected a number, got \"inf\" (string)");
  EXPECT_EQ(refusal_of(R"({"query": "q", "documents": ["a", "b"], "scores": [1]})"),
            "in.jsonl:1: scores: expected 2 numbers, one for each document, got 1");
  EXPECT_EQ(refusal_of(R"({"query": " ", "document": "a"})"), "in.jsonl:1: query: expected a text, got an empty one");
  EXPECT_EQ(refusal_of(R"({"query": "q", "documents": [3]})"),
            "in.jsonl:1: documents: expected a string, got 3 (integer)");
  EXPECT_EQ(refusal_of(R"({"query": "q", "neg": ["a"]})"),
            "in.jsonl:1: expected a field named documents or document or positive or positives or pos, got query, neg");
  EXPECT_EQ(refusal_of(R"({"query": "q", "pos": ["a"], "neg": ["b", "c"], "margin": 1})"),
            "in.jsonl:1: margin: expected one positive and one negative document, got 1 and 2");
  EXPECT_EQ(refusal_of(R"({"query": "q", "pos": ["a"], "neg": ["b"], "pos_scores": [1]})"),
            "in.jsonl:1: expected a score of each document of the query or of none, got 1 of 2");
  EXPECT_EQ(read_queries("query,document,label\nq,a,1\nq,b,\n", "in.csv")[0].error->message(),
            "expected a label of each document of the query or of none, got 1 of 2");
  std::string many;
  for (int n = 0; n < 1001; ++n) many += (n > 0 ? ",\"" : "\"") + std::to_string(n) + "\"";
  EXPECT_EQ(refusal_of(R"({"query": "q", "documents": [)" + many + "]}"),
            "in.jsonl:1: documents: expected at most 1000 of a query, got more");
}

}  // namespace
}  // namespace deberta::ranking_form_test

// Losses of rerankers as plain loops over pairs and lists; their gradients against finite differences.
#include "train/objectives/ranking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/expect_error.h"
#include "support/torch_numbers.h"
#include "train/objectives/task_case.h"

namespace deberta::train::ranking_test {
namespace {

using namespace test;

constexpr RankingLoss kLosses[] = {RankingLoss::kPointwise, RankingLoss::kPairwise, RankingLoss::kListwise,
                                   RankingLoss::kMarginMse};

// A query with one relevant document, one with two of three grades, one of which nothing is relevant.
struct Queries {
  std::vector<int32_t> starts = {0, 3, 7, 9};
  std::vector<float> relevance_N = {0, 1, 0, 0.5f, 0, 1, 0.5f, 0, 0};
  std::vector<float> teacher_N = {-1, 2, 0.5f, 1, -3, 0.25f, 1, 4, 5};
  std::vector<double> scores_N = {0.3, -0.2, 1.1, 2, -1, 0.5, 0.5, 3, -3};

  QueryDocuments documents() const { return {starts, relevance_N, teacher_N}; }
  at::Tensor scores() const {
    at::Tensor scores = at::empty({static_cast<int64_t>(scores_N.size()), 1}, at::kDouble);
    std::copy(scores_N.begin(), scores_N.end(), scores.data_ptr<double>());
    return scores.requires_grad_(true);
  }
};

struct Plain {
  double sum = 0;
  int64_t count = 0, correct = 0;
};

Plain pointwise(const Queries& q) {
  Plain plain;
  for (size_t n = 0; n < q.scores_N.size(); ++n, ++plain.count) {
    const double p = 1 / (1 + std::exp(-q.scores_N[n])), y = double{q.relevance_N[n]};
    plain.sum -= y * std::log(p) + (1 - y) * std::log(1 - p);
    plain.correct += (q.scores_N[n] >= 0) == (y >= 0.5);
  }
  return plain;
}

// -log sigmoid(s_i - s_j), or the squared distance from the teacher's margin.
Plain of_pairs(const Queries& q, bool is_margin) {
  Plain plain;
  for (size_t query = 0; query + 1 < q.starts.size(); ++query) {
    for (auto i = static_cast<size_t>(q.starts[query]); i < static_cast<size_t>(q.starts[query + 1]); ++i) {
      for (auto j = static_cast<size_t>(q.starts[query]); j < static_cast<size_t>(q.starts[query + 1]); ++j) {
        if (q.relevance_N[i] <= q.relevance_N[j]) continue;
        const double apart = q.scores_N[i] - q.scores_N[j], margin = double{q.teacher_N[i]} - double{q.teacher_N[j]};
        plain.sum += is_margin ? std::pow(apart - margin, 2) : -std::log(1 / (1 + std::exp(-apart)));
        plain.correct += is_margin ? apart * margin > 0 : apart > 0;
        ++plain.count;
      }
    }
  }
  return plain;
}

Plain listwise(const Queries& q) {
  Plain plain;
  for (size_t query = 0; query + 1 < q.starts.size(); ++query) {
    const auto begin = static_cast<size_t>(q.starts[query]), end = static_cast<size_t>(q.starts[query + 1]);
    double labels = 0, exponentials = 0;
    size_t best = begin, most = begin;
    for (size_t n = begin; n < end; ++n) {
      labels += double{q.relevance_N[n]};
      exponentials += std::exp(q.scores_N[n]);
      if (q.scores_N[n] > q.scores_N[best]) best = n;
      if (q.relevance_N[n] > q.relevance_N[most]) most = n;
    }
    if (labels == 0) continue;
    ++plain.count;
    plain.correct += q.relevance_N[best] == q.relevance_N[most];
    for (size_t n = begin; n < end; ++n)
      plain.sum -= double{q.relevance_N[n]} / labels * (q.scores_N[n] - std::log(exponentials));
  }
  return plain;
}

Plain plain_loss(const Queries& q, RankingLoss loss) {
  if (loss == RankingLoss::kPointwise) return pointwise(q);
  return loss == RankingLoss::kListwise ? listwise(q) : of_pairs(q, loss == RankingLoss::kMarginMse);
}

TEST(RankingLoss, IsThatOfPlainLoops) {
  const Queries queries;
  for (const RankingLoss kind : kLosses) {
    const Plain expected = plain_loss(queries, kind);
    const Loss loss = ranking_loss(queries.scores(), queries.documents(), kind);
    EXPECT_NEAR(loss.sum.item<double>(), expected.sum, 1e-12) << static_cast<int>(kind);
    EXPECT_EQ(loss.count, expected.count) << static_cast<int>(kind);
    EXPECT_EQ(loss.correct, expected.correct) << static_cast<int>(kind);
  }
}

TEST(RankingLoss, HasItsFiniteDifferencesAsGradients) {
  const Queries queries;
  for (const RankingLoss kind : kLosses) {
    const at::Tensor scores = queries.scores();
    EXPECT_LE(worst_gradient_error({scores}, [&] { return ranking_loss(scores, queries.documents(), kind).sum; }), 1e-7)
        << static_cast<int>(kind);
  }
}

// With one relevant document the cross-entropy over the list is that of a choice.
TEST(RankingLoss, OfAListWithOneRelevantDocumentIsInfoNce) {
  const Queries query{.starts = {0, 3}, .relevance_N = {0, 1, 0}, .teacher_N = {}, .scores_N = {0.3, -0.2, 1.1}};
  const Loss loss = ranking_loss(query.scores(), query.documents(), RankingLoss::kListwise);
  EXPECT_NEAR(loss.sum.item<double>(), std::log(std::exp(0.3) + std::exp(-0.2) + std::exp(1.1)) + 0.2, 1e-12);
}

TEST(RankingLoss, StaysFiniteHoweverFarScoresAreApart) {
  const Queries far{.starts = {0, 2}, .relevance_N = {1, 0}, .teacher_N = {}, .scores_N = {-9000, 9000}};
  EXPECT_DOUBLE_EQ(ranking_loss(far.scores(), far.documents(), RankingLoss::kPairwise).sum.item<double>(), 18000);
  EXPECT_DOUBLE_EQ(ranking_loss(far.scores(), far.documents(), RankingLoss::kListwise).sum.item<double>(), 18000);
}

TEST(RankingLoss, WithoutAnOrderThereIsNothingToCount) {
  const Queries none{.starts = {0, 2}, .relevance_N = {0, 0}, .teacher_N = {1, 2}, .scores_N = {1, 2}};
  for (const RankingLoss kind : {RankingLoss::kPairwise, RankingLoss::kListwise, RankingLoss::kMarginMse}) {
    const Loss loss = ranking_loss(none.scores(), none.documents(), kind);
    EXPECT_EQ(loss.count, 0);
    EXPECT_EQ(loss.sum.item<double>(), 0);
  }
}

TEST(RankingLoss, OfMarginsNeedsATeachersScores) {
  const Queries without{.teacher_N = {}};
  EXPECT_ERROR(ranking_loss(without.scores(), without.documents(), RankingLoss::kMarginMse), kInput,
               "scores of a teacher: expected one for each document");
}

// ---- through a model

const TaskCase kCase{"ranking", TaskLoss::kRanking, Head::kSequence, 1};

TaskBatch make_queries(const std::vector<uint32_t>& documents) {
  TaskBatch batch;
  batch.questions = {0};
  uint32_t number = 0;
  for (const uint32_t count : documents) {
    for (uint32_t d = 0; d < count; ++d, ++number) {
      add_sequence(batch, number);
      batch.values_BC.push_back(d == 1 ? 1.0f : 0.0f);
      batch.teacher_B.push_back(0.5f * static_cast<float>(number % 3));
    }
    batch.questions.push_back(static_cast<int32_t>(batch.input.sequences()));
  }
  return batch;
}

TEST(RankingLoss, ThroughAModelHasItsFiniteDifferencesAsGradients) {
  for (const RankingLoss kind : kLosses) {
    Model model = make_tiny(form_of(kCase), at::kDouble);
    const TaskBatch batch = make_queries({3, 2});
    std::vector<at::Tensor> tensors;
    for (const NamedParameter& parameter : trained_parameters(model)) tensors.push_back(parameter.tensor);
    const auto loss = [&] {
      return task_loss(model, test_compute(), batch, {.loss = TaskLoss::kRanking, .ranking = kind}, {}).sum;
    };
    EXPECT_LE(worst_gradient_error(tensors, loss, 2), 2e-8) << static_cast<int>(kind);
  }
}

TEST(RankingLoss, RefusesABatchThatDoesNotFit) {
  const Model model = make_tiny(form_of(kCase));
  const auto check = [&](const auto& change) {
    TaskBatch batch = make_queries({3, 2});
    change(batch);
    task_loss(model, test_compute(), batch, {.loss = TaskLoss::kRanking}, {});
  };
  EXPECT_ERROR(check([](TaskBatch& b) { b.questions.pop_back(); }), kInput,
               "starts of each query: expected numbers from 0 to 5");
  EXPECT_ERROR(check([](TaskBatch& b) { b.values_BC.pop_back(); }), kInput,
               "values: expected 5, one for each document, got 4");
  EXPECT_ERROR(check([](TaskBatch& b) { b.values_BC[2] = -1; }), kInput, "document 2: value: expected a number");
  EXPECT_ERROR(check([](TaskBatch& b) { b.teacher_B.pop_back(); }), kInput,
               "scores of a teacher: expected 5, one for each document, got 4");
  EXPECT_ERROR(check([](TaskBatch& b) { b.teacher_B[1] = NAN; }), kInput, "document 1: value: expected a number");
  EXPECT_ERROR(
      task_loss(model, test_compute(), make_queries({2}), {.loss = TaskLoss::kRanking, .label_smoothing = 0.1}, {}),
      kUsage, "label smoothing: expected 0");
}

}  // namespace
}  // namespace deberta::train::ranking_test

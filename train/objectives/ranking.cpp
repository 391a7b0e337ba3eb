// Lists the document pairs of all queries, then computes each loss over pairs, documents or groups.
#include "train/objectives/ranking.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "deberta/error.h"
#include "train/objectives/groups.h"
#include "train/objectives/task_losses.h"

namespace deberta::train {
namespace {

// Documents of one query, the first more relevant than the second.
struct DocumentPairs {
  std::vector<int64_t> above_P = {}, below_P = {};
};

DocumentPairs pairs_of(const QueryDocuments& documents) {
  DocumentPairs pairs;
  for (size_t q = 0; q + 1 < documents.starts.size(); ++q) {
    for (int32_t i = documents.starts[q]; i < documents.starts[q + 1]; ++i) {
      for (int32_t j = documents.starts[q]; j < documents.starts[q + 1]; ++j) {
        if (!(documents.relevance_N[static_cast<size_t>(i)] > documents.relevance_N[static_cast<size_t>(j)])) continue;
        pairs.above_P.push_back(i);
        pairs.below_P.push_back(j);
      }
    }
  }
  return pairs;
}

// How far the score of the first of each pair is above that of the second.
at::Tensor differences(const at::Tensor& scores_N1, const DocumentPairs& pairs) {
  const auto take = [&](const std::vector<int64_t>& rows_P) {
    return scores_N1.index_select(0, at::tensor(rows_P, at::kLong).to(scores_N1.device()));
  };
  return take(pairs.above_P) - take(pairs.below_P);
}

Loss pairwise_loss(const at::Tensor& scores_N1, const QueryDocuments& documents) {
  const DocumentPairs pairs = pairs_of(documents);
  const at::Tensor apart_P1 = differences(scores_N1, pairs);
  return {at::softplus(-apart_P1).sum(), std::ssize(pairs.above_P), apart_P1.gt(0).sum().item<int64_t>()};
}

Loss margin_loss(const at::Tensor& scores_N1, const QueryDocuments& documents) {
  if (documents.teacher_N.size() != documents.relevance_N.size())
    throw Error(ErrorCode::kInput, "batch", "scores of a teacher: expected one for each document");
  const DocumentPairs pairs = pairs_of(documents);
  const std::vector<double> teacher_N(documents.teacher_N.begin(), documents.teacher_N.end());
  const at::Tensor apart_P1 = differences(scores_N1, pairs);
  const at::Tensor margins_P1 =
      differences(at::tensor(teacher_N, at::kDouble).unsqueeze(1).to(scores_N1.device()), pairs);
  return {(apart_P1 - margins_P1).square().sum(), std::ssize(pairs.above_P),
          (apart_P1 * margins_P1).gt(0).sum().item<int64_t>()};
}

Loss listwise_loss(const at::Tensor& scores_N1, const QueryDocuments& documents) {
  const at::Tensor values_N1 = scores_N1.detach().cpu().contiguous();
  const double* scores = values_N1.const_data_ptr<double>();
  std::vector<double> targets_N(documents.relevance_N.begin(), documents.relevance_N.end());
  Loss loss;
  for (size_t q = 0; q + 1 < documents.starts.size(); ++q) {
    const auto begin = targets_N.begin() + documents.starts[q], end = targets_N.begin() + documents.starts[q + 1];
    const double sum = std::accumulate(begin, end, 0.0), most = *std::max_element(begin, end);
    if (sum <= 0) continue;
    const auto* first = scores + documents.starts[q];
    const auto highest = std::max_element(first, scores + documents.starts[q + 1]) - first;
    ++loss.count;
    loss.correct += *(begin + highest) == most;
    std::for_each(begin, end, [&](double& target) { target /= sum; });
  }
  const at::Tensor targets_N1 = at::tensor(targets_N, at::kDouble).unsqueeze(1).to(scores_N1.device());
  loss.sum = -(log_softmax_groups(scores_N1, documents.starts) * targets_N1).sum();
  return loss;
}

}  // namespace

Loss ranking_loss(const at::Tensor& scores_N1, const QueryDocuments& documents, RankingLoss loss) {
  const at::Tensor wide_N1 = scores_N1.to(at::kDouble);
  switch (loss) {
    case RankingLoss::kPointwise:
      return binary_loss(wide_N1, documents.relevance_N);
    case RankingLoss::kPairwise:
      return pairwise_loss(wide_N1, documents);
    case RankingLoss::kListwise:
      return listwise_loss(wide_N1, documents);
    case RankingLoss::kMarginMse:
      return margin_loss(wide_N1, documents);
  }
  return {};
}

}  // namespace deberta::train

// Losses of rerankers, on the scores s of the documents of queries with their relevance y.
//   pointwise   softplus(s) - y s: the binary cross-entropy of each document, y in 0 to 1.
//               Counted: documents
//   pairwise    log(1 + exp(s_j - s_i)), RankNet (Burges et al. 2005), for each pair of a query with y_i > y_j.
//               Counted: pairs
//   listwise    cross-entropy of softmax(s) over a query's documents with y / sum of y, ListNet (Cao et al. 2007); with
//               one relevant document it is InfoNCE. Counted: queries with a relevant document
//   margin mse  ((s_i - s_j) - (t_i - t_j))^2, t the scores of a teacher (Hofstaetter et al. 2020), for the pairs of
//               pairwise. Counted: pairs
// Every document, pair or query that is counted weighs the same.
// N documents  Q queries
#pragma once
#include <span>

#include "train/objectives/loss.h"
#include "train/objectives/task_batch.h"

namespace deberta::train {

struct QueryDocuments {
  std::span<const int32_t> starts = {};  // the documents of query q: starts[q] to starts[q + 1] - 1
  std::span<const float> relevance_N = {}, teacher_N = {};
};

// correct: documents on their side of 0; pairs in their order, of margin mse in the teacher's; queries whose highest
// score has a document than which none is more relevant. Throws kInput for margin mse without scores of a teacher.
Loss ranking_loss(const at::Tensor& scores_N1, const QueryDocuments& documents, RankingLoss loss);

}  // namespace deberta::train

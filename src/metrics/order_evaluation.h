// How well scores order the documents of queries.
//   DCG@k = sum over the first k documents of relevance / log2(1 + rank), ranks from 1
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "metrics/evaluation.h"

namespace deberta {

// The documents of one query.
struct OrderOutcome {
  std::vector<double> relevance, scores;  // per document; relevance 0: not relevant
};

// The relevance of the documents, the highest score first. Among equal scores the least relevant comes first, so that
// nothing is won by the order of a file.
std::vector<double> relevance_by_score(const OrderOutcome& query);

// `by_rank`: relevance by rank, of at least one relevant document. DCG@k as a share of that of the best order; 1 / rank
// of the first relevant one, 0 below rank k; the mean over the relevant ones of the share of such documents down to
// each.
double ndcg(std::span<const double> by_rank, size_t k);
double reciprocal_rank(std::span<const double> by_rank, size_t k);
double precision_by_rank(std::span<const double> by_rank);

// ndcg@K, mrr@K and map, in the order of `metrics`: means over the queries with a relevant document; how many have none
// is a note of the first. Samples are drawn from queries. Throws kInternal for another name.
std::unique_ptr<Evaluation> make_evaluation(const std::vector<OrderOutcome>& outcomes,
                                            std::vector<std::string> metrics);

}  // namespace deberta

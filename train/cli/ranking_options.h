// From the options of the task ranking to its settings.
#pragma once
#include <string>

#include "deberta/error.h"
#include "metrics/task_table.h"
#include "options/verb_options.h"
#include "train/data/task_samples.h"

namespace deberta::train {

inline RankingLoss ranking_loss_of(RankingLossChoice choice) {
  switch (choice) {
    case RankingLossChoice::kPointwise:
      return RankingLoss::kPointwise;
    case RankingLossChoice::kPairwise:
      break;
    case RankingLossChoice::kListwise:
      return RankingLoss::kListwise;
    case RankingLossChoice::kMarginMse:
      return RankingLoss::kMarginMse;
  }
  return RankingLoss::kPairwise;
}

// Throws kUsage for options of another task, and for one document, which has no order.
inline RankingRules ranking_rules(const FinetuneVerb& options, const TaskRow& task) {
  const bool is_ranking = task.kind == TaskKind::kRanking;
  const auto refuse = [&](const char* option) {
    throw Error(ErrorCode::kUsage, option, "expected the task ranking, got " + std::string(task.name));
  };
  if (!is_ranking && options.ranking_loss.is_given()) refuse("--ranking-loss");
  if (!is_ranking && options.max_documents.is_given()) refuse("--max-documents");
  if (is_ranking && options.max_documents.value == 1)
    throw Error(ErrorCode::kUsage, "--max-documents", "expected 2 or more, or 0 for all, got 1");
  return {ranking_loss_of(options.ranking_loss.value), options.max_documents.value};
}

}  // namespace deberta::train

// Joins the runs of a cross-validation: every row is answered by the model that was not trained on it.
#pragma once
#include <cstddef>
#include <map>
#include <string>

namespace deberta::train {

constexpr const char* kOutOfFoldName = "out_of_fold.jsonl";
constexpr size_t kMostFolds = 100;

// "fold-2-of-5"; `number` from 1.
std::string fold_name(size_t number, size_t folds);

// Throws kUsage where `folder` has a run of its own, and where another fold in it was run with other options than these
// ("seed" and so on, as a checkpoint has them). `number`: the fold that `options` are for.
void check_same_folds(const std::string& folder, size_t number, size_t folds,
                      const std::map<std::string, std::string>& options);

// Joins the runs of all folds in `folder` once they are finished: out_of_fold.jsonl gets the rows of their evaluations
// in the order of the files (predictions.h; for tasks that have them), and all_results.json each metric's mean,
// standard deviation and values by fold. Returns the number of unfinished runs; 0: both files are written. Throws
// kFileWrite, kInput for a row that two folds answer, as folds of different files do, and what reading a damaged file
// throws.
size_t join_folds(const std::string& folder, size_t folds);

}  // namespace deberta::train

// Metrics of rows with a class, a score or several classes.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "metrics/evaluation.h"

namespace deberta {

// One class per row.
struct ClassOutcomes {
  std::vector<int32_t> gold, predicted;
  // The group of each row, numbered in order of appearance, if rows count together; empty if each counts alone. Samples
  // are then drawn from groups.
  std::vector<uint32_t> groups;
  // Index into `genre_names` for each row; empty if the file has no genres.
  std::vector<uint32_t> genres;
  std::vector<std::string> genre_names;
};
struct ScoreOutcomes {
  std::vector<double> gold, predicted;
};
// Any number of classes per row, ascending.
struct ClassSetOutcomes {
  std::vector<std::vector<uint32_t>> gold, predicted;
};

// `metrics`: names as in the task table. For classes: accuracy, f1 (of class 1), f1_macro, matthews_correlation,
// exact_match (of groups), combined_score (the mean of accuracy and f1), and the accuracy of each genre where there are
// two or more. For scores: pearson, spearmanr, combined_score (their mean), mse. For sets: f1_micro, f1_macro (over the
// classes that occur), accuracy (of whole sets). Throw kInternal for another name.
std::unique_ptr<Evaluation> make_evaluation(ClassOutcomes outcomes, std::vector<std::string> metrics);
std::unique_ptr<Evaluation> make_evaluation(ScoreOutcomes outcomes, std::vector<std::string> metrics);
std::unique_ptr<Evaluation> make_evaluation(ClassSetOutcomes outcomes, std::vector<std::string> metrics);

}  // namespace deberta

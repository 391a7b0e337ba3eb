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
  std::vector<double> losses = {};  // per row, for log_loss
  std::vector<double> scores = {};  // score of the positive class, for roc_auc and average_precision
};
struct ScoreOutcomes {
  std::vector<double> gold, predicted;
};
// Any number of classes per row, ascending.
struct ClassSetOutcomes {
  std::vector<std::vector<uint32_t>> gold, predicted;
  std::vector<double> losses = {};
};

// What the metrics of classes go by.
struct MetricRules {
  int32_t positive = 1;                    // the class of f1, f_beta, precision and recall
  double beta = 1;                         // beta of f_beta
  std::vector<double> class_numbers = {};  // by class, for quadratic_weighted_kappa
};

// `metrics`: names as in the task table and asked_metrics.h. For classes: accuracy, f1, precision, recall, roc_auc
// and average_precision (of one class), f1_macro, matthews_correlation, quadratic_weighted_kappa, log_loss, exact_match
// (of groups), combined_score (the mean of accuracy and f1), and the accuracy of each genre where there are two or
// more. For scores: pearson, spearmanr, combined_score (their mean), mse, quadratic_weighted_kappa (of scores rounded
// to whole numbers). For sets: f1_micro, f1_macro (over the classes that occur), accuracy (of whole sets), log_loss.
// Where f1 is, f_beta is too: it is called f2 or f0.5. Throw kInternal for another name.
std::unique_ptr<Evaluation> make_evaluation(ClassOutcomes outcomes, std::vector<std::string> metrics,
                                            MetricRules rules = {});
std::unique_ptr<Evaluation> make_evaluation(ScoreOutcomes outcomes, std::vector<std::string> metrics);
std::unique_ptr<Evaluation> make_evaluation(ClassSetOutcomes outcomes, std::vector<std::string> metrics,
                                            MetricRules rules = {});
// For several scores of the same rows: the mean of each metric, then "pearson_NAME" and so on for each score.
std::unique_ptr<Evaluation> make_evaluation(std::vector<ScoreOutcomes> outcomes, std::vector<std::string> names,
                                            const std::vector<std::string>& metrics);

// f_beta_macro for beta 2 is f2_macro.
std::string with_beta(const std::string& metric, double beta);

}  // namespace deberta

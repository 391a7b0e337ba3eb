// Where to cut the scores of a class: rows that score at least a threshold are answered with the class. Equal scores
// are never cut apart.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "metrics/evaluation.h"

namespace deberta {

// The shortest decimal that reads back as the score: what people are shown, and compare with a threshold.
double as_shown(float score);

// One class, over all rows.
struct ScoredClass {
  std::string name;
  std::vector<double> scores = {};
  std::vector<bool> is_positive = {};  // the row has the class
};

struct ThresholdRules {
  bool seeks_best = false;              // the threshold with the best F
  double beta = 1;                      // beta of that F
  std::vector<double> precisions = {};  // in (0, 1], for which the highest recall is computed
  std::vector<double> recalls = {};     // in (0, 1], for which the highest precision is computed
};

// The metrics of `classes`, then for each scored class NAME and each point "threshold@POINT/NAME",
// "precision@POINT/NAME" and "recall@POINT/NAME". Points: "best_f1", which also has "f1@best_f1/NAME" (f2 and so on for
// another beta); "precision=0.9"; "recall=0.9". A threshold is the score of a row; of several that are as good, for the
// best F the highest, at a precision that with the higher precision, and at a recall that with the higher recall. Units
// are the rows of both, in the same order.
std::unique_ptr<Evaluation> with_thresholds(std::unique_ptr<Evaluation> classes, std::vector<ScoredClass> scored,
                                            ThresholdRules rules);

}  // namespace deberta

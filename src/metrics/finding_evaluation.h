// A guard's two errors: benign rows that it reports (false positives), and findings that it misses (false negatives).
#pragma once
#include <memory>
#include <vector>

#include "metrics/evaluation.h"

namespace deberta {

struct FindingOutcomes {
  std::vector<double> scores;     // per row: how sure the model is of a finding
  std::vector<bool> is_finding;   // what the row is
  std::vector<bool> is_reported;  // the class that the model scores highest is a finding
};

// The metrics of `classes`, then false_positive_rate and false_negative_rate of the model's own decision, and for each
// of `rates`, in (0, 1), "threshold@RATE": the lowest score of a row from which on at most that share of the benign
// rows is reported, and false_positive_rate@RATE and false_negative_rate@RATE when rows that score at least that are
// reported. Units are the rows of both, in the same order.
std::unique_ptr<Evaluation> with_findings(std::unique_ptr<Evaluation> classes, FindingOutcomes outcomes,
                                          std::vector<double> rates);

}  // namespace deberta

// The section of a run's page about its evaluation: figures for each class or type of entity, the confusion matrix, the
// worst rows.
#pragma once
#include <string>

#include "train/report/predictions.h"

namespace deberta::train {

std::string prediction_tables(const PredictedRows& predictions);  // HTML

}  // namespace deberta::train

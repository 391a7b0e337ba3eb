// The result of a cell: a small file that is kept, so that the cell need not run again.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "train/ablation/plan.h"

namespace deberta::train {

struct CellResult {
  std::string form;
  int64_t seed = 0;
  std::string hash;                                              // hash of the cell
  double tokens = 0;                                             // tokens of pre-training
  double flops = 0;                                              // operations of pre-training, estimated (flops.h)
  double seconds = 0;                                            // duration of pre-training and of the fine-tunings
  std::vector<std::pair<std::string, double>> pretraining = {};  // metrics of its last evaluation, without eval_
  std::vector<std::pair<std::string, double>> tasks = {};        // the metric of each task, in the plan's order
};

Json to_json(const CellResult& result);
// Throws kInput for a file that is no result.
CellResult parse_result(const Json& document, const std::string& where);

// The result of a cell in any of the folders (FOLDER/NAME.json), if it is of the same options. A file of other options
// is none.
std::optional<CellResult> find_result(const Cell& cell, const std::vector<std::string>& folders);

}  // namespace deberta::train

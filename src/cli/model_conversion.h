// One conversion of a model directory from start to end, as in `convert` and `check -o`.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/conversion.h"
#include "cli/calibration.h"
#include "deberta/config.h"
#include "options/choices.h"

namespace deberta::cli {

struct ConversionJob {
  std::string source;
  std::string target;                      // does not exist, or is an empty folder
  std::optional<ModelConfig> config;       // in place of the source's config.json
  std::string adapter;                     // a PEFT folder, merged into the source first; empty: none
  std::vector<std::string> averaged = {};  // folders of further models, whose mean with the source is converted
  ConversionOptions form;
  uint64_t shard_bytes = 5000000000;
  bool wants_verify = false;
  OpenOptions open = {};  // for the source, and for the written model when it is verified
  ShowProgress progress = ShowProgress::kAuto;
  std::optional<CalibrationRules> calibration = {};  // set for int8
};

// Throws kUsage for a target inside the source, kFileWrite for one that cannot be created or would replace something.
void check_target(const std::string& target, const std::string& source);

// Returns all changes, and prints a line with the sizes on standard error. Throws Interrupted once everything
// half-written is removed, kUsage (a target inside the source), and what planning, writing and verifying throw.
std::vector<Change> convert_model(const ConversionJob& job);

}  // namespace deberta::cli

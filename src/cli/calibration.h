// What `convert` does about calibration.safetensors: makes it, checks what it is worth, or carries it over.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/calibration.h"
#include "checkpoint/conversion.h"
#include "deberta/config.h"
#include "deberta/tokenizer.h"

namespace deberta::cli {

// The texts of --calibrate as the model reads them. Throws Interrupted, kInput (none), and what reading and encoding
// throws: no row is passed over.
std::vector<Encoding> read_calibration_texts(const Options& options, const std::string& model_folder);

// Runs the model written in `folder` over the texts. Throws Interrupted.
Calibration calibrate_written(const std::string& folder, const std::vector<Encoding>& texts, const Options& options);
std::string describe(const Calibration& calibration);  // "300 texts, 7421 tokens, smoothing 0.5, 2 outlier channels"

// int8 beside fp32, both from `folder`. Throws kCalibration, naming `target`, when their outputs have a cosine below
// .999; Interrupted.
std::string verify_calibration(const std::string& folder, const std::vector<Encoding>& texts, const std::string& target,
                               const Options& options);

// The calibration beside the files of `source` if it is of the weights written in `folder`; else what is to be said.
struct CarriedCalibration {
  std::optional<Calibration> calibration;
  std::vector<Change> changes;
};
CarriedCalibration carry_calibration(const Checkpoint& source, const std::string& folder);

}  // namespace deberta::cli

// What `convert` does about calibration.safetensors: creates it, checks its quality, or carries it over.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/calibration.h"
#include "checkpoint/conversion.h"
#include "deberta/config.h"
#include "deberta/model.h"
#include "deberta/tokenizer.h"
#include "options/choices.h"
#include "program/row_options.h"

namespace deberta::cli {

// Which texts, how the model reads them, and how they are used.
struct CalibrationRules {
  program::RowReading reading;
  EncodingRules encoding;
  TokenizerKind tokenizer = TokenizerKind::kSlow;
  std::optional<double> smoothing;  // none: the model's usual value
};

// Throws Interrupted, kInput (no texts), and what reading and encoding throw: no row is skipped.
std::vector<Encoding> read_calibration_texts(const CalibrationRules& rules, ShowProgress progress,
                                             const std::string& model_folder);

std::string describe(const Calibration& calibration);  // "300 texts, 7421 tokens, smoothing 0.5, 2 outlier channels"

// A calibration for the weights as they are written, and what to report about it.
struct FoundCalibration {
  std::optional<Calibration> calibration;
  std::vector<Change> changes;
};

// Runs the model written in `folder` over the texts; it is loaded in fp32 once, for both methods. `texts` must outlive
// the object. All throw Interrupted.
class Calibrator {
 public:
  Calibrator(const std::string& folder, const std::vector<Encoding>& texts, const OpenOptions& open,
             ShowProgress progress);
  FoundCalibration calibrate(std::optional<double> smoothing) const;
  // Compares int8, with the calibration now in the folder, to fp32. Throws kCalibration, naming `target`, when their
  // outputs have a cosine below .999.
  Change verify(const std::string& target) const;

 private:
  const std::vector<Encoding>& texts_;
  ShowProgress progress_;
  Checkpoint checkpoint_;
  ModelConfig config_;
  Model exact_;
};

// The calibration next to the files of `source`, if it belongs to the weights written in `folder`.
FoundCalibration carry_calibration(const Checkpoint& source, const std::string& folder);

}  // namespace deberta::cli

// Rows are read as in every verb that takes texts; models are opened from the folder that is being written.
#include "cli/calibration.h"

#include <fmt/format.h>
#include <utility>

#include "deberta/error.h"
#include "deberta/model.h"
#include "pipeline/calibration.h"
#include "program/interrupt.h"
#include "program/progress_printer.h"
#include "program/row_loop.h"
#include "rows/row_input.h"

namespace deberta::cli {
namespace {

constexpr double kLeastCosine = 0.999;

// Progress over `texts`, and where Ctrl-C is checked.
class TextProgress {
 public:
  TextProgress(ShowProgress show, size_t texts)
      : printer_(show, true, {.items = "texts", .tokens = ""}), texts_(texts) {}
  ~TextProgress() { printer_.clear(); }
  TextProgress(const TextProgress&) = delete;
  TextProgress& operator=(const TextProgress&) = delete;
  void update(size_t done) {
    program::check_interrupted();
    printer_.update(done, 0, static_cast<double>(done) / static_cast<double>(texts_));
  }

 private:
  program::ProgressPrinter printer_;
  size_t texts_;
};

}  // namespace

std::vector<Encoding> read_calibration_texts(const CalibrationRules& rules, ShowProgress progress,
                                             const std::string& model_folder) {
  const Tokenizer tokenizer = Tokenizer::load(model_folder, rules.tokenizer);
  const EncodeRow encode = row_encoder(tokenizer, {rules.encoding});
  std::vector<Encoding> texts;
  program::collect_rows(rules.reading, progress,
                        [&](std::span<const Row> rows) {
                          for (const Row& row : rows) texts.push_back(std::move(encode(row).front()));
                        },
                        {});
  program::check_interrupted();
  if (texts.empty())
    throw Error(ErrorCode::kInput, fmt::format("{}", fmt::join(rules.reading.files, ",")),
                "expected texts to calibrate with, got none");
  return texts;
}

Calibrator::Calibrator(const std::string& folder, const std::vector<Encoding>& texts, const OpenOptions& open,
                       ShowProgress progress)
    : texts_(texts),
      progress_(progress),
      checkpoint_(Checkpoint::open(folder, open)),
      config_(load_model_config(folder + "/config.json")),
      exact_(Model::load(checkpoint_, config_)) {}

FoundCalibration Calibrator::calibrate(std::optional<double> smoothing) const {
  TextProgress progress(progress_, texts_.size());
  Calibration calibration =
      deberta::calibrate(exact_, checkpoint_, texts_, smoothing.value_or(usual_smoothing(config_)),
                         [&](size_t done) { progress.update(done); });
  Change change{std::string(kCalibrationName), "made", describe(calibration)};
  return {std::move(calibration), {std::move(change)}};
}

Change Calibrator::verify(const std::string& target) const {
  const Model model = Model::load(checkpoint_, config_, {.precision = Precision::kInt8});
  TextProgress progress(progress_, texts_.size());
  const OutputComparison comparison =
      compare_outputs(exact_, model, texts_, [&](size_t done) { progress.update(done); });
  std::string report =
      fmt::format("int8 against fp32 on {} texts: cosine of all outputs {:.6f}, per text at least {:.6f}, mean {:.6f}",
                  texts_.size(), comparison.cosine, comparison.least_cosine, comparison.mean_cosine);
  if (comparison.answers > 0)
    report += fmt::format("; {} of {} answers equal", comparison.equal_answers, comparison.answers);
  if (!(comparison.cosine >= kLeastCosine)) {
    throw Error(ErrorCode::kCalibration, target,
                fmt::format("verify: {}: expected a cosine of at least {}; nothing is written", report, kLeastCosine));
  }
  return {std::string(kCalibrationName), "verified", std::move(report)};
}

std::string describe(const Calibration& calibration) {
  return fmt::format("{} texts, {} tokens, smoothing {}, {} outlier channels", calibration.texts, calibration.tokens,
                     calibration.smoothing, calibration.outliers());
}

FoundCalibration carry_calibration(const Checkpoint& source, const std::string& folder) {
  if (!has_calibration(source)) return {};
  const std::string name(kCalibrationName);
  const Checkpoint written = Checkpoint::open(folder);
  const ModelConfig config = load_model_config(folder + "/config.json");
  try {
    return {read_calibration(calibration_path(source), written, config), {}};
  } catch (const Error& error) {  // an unreadable file is an error, not left out
    if (error.code() != ErrorCode::kCalibration && error.code() != ErrorCode::kSafetensors) throw;
    return {std::nullopt, {{name, "left out", "it does not belong to the written weights; calibrate again"}}};
  }
}

}  // namespace deberta::cli

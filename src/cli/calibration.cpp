// Rows come in as for every verb that reads texts; models are opened from the folder that is being written.
#include "cli/calibration.h"

#include <fmt/format.h>
#include <utility>

#include "base/checked.h"
#include "deberta/error.h"
#include "deberta/model.h"
#include "options/options.h"
#include "pipeline/calibration.h"
#include "program/answers.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/progress_printer.h"
#include "program/row_loop.h"
#include "rows/row_input.h"

namespace deberta::cli {
namespace {

constexpr double kLeastCosine = 0.999;

// Progress over `texts`, and a place where Ctrl-C is heard.
class TextProgress {
 public:
  TextProgress(const Options& options, size_t texts)
      : printer_(options, true, {.items = "texts", .tokens = ""}), texts_(texts) {}
  ~TextProgress() { printer_.clear(); }
  TextProgress(const TextProgress&) = delete;
  TextProgress& operator=(const TextProgress&) = delete;
  void update(size_t done) {
    check_interrupted();
    printer_.update(done, 0, static_cast<double>(done) / static_cast<double>(texts_));
  }

 private:
  ProgressPrinter printer_;
  size_t texts_;
};

double smoothing_of(const Options& options, const ModelConfig& config) {
  return parse_number<double>(options.text("smoothing")).value_or(usual_smoothing(config));
}

}  // namespace

std::vector<Encoding> read_calibration_texts(const Options& options, const std::string& model_folder) {
  const Tokenizer tokenizer = Tokenizer::load(model_folder, tokenizer_kind(options));
  const EncodeRow encode = row_encoder(tokenizer, encoding_rules(options));
  std::vector<Encoding> texts;
  collect_rows(options,
               [&](std::span<const Row> rows) {
                 for (const Row& row : rows) texts.push_back(std::move(encode(row).front()));
               },
               {});
  check_interrupted();
  if (texts.empty())
    throw Error(ErrorCode::kInput, options.text("calibration-data"), "expected texts to calibrate with, got none");
  return texts;
}

Calibrator::Calibrator(const std::string& folder, const std::vector<Encoding>& texts, const Options& options)
    : texts_(texts),
      options_(options),
      checkpoint_(Checkpoint::open(folder, open_options(options))),
      config_(load_model_config(folder + "/config.json")),
      exact_(Model::load(checkpoint_, config_)) {}

FoundCalibration Calibrator::calibrate() const {
  TextProgress progress(options_, texts_.size());
  Calibration made = deberta::calibrate(exact_, checkpoint_, texts_, smoothing_of(options_, config_),
                                        [&](size_t done) { progress.update(done); });
  Change change{std::string(kCalibrationName), "made", describe(made)};
  return {std::move(made), {std::move(change)}};
}

Change Calibrator::verify(const std::string& target) const {
  const Model model = Model::load(checkpoint_, config_, {.precision = Precision::kInt8});
  TextProgress progress(options_, texts_.size());
  const OutputComparison found = compare_outputs(exact_, model, texts_, [&](size_t done) { progress.update(done); });
  std::string report =
      fmt::format("int8 against fp32 on {} texts: cosine of all outputs {:.6f}, per text at least {:.6f}, mean {:.6f}",
                  texts_.size(), found.cosine, found.least_cosine, found.mean_cosine);
  if (found.answers > 0) report += fmt::format("; {} of {} answers equal", found.equal_answers, found.answers);
  if (!(found.cosine >= kLeastCosine)) {
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
  } catch (const Error& error) {  // a file that cannot be read is no reason to leave it out
    if (error.code() != ErrorCode::kCalibration && error.code() != ErrorCode::kSafetensors) throw;
    return {std::nullopt, {{name, "left out", "it does not belong to the written weights; calibrate again"}}};
  }
}

}  // namespace deberta::cli

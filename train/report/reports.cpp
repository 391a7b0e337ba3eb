// Writes the page at any time and the other reports once a run has ended; a card that a person changed is kept.
#include "train/report/reports.h"

#include <optional>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/output_file.h"
#include "deberta/error.h"
#include "train/report/event_file.h"
#include "train/report/model_card.h"
#include "train/report/predictions.h"
#include "train/report/result_files.h"
#include "train/report/run_page.h"
#include "train/report/run_record.h"
#include "train/report/signal_chart.h"
#include "train/state/run_folder.h"

namespace deberta::train {
namespace {

class Writer {
 public:
  explicit Writer(const std::string& folder, const std::vector<std::string>& others = {})
      : folder_(folder), record_(load_run_record(folder)) {
    written_.notes = record_.damage;
    for (const std::string& other : others) add_other(load_run_record(other));
  }

  void write_page() { write(kPageName, make_run_page(record_, predictions(), others_)); }
  void write_all(EventFiles event_files) {
    write_page();
    if (event_files == EventFiles::kReplace) write_event_files();
    write_ending();
  }
  void note(std::string text) { written_.notes.push_back(std::move(text)); }
  WrittenReports finish() { return std::move(written_); }

 private:
  void write_event_files() {
    const EventFile whole(path(kTensorBoardName), record_.log);
    written_.files.emplace_back(kTensorBoardName);
  }

  // The reports that only a finished run has.
  void write_ending() {
    if (!record_.results) return;
    write(kTrainResultsName, train_results(record_).dump(2) + "\n");
    write(kEvaluationResultsName, evaluation_results(record_).dump(2) + "\n");
    write(kTrainerStateName, trainer_state(record_).dump(2) + "\n");
    if (record_.config) write_card();
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  void add_other(RunRecord other) {
    written_.notes.insert(written_.notes.end(), other.damage.begin(), other.damage.end());
    if (signal_lines(other).empty()) note(other.folder + ": has no log of pre-training, and is in no chart");
    others_.push_back(std::move(other));
  }

  void write(const std::string& name, const std::string& text) {
    write_output_file(path(name), [&](FileWriter& file) { file.write(text); });
    written_.files.push_back(name);
  }

  void write_card() {
    const std::string card = path(kCardName);
    constexpr uint64_t kMostBytes = uint64_t{1} << 24;
    if (is_regular_file(card) && !is_own_card(read_file(card, kMostBytes))) {
      note(card + ": this file was edited, and is kept as it is");
      return;
    }
    write(kCardName, make_model_card(record_));
  }

  std::optional<PredictedRows> predictions() {
    if (!is_regular_file(path(kPredictionsName))) return std::nullopt;
    try {
      return load_predictions(path(kPredictionsName));
    } catch (const Error& error) {
      record_.damage.emplace_back(error.what());
      note(error.what());
      return std::nullopt;
    }
  }

  std::string folder_;
  RunRecord record_;
  std::vector<RunRecord> others_;
  WrittenReports written_;
};

}  // namespace

std::vector<std::string> report_names() {
  return {kCardName, kResultsName, kTrainResultsName, kEvaluationResultsName, kTrainerStateName};
}

WrittenReports write_reports(const std::string& folder, EventFiles event_files) {
  Writer writer(folder);
  writer.write_all(event_files);
  return writer.finish();
}

WrittenReports rebuild_reports(const std::string& folder, const std::vector<std::string>& others) {
  const FolderLock lock(folder);
  Writer writer(folder, others);
  if (lock.is_held()) {
    writer.write_all(EventFiles::kReplace);
    return writer.finish();
  }
  writer.write_page();
  writer.note(folder + ": a run is writing to this folder, so only its page is written");
  return writer.finish();
}

}  // namespace deberta::train

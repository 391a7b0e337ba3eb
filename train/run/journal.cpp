// Three writers, each of which may fail on its own: a failure becomes a warning, and the run goes on.
#include "train/run/journal.h"

#include <functional>

#include "base/log.h"
#include "deberta/error.h"
#include "train/report/run_record.h"

namespace deberta::train {
namespace {

// Whether it could be done; a warning if not.
bool attempt(const char* loss, const std::function<void()>& write) {
  try {
    write();
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kFileWrite) throw;
    warn(std::string(loss) + "; training continues: " + error.what());
    return false;
  }
}

}  // namespace

Journal::Journal(const RunFolder& folder, int64_t step)
    : folder_(folder.path()), metrics_(folder.file(kMetricsName), step) {
  attempt("cannot write the log of events",
          [&] { events_ = std::make_unique<EventLog>(folder.file(kEventsName), !folder.checkpoint()); });
  attempt("cannot write for TensorBoard", [&] {
    event_file_ = std::make_unique<EventFile>(folder.file(kTensorBoardName), load_run_record(folder_).log);
  });
}

void Journal::write(int64_t step, const Metrics& metrics) {
  const LoggedLine line{.step = step, .time = seconds_since_1970(), .metrics = metrics};
  Metrics timed = metrics;
  timed.emplace_back("time", line.time);
  bool is_new = false;
  if (attempt("cannot write a line of the log yet", [&] { is_new = metrics_.write(step, timed); })) {
    if (is_new) show(line);
  } else {
    event_file_.reset();
  }
}

void Journal::show(const LoggedLine& line) {
  const bool is_shown = attempt("cannot write a line for TensorBoard yet", [&] {
    if (event_file_ != nullptr) {
      event_file_->write(line);
    } else {
      event_file_ = std::make_unique<EventFile>(folder_ + "/" + kTensorBoardName, load_run_record(folder_).log);
    }
  });
  if (!is_shown) event_file_.reset();
}

void Journal::note(RunEvent event) {
  event.time = seconds_since_1970();
  if (events_ != nullptr) attempt("cannot write an event", [&] { events_->write(event); });
}

}  // namespace deberta::train

// Words progress, notes and results, and warns when a run has learned next to nothing.
#include "train/cli/run_reporter.h"

#include <csignal>
#include <cstdio>

#include "program/interrupt.h"
#include "program/note.h"
#include "program/output.h"

namespace deberta::train {
namespace {

std::string describe(const Metrics& metrics) {
  std::string text;
  for (const auto& [name, value] : metrics) text += (text.empty() ? "" : ", ") + name + " " + short_number(value);
  return text;
}

StopRequest stop_request() {
  if (program::interrupted() != 0) return StopRequest::kStop;
  return program::take_watched_signal(SIGUSR1) ? StopRequest::kSave : StopRequest::kNone;
}

// Less than a tenth of what there is to learn. Runs too short to tell are not reported.
bool hardly_learned(const RunResult& result) {
  constexpr int64_t kFewSteps = 20;
  if (!result.last_loss || !result.guess_loss || result.steps < kFewSteps) return false;
  return *result.guess_loss > 1e-6 && *result.last_loss > .9 * *result.guess_loss;
}

std::string describe_loss(const RunResult& result) {
  const bool is_above = *result.last_loss > 1.1 * *result.guess_loss;
  return std::string("note: the loss ") + (is_above ? "is above the loss of guessing" : "hardly moved") + ": " +
         short_number(*result.last_loss) + " in the last ten steps, where guessing costs " +
         short_number(*result.guess_loss) + "; " + (is_above ? "another --learning-rate" : "a higher --learning-rate") +
         " (--find-lr tries them) or more --num-train-epochs may help";
}

}  // namespace

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

void Reporter::progress(const RunProgress& now) {
  if (now.phase != phase_) end_phase();
  phase_ = now.phase;
  if (!now.fraction) return;
  const bool is_reading = now.phase == Phase::kReading;
  const uint64_t done = is_reading ? now.done / reading_.size : now.done;
  if (!printer_) {
    const std::string_view unit = is_reading ? reading_.name : now.phase == Phase::kTraining ? "steps" : "lines";
    printer_.emplace(show_, true, ProgressUnits{.items = unit, .tokens = "tokens"});
    printer_->begin(done, now.tokens, now.fraction);  // a run that goes on has done something before
  }
  printer_->update(done, now.tokens, now.fraction);
}

void Reporter::say(const std::string& text) {
  if (printer_) printer_->clear();
  program::note(text);
}

void Reporter::end_phase() {
  if (printer_) printer_->clear();
  printer_.reset();
}

RunHooks hooks_of(Reporter& reporter) {
  return {.on_progress = [&](const RunProgress& now) { reporter.progress(now); },
          .on_log =
              [&](int64_t step, const Metrics& metrics) {
                reporter.say("step " + std::to_string(step) + ": " + describe(metrics));
              },
          .on_note = [&](const std::string& text) { reporter.say(text); },
          .on_beginning = [&](const std::string& text) { reporter.say(text); },
          .stop = stop_request};
}

int show_rates(const std::optional<RateSearch>& search, Reporter& reporter) {
  reporter.end_phase();
  if (!search) return program::interrupted();
  const auto rate = [](const std::optional<double>& value) { return value ? short_number(*value) : "none"; };
  std::string text = "steepest fall\t" + rate(search->steepest) + "\nlowest loss\t" + rate(search->lowest) +
                     "\nrate\tloss\tsmoothed\n";
  for (const RateSearch::Tried& tried : search->tried) {
    text += short_number(tried.rate) + "\t" + short_number(tried.loss) + "\t" + short_number(tried.smoothed) + "\n";
  }
  program::print(text);
  return 0;
}

void report(const RunSettings& settings, const RunResult& result, const std::string& what) {
  std::string text = std::to_string(result.steps) + " of " + std::to_string(result.total_steps) + " steps, " +
                     std::to_string(result.tokens) + " tokens, " + short_number(result.seconds) + " s";
  if (result.is_out_of_time) text += "; the time limit (--max-time) was reached";
  if (result.is_early) text += "; stopped early, since no evaluation was better";
  if (result.is_finished && result.best_step != result.steps)
    text += "; the best model is that of step " + std::to_string(result.best_step);
  else if (result.is_finished && !result.evaluation.empty())
    text += "; the model is that of the last step";
  if (!result.evaluation.empty()) text += "; " + describe(result.evaluation);
  if (result.is_degraded) text += "; the newest checkpoint was damaged, so an older one was used";
  program::note(text);
  if (result.is_finished) {
    program::note(what + " in " + settings.output);
    if (result.is_out_of_time)
      program::note("run the same command again to continue from the last checkpoint in that folder");
    if (hardly_learned(result)) program::note(describe_loss(result));
  } else {
    program::note("stopped; run the same command again to continue from the last checkpoint in " + settings.output);
  }
}

}  // namespace deberta::train

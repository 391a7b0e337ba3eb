// The verb `ablate`: starts the runs of a plan and interprets their options; train/ablation/runner.h has the plan.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "deberta/error.h"
#include "options/verb_options.h"
#include "program/interrupt.h"
#include "program/note.h"
#include "program/progress_printer.h"
#include "train/ablation/runner.h"
#include "train/cli/child_run.h"
#include "train/cli/recipe_options.h"
#include "train/cli/verbs.h"

namespace deberta::train {
namespace {

// Options that `ablate` sets itself.
constexpr auto kOwn = std::to_array<std::string_view>({"output-dir", "threads", "progress", "quiet", "config"});

std::string text_of(const Json& value) {
  if (value.is_string()) return value.as_string();
  return value.dump();
}

// What is wrong with an option that a plan sets for `verb`, as far as its name shows it; empty: nothing.
std::string refusal_of(const std::string& verb, const std::string& name) {
  if (std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end()) return "`ablate` sets this option itself";
  if (name == "fold") return "expected \"folds\" of a task instead, which runs every fold";
  if (name == "max-time") return "expected no limit on time: every run must reach its last step";
  return has_option(verb, name) ? "" : "unknown option of " + verb;
}

WrongOptions check_options(const std::string& verb, const JsonObject& requested) {
  WrongOptions wrong;
  Options options(verb);
  for (const auto& [name, value] : requested) {
    if (std::string refusal = refusal_of(verb, name); !refusal.empty()) {
      wrong.emplace_back(name, std::move(refusal));
      continue;
    }
    try {
      options.set(name, text_of(value), "plan");
    } catch (const Error& error) {
      wrong.emplace_back(name, error.message());
    }
  }
  return wrong;
}

// `requested`: options that check_options() has accepted.
PretrainingFacts pretraining_facts(const JsonObject& requested) {
  Options options("pretrain");
  for (const auto& [name, value] : requested) options.set(name, text_of(value), "plan");
  const PretrainVerb pretrain(with_recipe(std::move(options)));
  return {.is_pair = pretrain.objective == ObjectiveChoice::kRtd,
          .max_tokens = static_cast<int32_t>(pretrain.max_tokens),
          .predicted = pretrain.objective == ObjectiveChoice::kCausal ? 1 : pretrain.mlm_probability,
          .alone = pretrain.generator_warmup.value};
}

// The command line of a run.
std::vector<std::string> words_of(const CellRun& run, size_t threads) {
  std::vector<std::string> words = {"deberta-train", run.verb, "--config", run.options};
  const auto add = [&](std::vector<std::string> more) { words.insert(words.end(), more.begin(), more.end()); };
  if (run.folder.empty())
    add({"--dry-run"});
  else
    add({"--output-dir", run.folder, "--threads", std::to_string(threads)});
  add({"--progress", "on"});
  add(run.corpora);
  if (!run.model.empty()) add({"--model", run.model});
  if (!run.fold.empty()) add({"--fold", run.fold});
  return words;
}

}  // namespace

int run_ablate(const Options& options) {
  const AblateVerb requested(options);
  if (requested.arguments.size() != 1)
    throw Error(ErrorCode::kUsage, "ablate",
                "expected the file of one plan, got " + std::to_string(requested.arguments.size()));
  if (requested.output_dir.empty()) throw Error(ErrorCode::kUsage, "--output-dir", "expected a folder, got none");
  const PlanFile plan = load_plan(requested.arguments.front());
  program::ProgressPrinter printer(requested.progress, true, {.items = "runs", .tokens = ""});
  const auto say = [&](const std::string& text) {
    printer.clear();
    program::note(text);
  };
  const auto start = [&](const CellRun& run, const auto& on_progress) {
    return run_child(words_of(run, requested.threads), run.log, on_progress);
  };
  const AblationHooks hooks{.check_options = check_options,
                            .pretraining_facts = pretraining_facts,
                            .run = start,
                            .on_begin = [&](size_t done, double fraction) { printer.begin(done, 0, fraction); },
                            .on_progress = [&](size_t done, double fraction) { printer.update(done, 0, fraction); },
                            .on_note = say,
                            .is_stopped = [] { return program::interrupted() != 0; }};
  const AblationSettings settings{
      .output = requested.output_dir, .results = requested.results, .tables_only = requested.tables_only};
  if (run_ablation(plan, settings, hooks)) return 0;
  say("stopped; run the same command again to continue with what is in " + requested.output_dir);
  return program::interrupted();
}

}  // namespace deberta::train

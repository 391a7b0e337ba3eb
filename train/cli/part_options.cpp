// Turns --validation-split and --fold into a RowPart, and refuses inputs that cannot be read twice.
#include "train/cli/part_options.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/checked.h"
#include "base/file.h"
#include "deberta/error.h"
#include "train/cli/run_reporter.h"
#include "train/report/folds.h"

namespace deberta::train {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& what) {
  throw Error(ErrorCode::kUsage, option, what);
}

void check_group(const FinetuneVerb& options) {
  if (options.group_field.empty()) return;
  if (!holds_out(options)) refuse("--group-field", "expected --validation-split or --fold as well");
  if (!has_rows_of_fields(find_task(options.task)))
    refuse("--group-field", "expected a task whose rows have columns, got " + options.task);
}

// The results of all folds have "eval_pearson_NAME" and, as its spread, "eval_pearson_NAME_std".
void check_score_names(const FinetuneVerb& options) {
  const std::vector<std::string>& names = options.label_field;
  if (names.size() < 2 || options.fold.empty() || find_task(options.task).target != TaskTarget::kScore) return;
  for (const std::string& name : names) {
    for (const std::string& ending : {std::string("std"), std::string("by_fold")}) {
      const bool is_taken = std::ranges::any_of(names, [&](const auto& other) { return name == other + "_" + ending; });
      if (name == ending || is_taken)
        refuse("--label-field", "expected names that differ from those of the figures over the folds, got " + name);
    }
  }
}

}  // namespace

std::optional<Fold> fold_of(const FinetuneVerb& options) {
  if (options.fold.empty()) return std::nullopt;
  const size_t slash = options.fold.find('/');
  const std::optional<size_t> number = parse_number<size_t>(std::string_view(options.fold).substr(0, slash));
  const std::optional<size_t> of = slash == std::string::npos
                                       ? std::nullopt
                                       : parse_number<size_t>(std::string_view(options.fold).substr(slash + 1));
  if (!number || !of || *of < 2 || *of > kMostFolds || *number < 1 || *number > *of)
    refuse("--fold", "expected K/N, fold K of 2 to " + std::to_string(kMostFolds) + ", as 1/5, got " + options.fold);
  return Fold{*number, *of};
}

bool holds_out(const FinetuneVerb& options) {
  return options.validation_split > 0 || !options.fold.empty();
}

void check_part(const FinetuneVerb& options) {
  check_group(options);
  if (!holds_out(options)) return;
  fold_of(options);
  check_score_names(options);
  const std::string option = options.fold.empty() ? "--validation-split" : "--fold";
  if (!options.fold.empty() && options.validation_split > 0)
    refuse("--fold", "expected this or --validation-split, got both");
  if (!options.validation_file.empty()) refuse(option, "expected this or --validation-file, got both");
  if (options.validation_split > .5)
    refuse(option, "expected at most 0.5, got " + short_number(options.validation_split));
  if (!options.labels_file.empty()) refuse(option, "expected labels in the rows, got --labels-file");
  refuse_streams(option, "training files", options.train_file);
}

void part_training(const FinetuneVerb& options, TaskFiles& files) {
  ExampleInput& training = files.training.input;
  RowPart part{.seed = options.run.seed, .most_rows = options.max_train_samples};
  if (const std::optional<Fold> fold = fold_of(options)) {
    part.folds = fold->of;
    part.fold = fold->number - 1;
  } else {
    part.share = options.validation_split;
  }
  training.group_field = options.group_field;
  training.part = part;
  files.evaluation = training;
  files.evaluation.part->is_held_out = true;
  files.training.max_examples = 0;  // the part counts them
}

std::string folder_of_run(const FinetuneVerb& options) {
  const std::string& folder = options.run.output_dir;
  const std::optional<Fold> fold = fold_of(options);
  return !fold || folder.empty() ? folder : folder + "/" + fold_name(fold->number, fold->of);
}

void refuse_streams(const std::string& option, const std::string& what, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (file == "-" || is_stream(file)) refuse(option, "expected " + what + " that can be read again, got " + file);
  }
}

}  // namespace deberta::train

// Scores the answers with their bootstrap intervals, then those of every slice of the rows.
#include "eval/answered_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "deberta/error.h"

namespace deberta {
namespace {

// Rows of which none can be scored; where no label was found, other names than the task's may hold them.
[[noreturn]] void refuse_no_units(const EvalResult& result) {
  std::vector<Remedy> remedies;
  const std::vector<std::string>& labels = result.label_fields;
  if (result.unlabelled > 0 && !labels.empty())
    remedies.push_back(
        {fmt::format("a label is read from {}; name another column or key with {{}}", fmt::join(labels, " or ")),
         "label_field"});
  throw Error(ErrorCode::kInput,
              {{.where = "eval",
                .message = fmt::format(
                    "expected rows with a label and an answer, got none of {} ({} failed, {} without a label)",
                    result.rows, result.failed, result.unlabelled),
                .remedies = std::move(remedies)}});
}

}  // namespace

EvalResult score(const AnsweredRows& rows, const ScoreSettings& settings, const EvalHooks& hooks) {
  EvalResult result = rows.result;
  const Evaluation& evaluation = *rows.evaluation;
  if (!settings.needs_labels && !result.has_labels() && result.rows > 0) {
    result.metrics = evaluate(evaluation, {.samples = 0});
    return result;
  }
  if (evaluation.units() == 0) refuse_no_units(result);
  result.samples = settings.samples;
  tell_progress(hooks, 0, 0, std::nullopt);
  const size_t all = settings.samples * (1 + rows.slices.slices.size());
  size_t done = 0;
  const auto each = [&](size_t) {
    check_stopped(hooks);
    ++done;
    tell_progress(hooks, done, 0, static_cast<double>(done) / static_cast<double>(all));
  };
  const BootstrapRules rules{.samples = settings.samples, .seed = settings.seed, .each = each};
  result.metrics = evaluate(evaluation, rules);
  result.sliced_rows = rows.slices.rows;
  result.without_slice = rows.slices.without;
  for (const RowSlice& slice : rows.slices.slices)
    result.slices.push_back({slice.value, slice.rows, evaluate(evaluation, slice.units, rules)});
  return result;
}

}  // namespace deberta

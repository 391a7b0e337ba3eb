// Joins predictions in the order of the files, and computes each metric's mean and deviation over the folds.
#include "train/report/folds.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/file.h"
#include "base/json.h"
#include "base/output_file.h"
#include "deberta/error.h"
#include "train/report/predictions.h"
#include "train/report/run_record.h"
#include "train/state/run_folder.h"
#include "train/state/trainer_state.h"

namespace deberta::train {
namespace {

// The file and the line of "train.csv:12", which are sorted as such.
std::tuple<std::string_view, uint64_t, std::string_view> position_of(const std::string& where) {
  const std::string_view all = where;
  const size_t colon = all.find(':'), end = std::min(all.find(':', std::min(colon, all.size() - 1) + 1), all.size());
  if (colon == std::string_view::npos) return {all, 0, ""};
  const std::optional<uint64_t> line = parse_number<uint64_t>(all.substr(colon + 1, end - colon - 1));
  return {all.substr(0, colon), line.value_or(0), all.substr(colon + 1)};
}

void join_predictions(const std::string& folder, size_t folds) {
  PredictedRows all;
  for (size_t number = 1; number <= folds; ++number) {
    const std::string path = folder + "/" + fold_name(number, folds) + "/" + kPredictionsName;
    if (!is_regular_file(path)) return;  // a task whose answers are not written
    PredictedRows fold = load_predictions(path);
    all.kind = fold.kind;
    all.scores = fold.scores;
    std::ranges::move(fold.rows, std::back_inserter(all.rows));
  }
  std::ranges::stable_sort(all.rows, {}, [](const PredictedRow& row) { return position_of(row.where); });
  const auto twice = std::ranges::adjacent_find(all.rows, {}, &PredictedRow::where);
  if (twice != all.rows.end())
    throw Error(ErrorCode::kInput, folder,
                "expected folds of the same files, got two with answers to " + twice->where + "; run the folds again");
  write_predictions(folder + "/" + kOutOfFoldName, all);
}

JsonObject results_of(const std::vector<Json>& results) {
  JsonObject joined{{"folds", static_cast<uint64_t>(results.size())}};
  for (const auto& [name, first] : results.front().as_object()) {
    if (!name.starts_with("eval_")) continue;
    std::vector<double> values;
    JsonArray shown;
    for (const Json& result : results) {
      const Json* value = result.find(name);
      values.push_back(value == nullptr ? NAN : parse_json_number(*value).value_or(NAN));
      shown.push_back(to_json_number(values.back()));
    }
    const auto count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0;
    for (const double value : values) squares += std::pow(value - mean, 2);
    joined.emplace_back(name, to_json_number(mean));
    joined.emplace_back(name + "_std", to_json_number(std::sqrt(squares / (count - 1))));
    joined.emplace_back(name + "_by_fold", std::move(shown));
  }
  return joined;
}

}  // namespace

void check_same_folds(const std::string& folder, size_t number, size_t folds,
                      const std::map<std::string, std::string>& options) {
  const std::vector<Remedy> remedies = {{"name another folder with {}", "output_dir"}};
  if (is_regular_file(folder + "/" + kMetricsName))
    throw Error(ErrorCode::kUsage, {{.message = "expected a folder without a run of its own, got " + folder,
                                     .argument = "fold",
                                     .remedies = remedies}});
  for (size_t other = 1; other <= folds; ++other) {
    const std::string fold_folder = folder + "/" + fold_name(other, folds);
    if (other == number || !is_regular_file(fold_folder + "/" + kMetricsName)) continue;
    const RunRecord record = load_run_record(fold_folder);
    if (!record.state) continue;
    for (const auto& [name, value] : record.state->options) {
      const auto option = options.find(name);
      if (name == "fold" || option == options.end() || option->second == value) continue;
      const auto shown = [](const std::string& text) { return text.empty() ? "none" : text; };
      throw Error(ErrorCode::kUsage, {{.message = name + ": expected " + shown(value) + " as in " + fold_folder +
                                                  ", got " + shown(option->second),
                                       .argument = "fold",
                                       .remedies = remedies}});
    }
  }
}

std::string fold_name(size_t number, size_t folds) {
  return "fold-" + std::to_string(number) + "-of-" + std::to_string(folds);
}

size_t join_folds(const std::string& folder, size_t folds) {
  std::vector<Json> results;
  for (size_t number = 1; number <= folds; ++number) {
    const std::string path = folder + "/" + fold_name(number, folds) + "/" + kResultsName;
    if (!is_regular_file(path)) continue;
    Json result = load_json(path);
    if (result.find("out_of_time") == nullptr)
      results.push_back(std::move(result));  // otherwise the run may be resumed
  }
  if (results.size() < folds) return folds - results.size();
  join_predictions(folder, folds);
  const std::string text = Json(results_of(results)).dump(2) + "\n";
  write_output_file(folder + "/" + kResultsName, [&](FileWriter& file) { file.write(text); });
  return 0;
}

}  // namespace deberta::train

// Puts the run's numbers under the keys of train_results.json, eval_results.json and trainer_state.json.
#include "train/report/result_files.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "train/state/checkpoint_folder.h"

namespace deberta::train {
namespace {

Json option_number(const RunRecord& record, const std::string& name) {
  const std::optional<int64_t> number = parse_number<int64_t>(record.option(name));
  return number ? Json(*number) : Json();
}

Json to_json(const LoggedLine& line) {
  JsonObject object{{"step", line.step}};
  for (const auto& [name, value] : line.metrics) object.emplace_back(name, to_json_number(value));
  return object;
}

}  // namespace

Json train_results(const RunRecord& record) {
  JsonObject results;
  for (const auto& [name, value] : record.results->as_object()) {
    if (!name.starts_with(kEvaluation)) results.emplace_back(name, value);
  }
  if (const auto loss = record.last_value("loss")) results.emplace_back("train_loss", to_json_number(*loss));
  const auto samples = record.last_value("samples");
  if (samples) results.emplace_back("train_samples", static_cast<int64_t>(*samples));
  return results;
}

Json evaluation_results(const RunRecord& record) {
  JsonObject results;
  for (const auto& [name, value] : record.results->as_object()) {
    if (name.starts_with(kEvaluation)) results.emplace_back(name, value);
  }
  return results;
}

Json trainer_state(const RunRecord& record) {
  const std::optional<BestMetric> best = record.state ? record.state->best : std::nullopt;
  JsonArray history;
  for (const LoggedLine& line : record.log) history.push_back(to_json(line));
  const auto epoch = record.last_value("epoch");
  return JsonObject{{"best_global_step", best ? Json(best->step) : Json()},
                    {"best_metric", best ? to_json_number(best->value) : Json()},
                    {"best_model_checkpoint", best ? Json(checkpoint_name(best->step)) : Json()},
                    {"epoch", epoch ? to_json_number(*epoch) : Json()},
                    {"global_step", record.last_step()},
                    {"is_hyper_param_search", false},
                    {"is_local_process_zero", true},
                    {"is_world_process_zero", true},
                    {"log_history", std::move(history)},
                    {"max_steps", record.state ? record.state->total_steps : record.last_step()},
                    {"num_input_tokens_seen", record.state ? record.state->tokens : int64_t{0}},
                    {"train_batch_size", option_number(record, "batch-size")},
                    {"trial_name", nullptr},
                    {"trial_params", nullptr}};
}

}  // namespace deberta::train

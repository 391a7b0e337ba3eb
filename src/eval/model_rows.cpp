// Joins the reading thread (rows/read_ahead.h) to the function that answers groups of rows.
#include "eval/model_rows.h"

#include <fmt/format.h>

#include <utility>

#include "deberta/error.h"
#include "decode/classification.h"

namespace deberta {

const Pipeline& opened(const OpenModel& open_model) {
  if (!open_model)
    throw Error(ErrorCode::kUsage,
                {{.message = "expected a file or a model that answers, got neither", .argument = "predictions"}});
  return open_model();
}

void run_model_rows(const OpenRows& open, EncodeRow encode, size_t batch_tokens, RowTaker taker,
                    const EvalHooks& hooks) {
  ReadAhead reading(open, {.encode = std::move(encode), .batch_tokens = batch_tokens, .is_stopped = hooks.is_stopped});
  tell_progress(hooks, 0, 0, std::nullopt);
  taker.advance = hooks.on_progress;
  take_rows(reading, taker);
  check_stopped(hooks);
}

std::vector<std::string> class_names(const Pipeline& pipeline, const std::vector<std::string>& label_map) {
  std::vector<std::string> names = label_map.empty() ? pipeline.config.labels : label_map;
  const auto classes = static_cast<size_t>(pipeline.model.labels());
  if (names.empty()) {
    for (size_t i = 0; i < classes; ++i) names.push_back(label_name({}, i));
  }
  if (names.size() != classes)
    throw Error(ErrorCode::kTask,
                {{.message = fmt::format("expected {} names in the model's order, got {}", classes, names.size()),
                  .argument = "label_map"}});
  return names;
}

}  // namespace deberta

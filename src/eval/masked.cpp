#include "eval/masked.h"

#include <utility>
#include <vector>

#include "eval/model_rows.h"
#include "metrics/masked_evaluation.h"
#include "rows/row_input.h"

namespace deberta {

AnsweredRows answer_masked(const TaskRow& task, const MaskedSettings& settings, const OpenModel& open_model,
                           const EvalHooks& hooks) {
  const Pipeline& pipeline = opened(open_model);
  const EncodingRules& rules = settings.sample.rules;
  answer_masked_sample(pipeline, {}, {}, settings.sample);  // refuses a model without the head before any row is read
  EvalResult result;
  result.task = &task;
  std::vector<MaskedOutcome> outcomes;
  const auto fill = [](ExampleFiles&, Example example, Row& row) { row.text = std::move(example.text); };
  const auto answer = [&](std::span<const size_t> numbers, std::span<const Row> rows) {
    for (const MaskedSampleAnswer& each : answer_masked_sample(pipeline, text_inputs(rows), numbers, settings.sample)) {
      outcomes.push_back(each.outcome);
      result.cut.rows += each.cut_tokens > 0;
    }
    result.rows += rows.size();
    for (const Row& row : rows) result.repaired += row.is_repaired;
  };
  const auto refuse = [&](size_t, const Error& error) {
    ++result.rows;
    ++result.failed;
    report_bad_row(hooks, error);
  };
  const OpenRows open = [&](const std::function<bool()>& is_stopped) {
    return settings.held_out ? held_out_rows(*settings.held_out, is_stopped)
                             : example_rows(settings.input, task, is_stopped, fill);
  };
  run_model_rows(open, row_encoder(pipeline.tokenizer, rules), rules.batch_tokens, {.answer = answer, .refuse = refuse},
                 hooks);
  result.cut.of = result.rows;
  result.cut.max_tokens = rules.encode.max_tokens;
  return {.result = std::move(result), .evaluation = make_evaluation(std::move(outcomes), split_words(task.metrics))};
}

}  // namespace deberta

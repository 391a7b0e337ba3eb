// Collects the outcome of every predicted piece; the metrics are computed from these outcomes alone.
#include "eval/language_model.h"

#include <utility>
#include <vector>

#include "eval/model_rows.h"
#include "metrics/piece_evaluation.h"
#include "rows/row_input.h"

namespace deberta {

AnsweredRows answer_language_model(const TaskRow& task, const LanguageModelSettings& settings,
                                   const OpenModel& open_model, const EvalHooks& hooks) {
  const Pipeline& pipeline = opened(open_model);
  const EncodingRules& rules = settings.sample.rules;
  const auto predict = [&](std::span<const TextInput> inputs, std::span<const size_t> numbers) {
    return task.kind == TaskKind::kMasked ? predict_masked_pieces(pipeline, inputs, numbers, settings.sample)
                                          : predict_next_pieces(pipeline, inputs, rules);
  };
  predict({}, {});  // refuses a model without the head before any row is read
  EvalResult result;
  result.task = &task;
  std::vector<PieceOutcome> outcomes;
  const auto fill = [](ExampleFiles&, Example example, Row& row) { row.text = std::move(example.text); };
  const auto answer = [&](std::span<const size_t> numbers, std::span<const Row> rows) {
    for (const PieceAnswer& each : predict(text_inputs(rows), numbers)) {
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
  run_model_rows(open, row_encoder(pipeline.tokenizer, {rules}), rules.batch_tokens,
                 {.answer = answer, .refuse = refuse}, hooks);
  result.cut.of = result.rows;
  result.cut.max_tokens = rules.encode.max_tokens;
  const PredictedPieces predicted = task.kind == TaskKind::kMasked ? PredictedPieces::kMasked : PredictedPieces::kNext;
  return {.result = std::move(result),
          .evaluation = make_evaluation(std::move(outcomes), split_words(task.metrics), predicted)};
}

}  // namespace deberta

// Masked language models: a fixed sample of the pieces of texts, guessed.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "cli/eval_model.h"
#include "cli/eval_run.h"
#include "cli/example_files.h"
#include "options/options.h"
#include "pipeline/masked_sample.h"
#include "program/answers.h"
#include "program/model_options.h"
#include "program/row_loop.h"
#include "rows/row_input.h"

namespace deberta::cli {
namespace {

void refuse_predictions(const Options& options) {
  for (const char* name : {"predictions", "write-predictions"}) {
    if (!options.text(name).empty())
      throw Error(ErrorCode::kUsage, fmt::format("--{}", name), "the task mlm has no predictions in files");
  }
}

std::vector<MaskedOutcome> run_model(const Options& options, const TaskRow& task, EvalResult& result) {
  const Pipeline pipeline = open_model(options);
  warn_of_plain_head(options, pipeline);
  const MaskedSampleRules rules{encoding_rules(options), options.number("mlm-probability"),
                                static_cast<uint64_t>(options.integer("seed"))};
  answer_masked_sample(pipeline, {}, {}, rules);  // refuses a model without the head before any row is read
  std::vector<MaskedOutcome> outcomes;
  size_t cut = 0;
  run_model_rows(
      options,
      [&](const auto& is_stopped) {
        return example_rows(options, task, is_stopped,
                            [](ExampleFiles&, Example example, Row& row) { row.text = std::move(example.text); });
      },
      row_encoder(pipeline.tokenizer, rules.rules),
      {[&](std::span<const size_t> numbers, std::span<const Row> rows) {
         for (const MaskedSampleAnswer& answer : answer_masked_sample(pipeline, text_inputs(rows), numbers, rules)) {
           outcomes.push_back(answer.outcome);
           cut += answer.cut_tokens > 0;
         }
         result.rows += rows.size();
         for (const Row& row : rows) result.repaired += row.is_repaired;
       },
       [&](size_t, const Error& error) {
         ++result.rows;
         ++result.failed;
         report_bad_row(options, error);
       }});
  note_cut_rows(options, cut, result.rows, rules.rules.encode.max_tokens);
  print_check_report(pipeline.model);
  return outcomes;
}

}  // namespace

int eval_masked(const Options& options, const TaskRow& task) {
  refuse_predictions(options);
  EvalResult result;
  result.task = &task;
  std::vector<MaskedOutcome> outcomes = run_model(options, task, result);
  result.metrics = evaluate_all(options, *make_evaluation(std::move(outcomes), split_words(task.metrics)), result);
  return finish(options, result);
}

}  // namespace deberta::cli

// What all verbs that answer texts with a model share: rows to inputs, results to answers, the kernel check report.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "options/verb_options.h"
#include "program/model_options.h"
#include "program/row_loop.h"
#include "rows/row_input.h"

namespace deberta::program {

// `answer` turns inputs into as many results, and `to_answer(row, result)` each of them into what is printed; `encode`
// makes the sequences of a row. Returns the exit code.
template <class AnswerTexts, class ToAnswer>
int run_text_verb(const TextVerb& options, const RowReading& reading, const Pipeline& pipeline,
                  const AnswerColumns& columns, const AnswerTexts& answer, const ToAnswer& to_answer,
                  const EncodeRow& encode, const NoteCut& note_cut = {}) {
  answer(std::span<const TextInput>());  // refuses a model without the head before any row is read
  const auto is_unknown = unknown_ids(pipeline.tokenizer);
  size_t unknown = 0;  // rows
  const EncodeRow counting = [&](const Row& row) {
    std::vector<Encoding> encodings = encode(row);
    unknown += are_mostly_unknown(encodings, is_unknown);
    return encodings;
  };
  const auto answer_rows = [&](std::span<const Row> rows) {
    const std::vector<TextInput> inputs = text_inputs(rows);
    const auto results = answer(inputs);
    std::vector<RowAnswer> answers;
    for (size_t i = 0; i < rows.size(); ++i) answers.push_back(to_answer(rows[i], results[i]));
    return answers;
  };
  const int code = run_rows(options, reading, columns, answer_rows, encode ? counting : encode, note_cut);
  note_unknown_rows(unknown);
  print_check_report(pipeline.model);
  return code;
}

// For tasks that run one sequence per input.
template <class AnswerTexts, class ToAnswer>
int run_text_verb(const TextVerb& options, const RowReading& reading, const Pipeline& pipeline,
                  const AnswerColumns& columns, const AnswerTexts& answer, const ToAnswer& to_answer) {
  return run_text_verb(options, reading, pipeline, columns, answer, to_answer,
                       row_encoder(pipeline.tokenizer, {encoding_rules(options.encoding)}));
}

}  // namespace deberta::program

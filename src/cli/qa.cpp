// The verb `qa`: where in a context the answer to a question is.
#include <fmt/core.h>

#include "cli/verbs.h"
#include "deberta/pipeline.h"
#include "decode/offset_units.h"
#include "pipeline/answer_json.h"
#include "program/note.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

QuestionOptions question_options(const QaVerb& options) {
  QuestionOptions settings;
  settings.rules = program::encoding_rules(options.encoding);
  settings.top_k = options.top_k;
  settings.max_answer_tokens = options.max_answer_len;
  settings.max_question_tokens = options.max_question_len;
  settings.aligns_to_words = options.align == AnswerEnds::kWords;
  settings.allows_none = options.allow_no_answer || options.no_answer_threshold.is_given();
  if (options.no_answer_threshold.is_given())
    settings.null_threshold = static_cast<float>(options.no_answer_threshold.value);
  settings.as_transformers = options.model.compat == Compat::kHf;
  return settings;
}

program::RowAnswer to_answer(const Row& row, const QuestionAnswer& result, const QaVerb& options) {
  const std::string context = row.pair.value_or("");
  program::RowAnswer answer{
      {to_json(result, context, options.offsets, options.top_k > 1), {}}, result.tokens, result.cut_tokens};
  const OffsetUnits units(options.offsets, context);
  for (const SpanAnswer& span_answer : spans_of(result)) {
    const Offset span = units.convert(span_answer.chars, span_answer.bytes);
    answer.answer.lines.push_back({span_answer.text, program::cell(span_answer.score),
                                   program::cell(uint64_t{span.begin}), program::cell(uint64_t{span.end})});
  }
  return answer;
}

}  // namespace

int run(const QaVerb& options) {
  const QuestionOptions settings = question_options(options);
  program::RowReading reading = program::reading_of(options);
  reading.shape = {{"question", "context"}, false, true};
  const Pipeline pipeline = program::open_model(options.model);
  return program::run_text_verb(
      options, reading, pipeline, {std::vector<std::string>{"answer", "score", "start", "end"}, settings.top_k > 1},
      [&](std::span<const TextInput> inputs) { return qa(pipeline, inputs, settings); },
      [&](const Row& row, const QuestionAnswer& result) { return to_answer(row, result, options); },
      row_encoder(pipeline.tokenizer, settings.sequence_rules()),
      [&](size_t cut, size_t rows) {  // contexts are never cut
        program::note(fmt::format("note: {} of {} questions cut to {} tokens (--max-question-len)", cut, rows,
                                  options.max_question_len));
      });
}

}  // namespace deberta::cli

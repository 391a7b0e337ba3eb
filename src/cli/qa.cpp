// The verb `qa`: where a context answers a question.
#include "cli/offsets.h"
#include "cli/verbs.h"
#include "deberta/pipeline.h"
#include "options/options.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

QuestionOptions question_options(const Options& options) {
  QuestionOptions settings;
  settings.rules = encoding_rules(options);
  settings.top_k = static_cast<size_t>(options.integer("top-k"));
  settings.max_answer_tokens = static_cast<size_t>(options.integer("max-answer-len"));
  settings.max_question_tokens = static_cast<size_t>(options.integer("max-question-len"));
  settings.aligns_to_words = options.text("align") == "words";
  settings.allows_none = options.flag("allow-no-answer") || options.is_given("no-answer-threshold");
  if (options.is_given("no-answer-threshold"))
    settings.null_threshold = static_cast<float>(options.number("no-answer-threshold"));
  settings.as_transformers = options.text("compat") == "hf";
  return settings;
}

JsonObject to_object(const SpanAnswer& answer, const Offset& span) {
  return {{"answer", answer.text}, {"score", answer.score}, {"start", int64_t{span.begin}}, {"end", int64_t{span.end}}};
}

// A context without tokens has no span: no answer.
RowAnswer to_answer(const Row& row, const QuestionAnswer& result, const Options& options) {
  RowAnswer answer{{}, result.tokens, result.cut_tokens};
  const OffsetUnits units(options.text("offsets"), row.pair.value_or(""));
  std::vector<SpanAnswer> answers = result.answers;
  if (answers.empty()) answers.push_back({{}, result.null_score, result.null_logit, {}, {}});
  JsonArray objects;
  for (const SpanAnswer& one : answers) {
    const Offset span = units.convert(one.chars, one.bytes);
    answer.answer.lines.push_back({one.text, cell(one.score), cell(uint64_t{span.begin}), cell(uint64_t{span.end})});
    objects.push_back(to_object(one, span));
  }
  answer.answer.object = objects.front().as_object();
  if (options.integer("top-k") > 1) answer.answer.object.emplace_back("answers", std::move(objects));
  return answer;
}

}  // namespace

int run_qa(const Options& options) {
  const QuestionOptions settings = question_options(options);
  const Pipeline pipeline = open_model(options);
  qa(pipeline, {}, settings);  // refuses a model without the head before any row is read
  return run_text_verb(
      options, pipeline, {std::vector<std::string>{"answer", "score", "start", "end"}, settings.top_k > 1},
      [&](std::span<const TextInput> inputs) { return qa(pipeline, inputs, settings); },
      [&](const Row& row, const QuestionAnswer& result) { return to_answer(row, result, options); },
      row_encoder(pipeline.tokenizer, settings));
}

}  // namespace deberta::cli

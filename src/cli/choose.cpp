// The verb `choose`: which of several choices fits a context and a question.
#include <algorithm>

#include "base/ascii.h"
#include "cli/verbs.h"
#include "deberta/pipeline.h"
#include "pipeline/answer_json.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

program::RowAnswer to_answer(const Row& row, const ChoiceAnswer& result) {
  program::Cells cells{program::cell(uint64_t{result.index}), program::cell(result.scores[result.index]),
                       row.items[result.index]};
  program::RowAnswer answer{{to_json(result, row.items), {std::move(cells)}}, result.tokens, result.cut_tokens};
  answer.answer.is_of_empty_text = std::ranges::any_of(row.items, is_white);
  return answer;
}

}  // namespace

int run(const ChooseVerb& options) {
  const ChoiceOptions settings{program::encoding_rules(options.encoding), options.form};
  program::RowReading reading = program::reading_of(options);
  reading.shape = {{"context", "question", "choices"}, true, true};
  reading.shape.published_names = {{"sent1", "sent2", "ending0", "ending1", "ending2", "ending3"}};  // SWAG
  const Pipeline pipeline = program::open_model(options.model);
  return program::run_text_verb(
      options, reading, pipeline, {"index", "score", "choice"},
      [&](std::span<const TextInput> inputs) { return choose(pipeline, inputs, settings); }, to_answer,
      row_encoder(pipeline.tokenizer, settings.sequence_rules()));
}

}  // namespace deberta::cli

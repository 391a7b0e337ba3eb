// The verb `choose`: which of several choices goes with a context and a question.
#include "cli/verbs.h"
#include "deberta/pipeline.h"
#include "options/options.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

ChoiceOptions choice_options(const Options& options) {
  const std::string& form = options.text("form");
  return {encoding_rules(options), form == "plain"  ? ChoiceForm::kPlain
                                   : form == "copa" ? ChoiceForm::kCopa
                                                    : ChoiceForm::kRace};
}

RowAnswer to_answer(const Row& row, const ChoiceAnswer& result) {
  const std::string& choice = row.items[result.index];
  Cells cells{cell(uint64_t{result.index}), cell(result.scores[result.index]), choice};
  JsonObject object{{"index", uint64_t{result.index}},
                    {"choice", choice},
                    {"scores", JsonArray(result.scores.begin(), result.scores.end())}};
  return {{std::move(object), {std::move(cells)}}, result.tokens, result.cut_tokens};
}

}  // namespace

int run_choose(const Options& options) {
  const ChoiceOptions settings = choice_options(options);
  const Pipeline pipeline = open_model(options);
  choose(pipeline, {}, settings);  // refuses a model without the head before any row is read
  return run_text_verb(
      options, pipeline, {"index", "score", "choice"},
      [&](std::span<const TextInput> inputs) { return choose(pipeline, inputs, settings); }, to_answer,
      row_encoder(pipeline.tokenizer, settings));
}

}  // namespace deberta::cli

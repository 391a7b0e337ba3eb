// The verb `score`: how probable a masked language model finds a text.
#include "cli/verbs.h"
#include "deberta/pipeline.h"
#include "pipeline/answer_json.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

program::RowAnswer to_answer(const Row& row, const TextScoreAnswer& result, const Tokenizer& tokenizer,
                             const ScoreVerb& options) {
  const auto number = [](double value) { return static_cast<float>(value); };
  program::Cells cells{program::cell(number(result.perplexity)), program::cell(number(result.word_perplexity)),
                       program::cell(number(result.log_probability)), program::cell(uint64_t{result.pieces.size()})};
  JsonObject object = to_json(result);
  if (options.tokens) object.emplace_back("tokens", to_json(result.pieces, row.text, options.offsets, tokenizer));
  return {{std::move(object), {std::move(cells)}}, result.tokens, result.cut_tokens};
}

}  // namespace

int run(const ScoreVerb& options) {
  const EncodingRules rules = program::encoding_rules(options.encoding);
  const Pipeline pipeline = program::open_model(options.model);
  program::warn_of_plain_head(options.model, pipeline);
  return program::run_text_verb(
      options, program::reading_of(options), pipeline, {"perplexity", "word_perplexity", "log_probability", "pieces"},
      [&](std::span<const TextInput> inputs) { return score_text(pipeline, inputs, rules); },
      [&](const Row& row, const TextScoreAnswer& result) {
        return to_answer(row, result, pipeline.tokenizer, options);
      });
}

}  // namespace deberta::cli

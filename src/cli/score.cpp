// The verb `score`: how probable a masked language model finds a text.
#include "cli/offsets.h"
#include "cli/verbs.h"
#include "deberta/pipeline.h"
#include "options/options.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

JsonArray token_list(const Row& row, const TextScoreAnswer& result, const Tokenizer& tokenizer,
                     const std::string& unit) {
  const OffsetUnits units(unit, row.text);
  JsonArray tokens;
  for (const TextScoreAnswer::Token& piece : result.pieces) {
    const Offset span = units.convert(piece.chars, piece.bytes);
    tokens.push_back(JsonObject{{"piece", std::string(tokenizer.piece(piece.token))},
                                {"token", int64_t{piece.token}},
                                {"log_probability", piece.log_probability},
                                {"start", int64_t{span.begin}},
                                {"end", int64_t{span.end}}});
  }
  return tokens;
}

RowAnswer to_answer(const Row& row, const TextScoreAnswer& result, const Tokenizer& tokenizer, const Options& options) {
  const auto number = [](double value) { return static_cast<float>(value); };
  const uint64_t pieces = result.pieces.size();
  Cells cells{cell(number(result.perplexity)), cell(number(result.word_perplexity)),
              cell(number(result.log_probability)), cell(pieces)};
  JsonObject object{{"perplexity", number(result.perplexity)},
                    {"word_perplexity", number(result.word_perplexity)},
                    {"log_probability", number(result.log_probability)},
                    {"pieces", pieces}};
  if (options.flag("tokens"))
    object.emplace_back("tokens", token_list(row, result, tokenizer, options.text("offsets")));
  return {{std::move(object), {std::move(cells)}}, result.tokens, result.cut_tokens};
}

}  // namespace

int run_score(const Options& options) {
  const EncodingRules rules = encoding_rules(options);
  const Pipeline pipeline = open_model(options);
  warn_of_plain_head(options, pipeline);
  score_text(pipeline, {}, rules);  // refuses a model without the head before any row is read
  return run_text_verb(
      options, pipeline, {"perplexity", "word_perplexity", "log_probability", "pieces"},
      [&](std::span<const TextInput> inputs) { return score_text(pipeline, inputs, rules); },
      [&](const Row& row, const TextScoreAnswer& result) {
        return to_answer(row, result, pipeline.tokenizer, options);
      });
}

}  // namespace deberta::cli

// The verb `detect`: which pieces of a text look as if they had been replaced.
#include "cli/offsets.h"
#include "cli/text_verb.h"
#include "cli/verbs.h"
#include "deberta/pipeline.h"

namespace deberta::cli {
namespace {

RowAnswer to_answer(const Row& row, const ReplacedAnswer& result, const Options& options) {
  RowAnswer answer{{}, result.tokens, result.cut_tokens};
  const OffsetUnits units(options.text("offsets"), row.text);
  const double threshold = options.number("threshold");
  JsonArray tokens;
  for (const ReplacedToken& piece : result.pieces) {
    const Offset span = units.convert(piece.chars, piece.bytes);
    const bool is_replaced = piece.score >= threshold;
    answer.answer.lines.push_back({piece.piece, cell(piece.score), is_replaced ? "yes" : "no",
                                   cell(uint64_t{span.begin}), cell(uint64_t{span.end})});
    tokens.push_back(JsonObject{{"piece", piece.piece},
                                {"token", int64_t{piece.token}},
                                {"score", piece.score},
                                {"logit", piece.logit},
                                {"replaced", is_replaced},
                                {"start", int64_t{span.begin}},
                                {"end", int64_t{span.end}}});
  }
  answer.answer.object = {{"tokens", std::move(tokens)}};
  return answer;
}

}  // namespace

int run_detect(const Options& options) {
  const EncodingRules rules = encoding_rules(options);
  const ModelDirectory directory = open_model(options);
  detect(directory, {}, rules);  // refuses a model without the head before any row is read
  return run_text_verb(
      options, directory, {"piece", "score", "replaced", "start", "end"},
      [&](std::span<const TextInput> inputs) { return detect(directory, inputs, rules); },
      [&](const Row& row, const ReplacedAnswer& result) { return to_answer(row, result, options); });
}

}  // namespace deberta::cli

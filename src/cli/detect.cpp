// The verb `detect`: which pieces of a text look as if they had been replaced.
#include "cli/filter.h"
#include "cli/model_options.h"
#include "cli/offsets.h"
#include "cli/verbs.h"
#include "heads/replaced.h"

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
  detect_replaced(directory, {}, rules);  // refuses a model without the head before any row is read
  const int code = run_rows(options, {"piece", "score", "replaced", "start", "end"}, [&](std::span<const Row> rows) {
    const auto inputs = text_inputs(rows);
    const auto results = detect_replaced(directory, inputs, rules);
    std::vector<RowAnswer> answers;
    for (size_t i = 0; i < rows.size(); ++i) answers.push_back(to_answer(rows[i], results[i], options));
    return answers;
  });
  print_check_report(directory.model);
  return code;
}

}  // namespace deberta::cli

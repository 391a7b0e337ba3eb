// The figures of all heads, for a text of any length.
#include "analysis/explanation.h"
#include "analysis/heads_figure.h"
#include "cli/figure_maker.h"
#include "cli/heads_page.h"
#include "pipeline/encodings.h"
#include "program/model_options.h"
#include "rows/row_input.h"

namespace deberta::cli {

FigureMaker open_heads(const AnalyzeVerb& options) {
  const auto pipeline = open_shared(options);
  const EncodingRules rules = program::encoding_rules(options.encoding);
  const auto make = [pipeline, rules](const Row& row) {
    const Encoding encoding = encode_one(pipeline->tokenizer, text_input(row), rules);
    const AttentionTerms terms = attention_terms(pipeline->model, encoding);
    check_finite(terms);
    return MadeFigure{heads_figure(head_figures(terms)), encoding.size(), encoding.cut_tokens};
  };
  return {make, row_encoder(pipeline->tokenizer, {rules}), pipeline,
          [pipeline, &options](const Row& row) { return heads_page(options, *pipeline, row); }};
}

}  // namespace deberta::cli

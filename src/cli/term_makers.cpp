// Figures of the terms of attention: one pass over the text with its scores kept.
#include <utility>

#include "analysis/explanation.h"
#include "analysis/term_figures.h"
#include "cli/figure_maker.h"
#include "deberta/error.h"
#include "program/model_options.h"
#include "rows/row_input.h"

namespace deberta::cli {
namespace {

// A text with its terms.
struct ReadText {
  Encoding encoding;
  std::vector<std::string> pieces;
  AttentionTerms terms;
};

// `draw(row, text)` makes the figure of a text with the terms of these layers; none: of all.
template <class Draw>
FigureMaker maker_of_terms(const AnalyzeVerb& options, const std::shared_ptr<const Pipeline>& pipeline,
                           const std::vector<int32_t>& layers, const Draw& draw) {
  const EncodingRules rules = program::encoding_rules(options.encoding);
  const auto make = [pipeline, rules, layers, draw](const Row& row) {
    ReadText text{.encoding = encode_shown(pipeline->tokenizer, row, rules), .pieces = {}, .terms = {}};
    text.pieces = pieces_of(pipeline->tokenizer, text.encoding);
    text.terms = attention_terms(pipeline->model, text.encoding, layers);
    check_finite(text.terms);
    return MadeFigure{draw(row, text), text.encoding.size(), text.encoding.cut_tokens};
  };
  return {make, row_encoder(pipeline->tokenizer, {rules}), pipeline};
}

}  // namespace

FigureMaker open_matrices(const AnalyzeVerb& options) {
  const auto pipeline = open_shared(options);
  const TermChoice choice{.head = chosen_head(options, pipeline->config)};
  return maker_of_terms(
      options, pipeline, {layer_or_last(options, pipeline->config)}, [choice](const Row&, const ReadText& text) {
        return term_figure(
            {.title = "the terms of attention", .places = layer_places(text.terms, text.pieces, choice)});
      });
}

FigureMaker open_quantiles(const AnalyzeVerb& options) {
  const auto pipeline = open_shared(options);
  const std::optional<size_t> head = chosen_head(options, pipeline->config);
  return maker_of_terms(options, pipeline, layer_or_all(options, pipeline->config),
                        [head](const Row&, const ReadText& text) {
                          std::vector<HeadQuantiles> all = term_quantiles(text.terms);
                          std::erase_if(all, [&](const HeadQuantiles& one) { return head && one.head != *head; });
                          return quantile_figure(std::move(all));
                        });
}

FigureMaker open_pair(const AnalyzeVerb& options) {
  const WordPair words = chosen_pair(options);
  const auto pipeline = open_shared(options);
  const std::optional<size_t> head = chosen_head(options, pipeline->config);
  return maker_of_terms(
      options, pipeline, layer_or_all(options, pipeline->config),
      [pipeline, words, head](const Row& row, const ReadText& text) {
        TermChoice choice = words.find(pipeline->tokenizer, text.encoding, texts_of(row));
        choice.head = head;
        return term_figure({.title = words.title(), .places = head_places(text.terms, text.pieces, choice)});
      });
}

}  // namespace deberta::cli

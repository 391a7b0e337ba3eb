// Figures of the mask decoder: masks predicted with it and without, its passes, words at masks.
#include <fmt/format.h>

#include <utility>

#include "analysis/decoder_figures.h"
#include "analysis/explanation.h"
#include "analysis/mask_decoder.h"
#include "analysis/term_figures.h"
#include "cli/figure_maker.h"
#include "deberta/error.h"
#include "program/model_options.h"
#include "rows/row_input.h"

namespace deberta::cli {
namespace {

// The text of a mask is the mask, whatever other special tokens in texts are.
EncodingRules mask_rules(const AnalyzeVerb& options) {
  EncodingRules rules = program::encoding_rules(options.encoding);
  rules.encode.parse_mask = true;
  return rules;
}

std::shared_ptr<const Pipeline> open_with_decoder(const AnalyzeVerb& options) {
  auto pipeline = open_shared(options);
  check_mask_decoder(pipeline->model);
  return pipeline;
}

}  // namespace

FigureMaker open_predictions(const AnalyzeVerb& options) {
  const auto pipeline = open_with_decoder(options);
  const EncodingRules rules = mask_rules(options);
  const auto make = [pipeline, rules, top_k = options.figures.top_k.value,
                     shift = options.figures.shift.value](const Row& row) {
    const Encoding encoding = encode_shown(pipeline->tokenizer, row, rules);
    DecoderEffect effect = decoder_effect(pipeline->model, encoding, pipeline->tokenizer.special().mask, shift);
    return MadeFigure{prediction_figure(std::move(effect), pipeline->tokenizer, top_k), encoding.size(),
                      encoding.cut_tokens};
  };
  return {make, row_encoder(pipeline->tokenizer, {rules}), pipeline};
}

FigureMaker open_passes(const AnalyzeVerb& options) {
  const auto pipeline = open_with_decoder(options);
  const EncodingRules rules = mask_rules(options);
  const std::optional<int32_t> pass = chosen_layer(options, pipeline->config.mask_decoder_passes);
  const TermChoice choice{.head = chosen_head(options, pipeline->config)};
  const auto make = [pipeline, rules, pass, choice](const Row& row) {
    const Encoding encoding = encode_shown(pipeline->tokenizer, row, rules);
    AttentionTerms terms = decoder_terms(pipeline->model, encoding);
    check_finite(terms);
    std::erase_if(terms.layers, [&](const LayerTerms& one) { return pass && one.layer != *pass; });
    return MadeFigure{term_figure({.title = "attention in the passes of the mask decoder",
                                   .place = "pass",
                                   .places = layer_places(terms, pieces_of(pipeline->tokenizer, encoding), choice)}),
                      encoding.size(), encoding.cut_tokens};
  };
  return {make, row_encoder(pipeline->tokenizer, {rules}), pipeline};
}

FigureMaker open_words(const AnalyzeVerb& options) {
  if (options.figures.words.value.empty())
    throw Error(ErrorCode::kUsage, "--words", "expected words for the masks of the text, got none");
  const auto pipeline = open_with_decoder(options);
  const EncodingRules rules = mask_rules(options);
  const auto make = [pipeline, rules, words = options.figures.words.value](const Row& row) {
    const Encoding encoding = encode_shown(pipeline->tokenizer, row, rules);
    return MadeFigure{
        filling_figure(word_fillings(pipeline->model, pipeline->tokenizer, row.text, words, {.encode = rules.encode})),
        encoding.size(), encoding.cut_tokens};
  };
  return {make, row_encoder(pipeline->tokenizer, {rules}), pipeline};
}

}  // namespace deberta::cli

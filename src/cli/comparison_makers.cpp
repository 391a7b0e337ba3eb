// Comparisons: the same text in several models, or two texts in one.
#include <fmt/format.h>

#include <utility>

#include "analysis/explanation.h"
#include "analysis/same_pieces.h"
#include "analysis/term_figures.h"
#include "cli/figure_maker.h"
#include "deberta/error.h"
#include "program/model_options.h"

namespace deberta::cli {
namespace {

struct Side {
  std::string name;
  std::shared_ptr<const Pipeline> pipeline;
};

// The models of -m and --with; all of them read the same pieces, and have the layer and the head that are shown.
std::vector<Side> open_sides(const AnalyzeVerb& options) {
  std::vector<Side> sides{{options.model.name, open_shared(options)}};
  for (const std::string& name : options.figures.with.value) {
    sides.push_back({name, open_named(options, name)});
    check_same_pieces(sides.front().pipeline->tokenizer, options.model.name, sides.back().pipeline->tokenizer, name);
  }
  for (const Side& side : sides) {
    chosen_layer(options, side.pipeline->config.num_hidden_layers);
    chosen_head(options, side.pipeline->config);
  }
  return sides;
}

// A text, and the model that reads it.
struct SideText {
  std::string name;
  const Pipeline* pipeline = nullptr;
  Row row;
};

std::vector<SideText> texts_of_sides(const std::vector<Side>& sides, const Row& row) {
  std::vector<SideText> texts;
  if (sides.size() > 1) {
    for (const Side& side : sides) texts.push_back({side.name, side.pipeline.get(), row});
    return texts;
  }
  for (const std::string& text : {row.text, row.pair.value_or("")}) {
    Row one;
    one.text = text;
    texts.push_back({fmt::format("text {}", texts.size() + 1), sides.front().pipeline.get(), std::move(one)});
  }
  return texts;
}

// What is shown of each side: `layers(config)` of them, and `places(text, encoding, terms)`.
template <class Layers, class Places>
FigureMaker maker_of_sides(const AnalyzeVerb& options, const TermMatrices& empty, const Layers& layers,
                           const Places& places) {
  const std::vector<Side> sides = open_sides(options);
  if (sides.size() == 1 && options.pair)
    throw Error(ErrorCode::kUsage, "--pair", "expected --with as well: without it two texts are compared, got pairs");
  const EncodingRules rules = program::encoding_rules(options.encoding);
  const auto make = [sides, rules, empty, layers, places](const Row& row) {
    MadeFigure made;
    TermMatrices matrices = empty;
    for (const SideText& text : texts_of_sides(sides, row)) {
      const Encoding encoding = encode_shown(text.pipeline->tokenizer, text.row, rules);
      const AttentionTerms terms = attention_terms(text.pipeline->model, encoding, layers(text.pipeline->config));
      check_finite(terms);
      for (TermPlace& place : places(text, encoding, terms)) {
        place.side = text.name;
        matrices.places.push_back(std::move(place));
      }
      made.tokens += encoding.size();
      made.cut_tokens += encoding.cut_tokens;
    }
    made.figure = term_figure(std::move(matrices));
    return made;
  };
  return {.make = make, .pipeline = sides.front().pipeline, .reads_two_texts = sides.size() == 1};
}

}  // namespace

FigureMaker open_compared_weights(const AnalyzeVerb& options) {
  const TermMatrices empty{
      .title = "attention side by side", .has_sides = true, .draws_weights_only = true, .places = {}};
  return maker_of_sides(
      options, empty,
      [&options](const ModelConfig& config) { return std::vector<int32_t>{layer_or_last(options, config)}; },
      [&options](const SideText& text, const Encoding& encoding, const AttentionTerms& terms) {
        return layer_places(terms, pieces_of(text.pipeline->tokenizer, encoding),
                            {.head = chosen_head(options, text.pipeline->config)});
      });
}

FigureMaker open_compared_pair(const AnalyzeVerb& options) {
  const WordPair words = chosen_pair(options);
  const TermMatrices empty{.title = words.title(), .has_sides = true, .places = {}};
  return maker_of_sides(
      options, empty, [&options](const ModelConfig& config) { return layer_or_all(options, config); },
      [&options, words](const SideText& text, const Encoding& encoding, const AttentionTerms& terms) {
        TermChoice choice = words.find(text.pipeline->tokenizer, encoding, texts_of(text.row));
        choice.head = chosen_head(options, text.pipeline->config);
        return head_places(terms, pieces_of(text.pipeline->tokenizer, encoding), choice);
      });
}

}  // namespace deberta::cli

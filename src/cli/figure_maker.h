// What makes the figures of `analyze`: opened once, then called for each row. Each kind has a function that opens it,
// in the file of its part: heads, terms, positions and tables, decoder, replaced tokens, comparisons.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figure.h"
#include "analysis/term_figures.h"
#include "analysis/token_labels.h"
#include "deberta/analysis.h"
#include "deberta/pipeline.h"
#include "options/verb_options.h"
#include "rows/read_ahead.h"
#include "rows/row.h"

namespace deberta::cli {

struct MadeFigure {
  Figure figure;
  size_t tokens = 0, cut_tokens = 0;
};

struct FigureMaker {
  std::function<MadeFigure(const Row& row)> make;  // a figure that shows no text is called with an empty row
  EncodeRow encode = {};                           // for rows that are read ahead
  std::shared_ptr<const Pipeline> pipeline = {};   // whose kernels may have been checked
  // HTML of its own in place of the figure's picture and lines; none: it has none.
  std::function<std::string(const Row& row)> page = {};
  bool reads_two_texts = false;  // a row has two texts, each by itself
};

// ---- the kinds

FigureMaker open_heads(const AnalyzeVerb& options);
FigureMaker open_matrices(const AnalyzeVerb& options);
FigureMaker open_quantiles(const AnalyzeVerb& options);
FigureMaker open_pair(const AnalyzeVerb& options);
FigureMaker open_index(const AnalyzeVerb& options);
FigureMaker open_buckets(const AnalyzeVerb& options);
FigureMaker open_cosines(const AnalyzeVerb& options);
FigureMaker open_query(const AnalyzeVerb& options);
FigureMaker open_angles(const AnalyzeVerb& options);
FigureMaker open_predictions(const AnalyzeVerb& options);
FigureMaker open_passes(const AnalyzeVerb& options);
FigureMaker open_words(const AnalyzeVerb& options);
FigureMaker open_walk(const AnalyzeVerb& options);
FigureMaker open_compared_weights(const AnalyzeVerb& options);
FigureMaker open_compared_pair(const AnalyzeVerb& options);

// ---- what they share

// The model of -m, or another one with the same options.
std::shared_ptr<const Pipeline> open_shared(const AnalyzeVerb& options);
std::shared_ptr<const Pipeline> open_named(const AnalyzeVerb& options, const std::string& name);
Checkpoint open_checkpoint(const AnalyzeVerb& options);

// What --layer and --head name: the number of a layer, from 1, and the index of a head, from 0; none: auto. Throw
// kUsage for what the model does not have.
std::optional<int32_t> chosen_layer(const AnalyzeVerb& options, int64_t layers);
std::optional<size_t> chosen_head(const AnalyzeVerb& options, const ModelConfig& config);
// What auto means where one layer is shown, and where all are (none). Throws as chosen_layer(), kTask for a model
// without layers.
int32_t layer_or_last(const AnalyzeVerb& options, const ModelConfig& config);
std::vector<int32_t> layer_or_all(const AnalyzeVerb& options, const ModelConfig& config);

// A text, of any length. Throws kInput for one without a token of its own.
Encoding encode_tokens(const Tokenizer& tokenizer, const Row& row, const EncodingRules& rules);
// A text that can be drawn. Throws as encode_tokens(), kTextTooLong for one of too many tokens.
Encoding encode_shown(const Tokenizer& tokenizer, const Row& row, const EncodingRules& rules);

EncodedText texts_of(const Row& row);

// The two words that --query and --key name.
struct WordPair {
  std::string query, key;

  std::string title() const;
  // Their tokens in a text. Throws kInput for a word that it does not have.
  TermChoice find(const Tokenizer& tokenizer, const Encoding& encoding, const EncodedText& texts) const;
};
// Throws kUsage unless both are named.
WordPair chosen_pair(const AnalyzeVerb& options);

}  // namespace deberta::cli

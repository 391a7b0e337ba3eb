// Options under the heading Figures: which figure of a model is shown, and of what.
#include "analysis/head_number.h"
#include "options/table/rows.h"

namespace deberta::option_rows {
namespace {

constexpr OptionRow kFigureRows[] = {
    OptionRow{"show", 0, kChoice, "heads", "heads|terms|positions|tables|decoder|replaced|compare", "analyze",
              "what to show; heads: what each head does with a text; terms: the scores of attention, term by term; "
              "positions: the relative table (needs no text); tables: angles between words and positions (needs no "
              "text); decoder: what the enhanced mask decoder does with [MASK]; replaced: a text through generator and "
              "discriminator; compare: a text in several models (--with), or two texts"},
    OptionRow{
        "figure", 0, kChoice, "auto",
        "auto|matrices|quantiles|pair|index|buckets|cosines|query|predictions|passes|words|weights", "analyze",
        "which figure of --show; terms: matrices (of a layer, side by side), pair (how --query reads --key, in every "
        "head), quantiles (how scores spread, a box for each term); positions: index (the row of the table for each "
        "query and key), buckets (the row of each distance), cosines (of the rows' vectors), query (what one word's "
        "query gives to every row); decoder: predictions (with it, without, positions shifted and swapped), passes "
        "(its attention), words (--words at the masks); compare: weights, pair; auto: the first that takes the other "
        "options"},
    OptionRow{
        "layer", 0, kInteger, "auto", "auto|1..1000", "analyze",
        "the layer of a figure, from 1, or the pass of the mask decoder; auto: the last, or all in quantiles, pair "
        "and passes"},
    OptionRow{.name = "head",
              .short_name = 0,
              .type = kInteger,
              .default_value = "auto",
              .range = "auto|1..1000",
              .verbs = "analyze",
              .help = "the head of a figure, from 1; auto: all of them, or their mean",
              .remedy = kHeadRemedy},
    OptionRow{"query", 0, kText, "", "WORD", "analyze",
              "the word that reads others, as it stands in the text: its first place there, and its first piece"},
    OptionRow{"key", 0, kText, "", "WORD", "analyze", "the word that is read, likewise"},
    OptionRow{"length", 0, kInteger, "auto", "auto|1..2048", "analyze",
              "tokens of the text whose distances are shown; auto: 8 for index, 2048 for buckets"},
    OptionRow{"vectors", 0, kChoice, "normed", "raw|normed|keys|queries", "analyze",
              "cosines: rows of the relative table as the weights have them (raw), after its norm (normed), or through "
              "the projections of a layer, as c2p (keys) and p2c (queries) read them"},
    OptionRow{"top-k", 'k', kInteger, "5", "1..100", "analyze", "decoder: tokens for each mask"},
    OptionRow{"shift", 0, kInteger, "1", "0..1048576", "analyze",
              "decoder: by how much the absolute positions are higher in the form `shifted`"},
    OptionRow{"words", 0, kList, "", "WORDS", "analyze",
              "decoder: words of any number of pieces, which are scored at the masks in every order"},
    OptionRow{"seed", 0, kInteger, "0", "0..1000G", "analyze",
              "replaced: which tokens are masked, and what the generator draws"},
    OptionRow{"mlm-probability", 0, kNumber, "0.15", "0..1", "analyze",
              "replaced: fraction of the pieces of a text to mask; at least one piece is masked"},
    OptionRow{"with", 0, kFiles, "", "DIR", "analyze",
              "compare: another model of the same tokenizer, in any of the forms that -m takes; may be repeated"},
    OptionRow{"generator-model", 0, kText, "", "DIR", "analyze",
              "replaced: the generator, in any of the forms that -m takes, which is the discriminator (default: the "
              "built-in model for it)"},
};
static_assert(are_rows(kFigureRows));

}  // namespace

std::span<const OptionRow> figure_rows() {
  return kFigureRows;
}

}  // namespace deberta::option_rows

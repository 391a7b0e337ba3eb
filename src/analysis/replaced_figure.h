// The walk of a text through generator and discriminator, token by token.
#pragma once
#include "analysis/figure.h"
#include "deberta/analysis.h"

namespace deberta {

// position token masked drawn drawn_probability label replaced generator_loss discriminator_loss: nothing about draws
// and no generator_loss where a token was not masked; label 1: replaced. Arrays: the columns but the first, with ids in
// place of pieces, [tokens].
FigureColumns walk_columns();
Figure walk_figure(ReplacedWalk walk, const Tokenizer& tokenizer);

}  // namespace deberta

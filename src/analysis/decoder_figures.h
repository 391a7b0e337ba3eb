// Figures of the mask decoder: what it and the positions change in the predictions of masks, and words scored at them.
#pragma once
#include <cstddef>
#include <vector>

#include "analysis/figure.h"
#include "deberta/analysis.h"

namespace deberta {

// mask position form rank token_str score token logit_change hidden_change: for each mask (from 1) and form (with,
// without, shifted, swapped) the `top_k` best tokens. logit_change is the largest change of a logit of the mask against
// the form `with`. Arrays: the logits of each form [masks, vocabulary].
FigureColumns prediction_columns();
Figure prediction_figure(DecoderEffect effect, const Tokenizer& tokenizer, size_t top_k);

// words with without: the words at the masks, in order, and both log-probabilities. Array: log_probability
// [fillings, 2].
FigureColumns filling_columns();
Figure filling_figure(std::vector<WordFilling> fillings);

}  // namespace deberta

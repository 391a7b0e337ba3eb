// The pair of models that replaced_walk() takes.
#pragma once
#include "deberta/analysis.h"

namespace deberta {

// Throws as replaced_walk() for models of another kind.
void check_pair(const Model& generator, const Model& discriminator, const Tokenizer& tokenizer);

}  // namespace deberta

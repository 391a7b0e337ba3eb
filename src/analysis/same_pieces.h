// Whether two models read the same pieces: their figures stand side by side token by token.
#pragma once
#include <string>

#include "deberta/tokenizer.h"

namespace deberta {

bool have_same_pieces(const Tokenizer& first, const Tokenizer& other);

// Throws kTokenId with the first piece that differs. The names are those of the models.
void check_same_pieces(const Tokenizer& first, const std::string& first_name, const Tokenizer& other,
                       const std::string& other_name);

}  // namespace deberta

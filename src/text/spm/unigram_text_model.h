// A SentencePiece unigram model as a TextModel: normalise, split, and back to text.
#pragma once
#include <memory>
#include <string>

#include "text/spm/spm_model.h"
#include "text/text_model.h"

namespace deberta {

// `where` names the file in messages. Throws kTokenizerFile for broken replacement rules.
std::unique_ptr<TextModel> make_unigram_text_model(SpmModel model, const std::string& where);

}  // namespace deberta

// A byte-level BPE model (GPT-2, RoBERTa, DeBERTa v1) as a TextModel: words of gpt2_words.h, pieces of bpe_merges.h.
#pragma once
#include <memory>
#include <vector>

#include "text/bpe/bpe_model.h"
#include "text/text_model.h"

namespace deberta {

std::unique_ptr<TextModel> make_bpe_text_model(BpeModel model);

}  // namespace deberta

// A byte-level BPE model (GPT-2, RoBERTa, DeBERTa v1) as a TextModel: words of gpt2_words.h, pieces of bpe_merges.h.
#pragma once
#include <memory>
#include <string>

#include "text/text_model.h"

namespace deberta {

// From vocab.json and merges.txt of the folder. Throws as load_bpe_model.
std::unique_ptr<const TextModel> load_bpe_text_model(const std::string& folder);

}  // namespace deberta

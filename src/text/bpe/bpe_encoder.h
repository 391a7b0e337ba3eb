// bpe_encoder.bin, the vocabulary of DeBERTa v1 as the original program reads it: a dict saved by torch.save, with
//   encoder   GPT-2's pieces and their ids there
//   vocab     GPT-2's merges, pairs of pieces
//   dict_map  (symbol, count) in the order of the model's ids; a symbol is a GPT-2 id written as text
// Read as data only (base/pickle_machine.h).
#pragma once
#include <string>

#include "text/bpe/bpe_model.h"

namespace deberta {

// Ids: [PAD] 0, [CLS] 1, [SEP] 2, [UNK] 3, then the symbols, then [MASK]. Throws kBin for anything but data,
// kTokenizerFile for other contents, kTooLarge, kFileNotFound.
BpeModel load_bpe_encoder(const std::string& path);

}  // namespace deberta

// The two files of a byte-level BPE model, vocab.json and merges.txt: reading and checking. Splitting:
// bpe_text_model.h.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "text/bpe/bpe_merges.h"

namespace deberta {

struct BpeModel {
  BpeModel() = default;
  BpeModel(BpeModel&&) = default;  // ids_by_text points into pieces
  BpeModel& operator=(BpeModel&&) = default;

  std::vector<std::string> pieces;  // by id, in the byte alphabet; empty: a hole
  std::unordered_map<std::string_view, int32_t> ids_by_text;
  std::array<int32_t, 256> byte_ids{};  // kUnknownToken for a byte that has no piece
  BpeMerges merges;

  std::optional<int32_t> id_of(std::string_view text) const;
};

// The two parts of each merge, the first merge first.
using BpeMergeTexts = std::vector<std::pair<std::string_view, std::string_view>>;

// From the pieces by id (empty: a hole, which it warns about). The places name the sources in messages. Throws
// kTokenizerFile.
BpeModel make_bpe_model(std::vector<std::string> pieces, const std::string& vocab_where, const BpeMergeTexts& merges,
                        const std::string& merges_where);

// The pieces by id of an object that maps pieces to ids. Throws kTokenizerFile.
std::vector<std::string> read_bpe_vocab(const Json& vocab, const std::string& where);

// A line "#version: ...", then a line "left right" for each merge; the views are into `text`. Throws kTokenizerFile.
BpeMergeTexts parse_merges(std::string_view text, const std::string& where);

// vocab.json and merges.txt of the folder. Throws kTokenizerFile, kFileNotFound, kJson, kTooLarge.
BpeModel load_bpe_model(const std::string& folder);

}  // namespace deberta

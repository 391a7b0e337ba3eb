// The best split of one word into pieces as the tokenizers library computes it: scores added in double, word by word;
// every piece of the vocabulary may match, special ones too. SentencePiece's own way is unigram.h.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "text/spm/spm_model.h"
#include "text/spm/unigram.h"
#include "text/trie.h"

namespace deberta {

class WordUnigram {
 public:
  // `scores` by id.
  WordUnigram(const SpmModel& model, std::vector<double> scores);
  // A special piece, by id, is not found in a text whose special tokens are not parsed.
  void set_special(std::vector<bool> is_special) { is_special_ = std::move(is_special); }

  // Appends the tokens of `word` (inner text, not empty), `shift` added to their positions. `model` is the
  // constructor's.
  void split(const SpmModel& model, std::string_view word, uint32_t shift, bool parse_special,
             std::vector<UnigramToken>& tokens) const;

 private:
  std::vector<uint32_t> best_steps(std::string_view word, bool parse_special) const;
  void add_unknown(const SpmModel& model, std::string_view run, uint32_t begin, bool parse_special,
                   std::vector<UnigramToken>& tokens) const;

  Trie trie_;
  std::vector<double> scores_;
  std::vector<bool> is_special_;
  double unknown_score_;
  int32_t unk_id_;
};

}  // namespace deberta

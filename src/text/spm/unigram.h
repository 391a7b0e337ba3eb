// The best split of a normalised text into pieces: unigram language model, Viterbi (Kudo 2018), with the arithmetic and
// the ties of sentencepiece 0.2.x (or 0.1.97), so that the ids are the same. Work O(length x longest piece), no
// recursion. Immutable, thread-safe.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "deberta/tokenizer.h"
#include "text/spm/byte_pairs.h"
#include "text/spm/spm_model.h"
#include "text/trie.h"
#include "text/word_cache.h"

namespace deberta {

struct UnigramToken {
  int32_t id = 0;
  uint32_t begin = 0;  // bytes of the normalised text; the byte pieces of one character all have its range
  uint32_t end = 0;
};

class Unigram {
 public:
  explicit Unigram(const SpmModel& model);

  // `text` is valid UTF-8 with inner spaces (normalizer.h), below 2^32 - 2^11 bytes.
  std::vector<UnigramToken> split(std::string_view text, SpmTies ties = SpmTies::kFloat) const;

 private:
  // Part of a split: the tokens so far, and their score as the reference adds it up.
  struct Line {
    std::string_view text;
    std::vector<UnigramToken> tokens;
    std::vector<uint32_t> steps;  // steps of one word
    float score = 0;
  };
  // A stretch of a text that no piece reaches into or out of; its key unless it is long.
  struct Word {
    size_t begin = 0;
    size_t end = 0;
    WordCache::Key key;

    size_t size() const { return end - begin; }
  };
  Word word_at(std::string_view text, size_t begin) const;
  bool add_known_word(const Word& word, Line& line) const;
  template <class Score>
  void add_word(const Word& word, const std::vector<Score>& scores, Line& line) const;
  void add_token(UnigramToken token, Line& line) const;
  void add_unknown(UnigramToken token, Line& line) const;
  WordCache::Split split_alone(std::string_view word) const;

  BytePairs pairs_;
  Trie trie_;
  std::vector<float> scores_;          // by id; the unknown piece's is that of an unknown character
  std::vector<double> double_scores_;  // for SpmTies::kDouble
  float unknown_score_;
  double largest_score_ = 0;  // absolute, of any step
  int32_t unk_id_;
  bool byte_fallback_;
  bool escape_whitespaces_;
  std::array<int32_t, 256> byte_ids_;
  WordCache words_;
};

}  // namespace deberta

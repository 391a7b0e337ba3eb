// The best split of a normalised text into pieces: unigram language model, Viterbi (Kudo 2018), with the arithmetic and
// the ties of sentencepiece 0.2.x (or 0.1.97), so that the ids are the same. Work O(length x longest piece), no
// recursion.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "deberta/tokenizer.h"
#include "text/spm_model.h"
#include "text/trie.h"

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
  template <class Score>
  std::vector<uint32_t> best_steps(std::string_view text, const std::vector<Score>& scores) const;
  void add_unknown(std::string_view text, UnigramToken token, std::vector<UnigramToken>& tokens) const;

  Trie trie_;
  std::vector<float> scores_;          // by id
  std::vector<double> double_scores_;  // for SpmTies::kDouble
  float unknown_score_;
  int32_t unk_id_;
  bool byte_fallback_;
  bool escape_whitespaces_;
  std::array<int32_t, 256> byte_ids_;
};

}  // namespace deberta

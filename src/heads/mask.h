// Masked words: the likeliest tokens for each [MASK] of a text.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "heads/batches.h"
#include "heads/model_directory.h"
#include "tasks/masked_words.h"

namespace deberta {

struct FillOptions {
  EncodingRules rules;
  size_t top_k = 5;
  std::vector<int32_t> targets;  // only these ids; from target_ids()
};

struct FilledToken {
  int32_t token = 0;
  std::string piece;      // as in the vocabulary, with its word-start mark
  std::string token_str;  // as text
  float score = 0;
  float logit = 0;
  std::string sequence;  // the text with this mask filled
};

struct FillAnswer {
  struct Mask {
    size_t position = 0;  // index of the token
    std::vector<FilledToken> tokens;
  };
  std::vector<Mask> masks;
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

// Single tokens for words: the piece as written, or with the word-start mark. Throws kInput for a word of several
// pieces.
std::vector<int32_t> target_ids(const Tokenizer& tokenizer, const std::vector<std::string>& words);

// Throws kTask when the checkpoint has no language-model head or the tokenizer no mask, kInput for a text without a
// mask (in its first max_tokens tokens), and what encoding and the model throw.
std::vector<FillAnswer> fill(const ModelDirectory& directory, std::span<const TextInput> inputs,
                             const FillOptions& options = {});

}  // namespace deberta

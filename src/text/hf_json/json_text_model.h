// The Unigram model of the tokenizers library as a TextModel: normalise, cut at "normalized" added tokens,
// pre-tokenize, put a space in front, cut into words, split each. It comes from a tokenizer.json or from a
// SentencePiece model.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "text/hf_json/json_normalizer.h"
#include "text/hf_json/pre_tokenizer.h"
#include "text/special_tokens.h"
#include "text/spm/spm_model.h"
#include "text/text_model.h"

namespace deberta {

struct JsonUnigram {
  SpmModel model;              // pieces with their texts; their scores are not used
  std::vector<double> scores;  // by id
  JsonNormalizer normalizer;
  PreTokenizer pre_tokenizer;  // before Metaspace
  Metaspace metaspace;
};

// `where` names the file in messages.
std::unique_ptr<TextModel> make_json_text_model(JsonUnigram parts, const std::string& where);

// The tokens to look for in the normalised text, normalised themselves. Throws kTokenizerFile.
std::vector<AddedToken> tokens_of_model(const std::vector<AddedToken>& tokens, const JsonNormalizer& normalizer,
                                        const std::string& where);

// The Unigram tokenizer that transformers 4.57 builds from a SentencePiece model for its fast class, and its tokens.
// Throws kTokenizerFile, kUnsupported.
struct ConvertedUnigram {
  std::unique_ptr<TextModel> model;
  std::vector<AddedToken> tokens;
};
ConvertedUnigram convert_spm_model(SpmModel model, bool lowers, bool splits_punctuation, const std::string& where);

}  // namespace deberta

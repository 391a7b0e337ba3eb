// WordPiece as a TextModel: from vocab.txt, with the words of BasicTokenizer as the slow tokenizer of transformers 4.57
// makes them, or as in the tokenizers library.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "text/hf_json/json_normalizer.h"
#include "text/hf_json/pre_tokenizer.h"
#include "text/text_model.h"
#include "text/tokenizer_settings.h"
#include "text/word_piece/word_piece.h"

namespace deberta {

// Texts are in lower case already where `rules` say so: the tokenizer does that, because it knows what to keep.
struct BasicWords {
  BertRules rules;
  bool is_used = true;                          // false: words are what white space separates
  std::unordered_set<std::string> never_split;  // words that are one token, known or not
};

BasicWords basic_words(const TokenizerSettings& settings);
std::unique_ptr<TextModel> make_slow_word_piece(WordPieceModel model, BasicWords words);

struct JsonWordPiece {
  WordPieceModel model;
  JsonNormalizer normalizer;
  PreTokenizer pre_tokenizer;
  int32_t unk_id = kUnknownToken;  // the roles decide
};
// `where` names the file in messages.
std::unique_ptr<TextModel> make_json_word_piece(JsonWordPiece parts, const std::string& where);

// What BertTokenizerFast makes of vocab.txt, and of the switches of a file's BertNormalizer.
JsonWordPiece convert_vocab_txt(WordPieceModel model, const TokenizerSettings& settings);
void change_bert_rules(const TokenizerSettings& settings, BertRules& rules);

}  // namespace deberta

// WordPiece (BERT; Schuster and Nakajima 2012): vocab.txt, and the longest-match-first split of a word from the left.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/mapped_text.h"
#include "text/text_model.h"
#include "text/trie.h"

namespace deberta {

struct WordPieceModel {
  WordPieceModel() = default;
  WordPieceModel(WordPieceModel&&) = default;  // ids_by_text points into pieces
  WordPieceModel& operator=(WordPieceModel&&) = default;

  std::vector<std::string> pieces;  // by id; empty: a hole
  std::unordered_map<std::string_view, int32_t> ids_by_text;
  std::string prefix = "##";    // before a piece that continues a word
  size_t max_characters = 100;  // a longer word is one unknown token

  std::optional<int32_t> id_of(std::string_view text) const;
};

// Fills ids_by_text. Throws kTokenizerFile for two equal pieces.
void index_pieces(WordPieceModel& model, const std::string& where);

// A piece a line, its id the line's number from 0. Throws kTokenizerFile, kTooLarge, kFileNotFound.
WordPieceModel load_vocab_txt(const std::string& path);

class WordPieceSplitter {
 public:
  // `left_out`: by id, pieces that no text becomes; may be shorter than the pieces.
  explicit WordPieceSplitter(const WordPieceModel& model, const std::vector<bool>& left_out = {});
  // Appends the tokens of a word (not empty), kUnknownToken for one that has no split; `shift` is added to the sources.
  void split(const WordPieceModel& model, const MappedText& word, uint32_t shift, Tokens& out) const;

 private:
  Trie begins_;     // pieces that begin a word
  Trie continues_;  // those with the prefix, without it
};

}  // namespace deberta

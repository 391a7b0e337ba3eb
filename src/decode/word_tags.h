// From labels of pieces to labels of words.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "deberta/answer.h"

namespace deberta {

enum class WordLabel { kFirst, kMostConfident };  // the label of a word's first piece, or of its best-scoring one

// For each word the first of its pieces; kNoPiece if it has none. Words and pieces are bytes of a text, in order. A
// piece that is only the word-start marker is the first piece of that word.
constexpr size_t kNoPiece = SIZE_MAX;
std::vector<size_t> first_pieces(std::span<const Offset> words, std::span<const Offset> pieces);

// For each word, given as bytes of a text in order, the label of one of its pieces, or O if it has none. A piece that
// is only the word-start marker is the first piece of that word, as in training. `pieces`: all of the text, in order.
std::vector<std::string> word_tags(std::span<const Offset> words, std::span<const Entity> pieces,
                                   WordLabel rule = WordLabel::kFirst);

// The positions of words joined by single spaces.
std::vector<Offset> places_of(const std::vector<std::string>& words);

}  // namespace deberta

// Labels of pieces as labels of words.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "deberta/answer.h"

namespace deberta {

enum class WordLabel { kFirst, kSurest };  // of its first piece, or of the one with the highest score

// For each word, bytes of a text in order, the label of one of its pieces, O where it has none. A piece that is nothing
// but the mark of a word's begin is the first one of that word, as in training. `pieces`: all of the text, in order.
std::vector<std::string> word_tags(std::span<const Offset> words, std::span<const Entity> pieces,
                                   WordLabel rule = WordLabel::kFirst);

// Where words lie when they are joined by single spaces.
std::vector<Offset> places_of(const std::vector<std::string>& words);

}  // namespace deberta

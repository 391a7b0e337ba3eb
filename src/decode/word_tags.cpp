// One pass over words and pieces.
#include "decode/word_tags.h"

namespace deberta {

std::vector<size_t> first_pieces(std::span<const Offset> words, std::span<const Offset> pieces) {
  std::vector<size_t> first;
  size_t piece = 0;
  for (const Offset& word : words) {
    // A lone word-start mark is an empty piece at the start of the word.
    const auto is_before = [&](const Offset& bytes) { return bytes.end <= word.begin && bytes.begin < word.begin; };
    while (piece < pieces.size() && is_before(pieces[piece])) ++piece;
    first.push_back(piece < pieces.size() && pieces[piece].begin < word.end ? piece : kNoPiece);
  }
  return first;
}

std::vector<std::string> word_tags(std::span<const Offset> words, std::span<const Entity> pieces, WordLabel rule) {
  std::vector<Offset> places;
  for (const Entity& piece : pieces) places.push_back(piece.bytes);
  const std::vector<size_t> first = first_pieces(words, places);
  std::vector<std::string> tags;
  for (size_t word = 0; word < words.size(); ++word) {
    size_t chosen = first[word];
    if (rule == WordLabel::kMostConfident && chosen != kNoPiece) {
      for (size_t i = chosen + 1; i < pieces.size() && places[i].begin < words[word].end; ++i) {
        if (pieces[i].score > pieces[chosen].score) chosen = i;
      }
    }
    tags.push_back(chosen == kNoPiece ? "O" : pieces[chosen].label);
  }
  return tags;
}

std::vector<Offset> places_of(const std::vector<std::string>& words) {
  std::vector<Offset> places;
  uint32_t begin = 0;
  for (const std::string& word : words) {
    places.push_back({begin, begin + static_cast<uint32_t>(word.size())});
    begin = places.back().end + 1;
  }
  return places;
}

}  // namespace deberta

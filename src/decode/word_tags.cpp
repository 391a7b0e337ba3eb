// One pass over words and pieces.
#include "decode/word_tags.h"

namespace deberta {

std::vector<std::string> word_tags(std::span<const Offset> words, std::span<const Entity> pieces, WordLabel rule) {
  std::vector<std::string> tags;
  size_t piece = 0;
  for (const Offset& word : words) {
    // A lone word-start mark is an empty piece at the start of the word.
    const auto is_before = [&](const Offset& bytes) { return bytes.end <= word.begin && bytes.begin < word.begin; };
    while (piece < pieces.size() && is_before(pieces[piece].bytes)) ++piece;
    const auto is_inside = [&](size_t i) { return i < pieces.size() && pieces[i].bytes.begin < word.end; };
    size_t chosen = piece;
    for (size_t i = piece + 1; rule == WordLabel::kMostConfident && is_inside(i); ++i) {
      if (pieces[i].score > pieces[chosen].score) chosen = i;
    }
    tags.push_back(is_inside(piece) ? pieces[chosen].label : "O");
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
